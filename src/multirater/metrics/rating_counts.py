"""What the agreement coefficients start from: how many raters chose each class for each item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

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

    def against_rest(self, class_index: int) -> RatingCounts:
        """Return how many raters chose a class, as class 1, and any other, as class 0."""
        chosen = self.counts[self.classes == class_index].sum(axis=0)
        counts = np.stack([self.ratings_per_item - chosen, chosen])
        return RatingCounts(counts, self.weights, np.arange(2))

    def pairable(self) -> RatingCounts:
        """Return the items with two ratings or more, which alone can show agreement."""
        kept = self.ratings_per_item >= 2
        if kept.all():
            return self
        return RatingCounts(self.counts[:, kept], self.weights[kept], self.classes)


Ratings: TypeAlias = ArrayLike | RatingCounts
"""Labels (n_raters, *items), -1 or NaN where missing; or how many raters chose each class of each
item, which takes far less with many raters."""


def count_ratings(labels: Ratings, weights: ArrayLike | None) -> RatingCounts:
    """Count the ratings of labels, of items that have a weight."""
    if isinstance(labels, RatingCounts):
        return _of_weight(labels, as_item_weights(weights, labels.weights.shape))
    ratings, items = as_rating_rows(labels)
    ratings, item_weights = _rated(ratings, as_item_weights(weights, items))
    classes = _classes_that_occur(ratings)
    counts = np.zeros((len(classes), len(item_weights)))
    for row, class_index in zip(counts, classes, strict=True):
        np.sum(ratings == class_index, axis=0, out=row)
    return RatingCounts(counts, item_weights, classes)


def _of_weight(ratings: RatingCounts, weights: NDArray[np.float64]) -> RatingCounts:
    """Return the ratings of items with a weight, and of classes that occur among them."""
    kept = (weights > 0) & (ratings.counts.sum(axis=0) > 0)
    counts = ratings.counts if kept.all() else ratings.counts[:, kept]
    occurs = (counts > 0).any(axis=1)
    return RatingCounts(
        counts if occurs.all() else counts[occurs], weights[kept], ratings.classes[occurs]
    )


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
