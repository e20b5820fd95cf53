"""What the agreement coefficients start from: how many raters chose each class for each item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multirater.metrics.class_indices import as_item_weights, as_rating_rows, count_classes


@dataclass(frozen=True, eq=False)
class RatingCounts:
    """Ratings per item and class; items nobody rated or with weight 0 are gone.

    Attributes:
        counts: (n_occurring, n_items), how many raters chose each class that occurs.
        weights: (n_items,), how many items each column stands for.
        classes: (n_occurring,), the index of each of these classes, ascending.
    """

    counts: NDArray[np.float64]
    weights: NDArray[np.float64]
    classes: NDArray[np.int64]

    @property
    def ratings_per_item(self) -> NDArray[np.float64]:
        """(n_items,), 1 or more."""
        return np.asarray(self.counts.sum(axis=0))

    def pairable(self) -> RatingCounts:
        """Return the items with two ratings or more, which alone can show agreement."""
        kept = self.ratings_per_item >= 2
        if kept.all():
            return self
        return RatingCounts(self.counts[:, kept], self.weights[kept], self.classes)


def count_ratings(labels: ArrayLike, weights: ArrayLike | None) -> RatingCounts:
    """Count the ratings of `labels` (n_raters, *items), -1 or NaN where missing."""
    ratings, items = as_rating_rows(labels)
    ratings, item_weights = _rated(ratings, as_item_weights(weights, items))
    classes = _classes_that_occur(ratings)
    counts = np.zeros((len(classes), len(item_weights)))
    for row, class_index in zip(counts, classes, strict=True):
        np.sum(ratings == class_index, axis=0, out=row)
    return RatingCounts(counts, item_weights, classes)


def _classes_that_occur(ratings: NDArray[np.signedinteger[Any]]) -> NDArray[np.int64]:
    n_classes = count_classes(ratings)
    total = np.zeros(n_classes + 1, dtype=np.int64)
    for row in ratings:
        total += np.bincount(row.astype(np.intp) + 1, minlength=n_classes + 1)
    return np.flatnonzero(total[1:])


def _rated(
    ratings: NDArray[np.signedinteger[Any]], weights: NDArray[np.float64]
) -> tuple[NDArray[np.signedinteger[Any]], NDArray[np.float64]]:
    kept = (weights > 0) & (ratings >= 0).any(axis=0)
    return (ratings, weights) if kept.all() else (ratings[:, kept], weights[kept])
