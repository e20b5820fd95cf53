"""Krippendorff's alpha."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multirater.errors import Fault, InputError
from multirater.metrics.rating_counts import RatingCounts, Ratings, count_ratings

Level = Literal["nominal", "ordinal", "interval"]


def krippendorff_alpha(
    labels: Ratings,
    *,
    level: Level = "nominal",
    weights: ArrayLike | None = None,
    values: ArrayLike | None = None,
) -> float:
    """Krippendorff's alpha, 1 − observed / expected disagreement, missing labels allowed.

    Args:
        labels: class indices (n_raters, *items), -1 or NaN where missing. Items with fewer than two
            ratings are not pairable and have no influence.
        level: how classes differ. `nominal`: equal or not. `ordinal`: by the number of ratings that
            lie between them. `interval`: by the square of the difference of their numbers.
        weights: (*items), how many items each column stands for.
        values: (n_classes,), the number that each class is, for `interval`; its index when not
            given.

    Returns:
        1 for perfect agreement, 0 for what chance gives; NaN when nothing is pairable or all
        pairable ratings are of one class (no disagreement could have been expected).

    Example:
        >>> round(krippendorff_alpha([[0, 0, 1, 1], [0, 0, 1, 0]]), 4)
        0.5333
        >>> ratings = [[0, 1, 2, 2], [0, 1, 1, 2]]
        >>> round(krippendorff_alpha(ratings, level="interval", values=[1, 2, 5]), 4)
        0.6557
    """
    coincidences, classes = _coincidences(count_ratings(labels, weights).pairable())
    if values is not None:
        classes = np.asarray(values, dtype=np.float64)[classes.astype(np.int64)]
    totals = coincidences.sum(axis=1)
    squared = _squared_differences(totals, classes, level)
    expected = float(totals @ squared @ totals)
    if expected == 0:
        return float("nan")
    observed = float((coincidences * squared).sum())
    return 1 - (float(totals.sum()) - 1) * observed / expected


def _coincidences(
    ratings: RatingCounts,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Count ordered pairs of ratings, class by class; an item weighs as much as it has ratings."""
    per_pair = ratings.weights / (ratings.ratings_per_item - 1)
    weighted = ratings.counts * per_pair
    matrix = weighted @ ratings.counts.T - np.diag(weighted.sum(axis=1))
    return matrix, ratings.classes.astype(np.float64)


def _squared_differences(
    totals: NDArray[np.float64], classes: NDArray[np.float64], level: Level
) -> NDArray[np.float64]:
    if level == "nominal":
        return 1 - np.eye(len(classes))
    if level == "interval":
        position = classes
    elif level == "ordinal":
        # Half of both end classes and all between: the difference of the classes' mean ranks.
        position = np.cumsum(totals) - totals / 2
    else:
        raise InputError(
            Fault(
                f"level {level!r}",
                expected="'nominal', 'ordinal' or 'interval'",
                fix="choose one of them",
            )
        )
    return np.asarray((position[:, np.newaxis] - position) ** 2)
