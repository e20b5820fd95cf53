"""Every rater against every other."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multirater.metrics.class_indices import as_item_weights, as_rating_rows, count_classes
from multirater.metrics.confusion import confusion_counts
from multirater.metrics.overlap import Overlap, overlap_of_counts


def pairwise_scores(
    labels: ArrayLike,
    *,
    score: Overlap = "dice",
    foreground: int | None = None,
    weights: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Dice or IoU of every pair of raters, each on the items both of them labelled.

    Args:
        labels: class indices (n_raters, *items), -1 or NaN where not labelled.
        score: `dice` or `iou`.
        foreground: the class to measure; when not given, the mean over the classes but 0 that occur
            in either rater's labels.
        weights: (*items), how many items each column stands for.

    Returns:
        (n_raters, n_raters), symmetric. 1.0 where both raters drew no foreground; NaN where two
        raters share no item, and on the diagonal of a rater who labelled nothing.

    Example:
        >>> pairwise_scores([[0, 1, 1], [0, 1, 0], [-1, -1, -1]]).round(3).tolist()
        [[1.0, 0.667, nan], [0.667, 1.0, nan], [nan, nan, nan]]
    """
    ratings, items = as_rating_rows(labels)
    n_raters = len(ratings)
    flat_weights = None if weights is None else as_item_weights(weights, items)
    n_classes = count_classes(ratings)
    scores = np.full((n_raters, n_raters), np.nan)
    for a in range(n_raters):
        for b in range(a, n_raters):
            counts = confusion_counts(ratings[a], ratings[b], n_classes, weights=flat_weights)
            scores[a, b] = scores[b, a] = overlap_of_counts(counts, score, foreground)
    return scores
