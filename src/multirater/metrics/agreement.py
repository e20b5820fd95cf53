"""Agreement among raters beyond chance.

All take class indices with -1 (or NaN) where a rater gave no label, and `weights`: how many items
share a column. An integer weight is the same as repeating the column, so a histogram of label
patterns can stand for millions of pixels. For one class against the rest see `per_class`, for
intervals `item_interval`.

Where a coefficient is undefined (no item has two ratings; or chance agreement is already complete,
because a single class occurs) the result is NaN.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multirater.metrics.class_indices import (
    as_label_pair,
    count_classes,
    require_classes_below,
)
from multirater.metrics.confusion import confusion_counts
from multirater.metrics.rating_counts import RatingCounts, Ratings, count_ratings


def percent_agreement(labels: Ratings, *, weights: ArrayLike | None = None) -> float:
    """Share of agreeing pairs of raters, averaged over the items with two ratings or more.

    Args:
        labels: class indices (n_raters, *items), -1 or NaN where missing.
        weights: (*items), how many items each column stands for.

    Returns:
        0 to 1; NaN when no item has two ratings.

    Example:
        >>> percent_agreement([[0, 1, 1, 2], [0, 1, 0, -1]])
        0.6666666666666666
    """
    return _observed_agreement(count_ratings(labels, weights))


def cohen_kappa(
    labels_a: ArrayLike, labels_b: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """Cohen's kappa of two raters, on the items both labelled.

    Args:
        labels_a: class indices (*items) of one rater, -1 or NaN where missing.
        labels_b: those of the other.
        weights: (*items), how many items each entry stands for.

    Returns:
        1 for perfect agreement, 0 for what chance gives; NaN when the raters share no item, or when
        both used one and the same class throughout.

    Example:
        >>> cohen_kappa([0, 0, 1, 1], [0, 0, 1, 0])
        0.5
    """
    pair = as_label_pair(labels_a, labels_b)
    counts = confusion_counts(*pair, count_classes(*pair), weights=weights)
    total = counts.sum()
    if total == 0:
        return float("nan")
    shares = counts / total
    chance = float(shares.sum(axis=0) @ shares.sum(axis=1))
    return _beyond_chance(float(np.trace(shares)), chance)


def fleiss_kappa(labels: Ratings, *, weights: ArrayLike | None = None) -> float:
    """Fleiss' kappa of any number of raters.

    With the same number of ratings on every item this is the classical coefficient. With a varying
    number it is Gwet's generalisation: observed agreement is the mean share of agreeing pairs over
    the items with two ratings or more; chance agreement is Σ π_k², π_k being the mean over all
    rated items of the share of ratings that went to class k.

    Args:
        labels: class indices (n_raters, *items), -1 or NaN where missing.
        weights: (*items), how many items each column stands for.

    Returns:
        1 for perfect agreement, 0 for what chance gives; NaN when no item has two ratings or only
        one class occurs.

    Example:
        >>> round(fleiss_kappa([[0, 0, 1, 1], [0, 0, 1, 0]]), 4)
        0.4667
    """
    ratings = count_ratings(labels, weights)
    if len(ratings.classes) < 2:
        return float("nan")
    chance = float((_class_shares(ratings) ** 2).sum())
    return _beyond_chance(_observed_agreement(ratings), chance)


def gwet_ac1(
    labels: Ratings, *, n_classes: int | None = None, weights: ArrayLike | None = None
) -> float:
    """Gwet's AC1, which stays informative where one class dominates and kappa collapses.

    Observed agreement and class shares π_k as in `fleiss_kappa`; chance agreement is
    Σ π_k(1 − π_k) / (q − 1).

    Args:
        labels: class indices (n_raters, *items), -1 or NaN where missing.
        n_classes: q, how many classes raters could choose from. When not given, how many were
            chosen by anyone, at least two. Give it when resampling, so that q stays the same.
        weights: (*items), how many items each column stands for.

    Returns:
        1 for perfect agreement, also when only one class occurs; NaN when no item has two ratings.

    Example:
        >>> round(gwet_ac1([[0, 0, 1, 1], [0, 0, 1, 0]]), 4)
        0.5294
    """
    ratings = count_ratings(labels, weights)
    if n_classes is not None:
        require_classes_below(n_classes, ratings.classes)
    q = max(2, len(ratings.classes) if n_classes is None else n_classes)
    shares = _class_shares(ratings)
    chance = float((shares * (1 - shares)).sum()) / (q - 1)
    return _beyond_chance(_observed_agreement(ratings), chance)


def _observed_agreement(ratings: RatingCounts) -> float:
    pairable = ratings.pairable()
    if not pairable.weights.size:
        return float("nan")
    counts, n = pairable.counts, pairable.ratings_per_item
    share = (counts * (counts - 1)).sum(axis=0) / (n * (n - 1))
    return float(pairable.weights @ share / pairable.weights.sum())


def _class_shares(ratings: RatingCounts) -> NDArray[np.float64]:
    """π_k: an item counts once, however many raters it has."""
    if not ratings.weights.size:
        return np.zeros(0)
    per_item = ratings.weights / ratings.ratings_per_item
    return np.asarray(ratings.counts @ per_item / ratings.weights.sum())


def _beyond_chance(observed: float, chance: float) -> float:
    return float("nan") if chance == 1 else (observed - chance) / (1 - chance)
