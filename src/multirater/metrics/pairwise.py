"""Every rater against every other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multirater.metrics.class_indices import as_item_weights, as_rating_rows, count_classes
from multirater.metrics.overlap import Overlap, overlap_of_counts
from multirater.patterns import encode_patterns


def pairwise_scores(
    labels: ArrayLike,
    *,
    score: Overlap = "dice",
    foreground: int | None = None,
    weights: ArrayLike | None = None,
    empty: float = 1.0,
) -> NDArray[np.float64]:
    """Dice or IoU of every pair of raters, each on the items both of them labelled.

    Args:
        labels: class indices (n_raters, *items), -1 or NaN where not labelled.
        score: `dice` or `iou`.
        foreground: the class to measure; when not given, the mean over the classes but 0 that occur
            in either rater's labels.
        weights: (*items), how many items each column stands for.
        empty: what two raters get who both drew no foreground; NaN leaves them out of means.

    Returns:
        (n_raters, n_raters), symmetric. `empty` where both raters drew no foreground; NaN where two
        raters share no item, and on the diagonal of a rater who labelled nothing.

    Example:
        >>> pairwise_scores([[0, 1, 1], [0, 1, 0], [-1, -1, -1]]).round(3).tolist()
        [[1.0, 0.667, nan], [0.667, 1.0, nan], [nan, nan, nan]]
    """
    ratings, items = as_rating_rows(labels)
    n_raters = len(ratings)
    flat_weights = None if weights is None else as_item_weights(weights, items)
    counts = _pair_counts(ratings, count_classes(ratings), flat_weights)
    scores = np.full((n_raters, n_raters), np.nan)
    for a in range(n_raters):
        for b in range(a, n_raters):
            if counts[a, b].any():
                scores[a, b] = scores[b, a] = overlap_of_counts(
                    counts[a, b], score, foreground, empty=empty
                )
    return scores


def _pair_counts(
    ratings: NDArray[Any], n_classes: int, weights: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Count what every two raters said of the same items, (rater, rater, class, class).

    Items with the same labels are counted once, and one product of sparse indicator matrices
    counts all pairs: with 40 raters of whom three label a case, the empty pairs cost nothing.
    """
    from scipy import sparse

    found = encode_patterns(ratings)
    weight = found.counts.astype(float)
    if weights is not None:
        weight = np.bincount(found.index, weights=weights, minlength=len(found.rows))
    n_patterns, n_raters = found.rows.shape
    pattern, rater = np.nonzero(found.rows >= 0)
    column = rater * n_classes + found.rows[pattern, rater]
    shape = (n_patterns, n_raters * n_classes)
    said = sparse.csr_matrix((np.ones(len(column)), (pattern, column)), shape=shape)
    counts = np.asarray((said.T @ (sparse.diags(weight) @ said)).todense(), dtype=float)
    return counts.reshape(n_raters, n_classes, n_raters, n_classes).transpose(0, 2, 1, 3)
