"""Every rater against every other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multirater.metrics.class_indices import as_item_weights, as_rating_rows, count_classes
from multirater.metrics.known import ratio_or_nan
from multirater.metrics.overlap import Overlap, overlaps_of_tables
from multirater.patterns import encode_patterns

_FEW_ITEMS = 1 << 10
"""Up to so many items are not looked through for patterns."""

_FEW_VALUES = 1 << 14
"""Up to so many indicators a dense product is quicker than a sparse one, however few are set."""

_DENSE = 7
"""So many times the labels of an item may be indicators for a dense product to be quicker."""

_AT_ONCE = 1 << 21
"""Indicators of a dense product at a time: 16 MB."""


@dataclass(frozen=True, eq=False)
class PairTables:
    """What every two raters said of the same items.

    Attributes:
        n_raters: all of them.
        present: (n_present,), positions of those who labelled anything.
        counts: (n_present, n_present, class of one, class of the other), items.
    """

    n_raters: int
    present: NDArray[np.intp]
    counts: NDArray[np.float64]

    def overlaps(
        self, score: Overlap, foreground: int | None = None, *, empty: float = 1.0
    ) -> NDArray[np.float64]:
        """Return the scores of every two raters, as `pairwise_scores` does."""
        scores = np.full((self.n_raters, self.n_raters), np.nan)
        found = overlaps_of_tables(self.counts, score, foreground, empty=empty)
        scores[np.ix_(self.present, self.present)] = found
        return scores


def pair_tables(
    labels: ArrayLike, *, weights: ArrayLike | None = None, n_classes: int | None = None
) -> PairTables:
    """Count what every two raters said of the same items, once for all scores of them.

    Args:
        labels: class indices (n_raters, *items), -1 or NaN where not labelled.
        weights: (*items), how many items each column stands for.
        n_classes: of the tables; as many as the labels need when not given.

    Example:
        >>> tables = pair_tables([[0, 1, 1], [-1, -1, -1], [0, 1, 0]])
        >>> tables.present.tolist(), tables.counts[0, 1].tolist()
        ([0, 2], [[1.0, 0.0], [1.0, 1.0]])
    """
    ratings, items = as_rating_rows(labels)
    flat_weights = None if weights is None else as_item_weights(weights, items)
    present = np.flatnonzero((ratings >= 0).any(1))
    n_classes = n_classes or count_classes(ratings)
    counts = np.zeros((0, 0, n_classes, n_classes))
    if len(present):
        counts = _pair_counts(ratings[present], n_classes, flat_weights)
    return PairTables(len(ratings), present, counts)


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
    return pair_tables(labels, weights=weights).overlaps(score, foreground, empty=empty)


def pairwise_kappa(labels: ArrayLike, *, weights: ArrayLike | None = None) -> NDArray[np.float64]:
    """Cohen's kappa of every pair of raters, each on the items both of them labelled.

    Args:
        labels: class indices (n_raters, *items), -1 or NaN where not labelled.
        weights: (*items), how many items each column stands for.

    Returns:
        (n_raters, n_raters), symmetric; NaN where two raters share no item, or both used one and
        the same class throughout, as in `cohen_kappa`.

    Example:
        >>> pairwise_kappa([[0, 0, 1, 1], [0, 0, 1, 0]]).tolist()
        [[1.0, 0.5], [0.5, 1.0]]
    """
    ratings, items = as_rating_rows(labels)
    n_raters, n_classes = len(ratings), count_classes(ratings)
    said = _indicators(ratings.T, n_classes)
    weight = np.ones(len(ratings.T)) if weights is None else as_item_weights(weights, items)
    weighted = _scaled(said, weight)
    kappas = np.full((n_raters, n_raters), np.nan)
    for rater in range(n_raters):  # one at a time: the table of all pairs may not fit in memory
        own = said[:, rater * n_classes : (rater + 1) * n_classes]
        counts = np.asarray((own.T @ weighted).todense(), dtype=float)
        tables = counts.reshape(n_classes, n_raters, n_classes).transpose(1, 0, 2)
        kappas[rater] = kappas_of_tables(tables)
    return kappas


def kappas_of_tables(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cohen's kappa from many tables (..., class of one, class of the other); see `pairwise_kappa`.

    Example:
        >>> kappas_of_tables(np.array([[2.0, 0.0], [1.0, 1.0]])).tolist()
        0.5
    """
    shares = ratio_or_nan(counts, counts.sum((-2, -1), keepdims=True))
    observed = np.trace(shares, axis1=-2, axis2=-1)
    chance = np.einsum("...c,...c->...", shares.sum(-2), shares.sum(-1))
    return ratio_or_nan(observed - chance, 1 - chance)


def _pair_counts(
    ratings: NDArray[Any], n_classes: int, weights: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Count what every two raters said of the same items, (rater, rater, class, class).

    Items with the same labels are counted once, and one product of indicator matrices counts all
    pairs: a sparse one where few raters label an item, so that empty pairs cost nothing.
    """
    n_raters, n_items = ratings.shape
    if weights is None or n_items > _FEW_ITEMS:
        found = encode_patterns(ratings)
        rows, weight = found.rows, found.counts.astype(float)
        if weights is not None:
            weight = np.bincount(found.index, weights=weights, minlength=len(rows)).astype(float)
    else:
        rows, weight = ratings.T, weights
    n_values = len(rows) * n_raters * n_classes
    if n_values <= max(_FEW_VALUES, _DENSE * np.count_nonzero(rows >= 0)):
        counts = _dense_product(rows, n_classes, weight)
    else:
        said = _indicators(rows, n_classes)
        counts = np.asarray((said.T @ _scaled(said, weight)).todense(), dtype=float)
    return counts.reshape(n_raters, n_classes, n_raters, n_classes).transpose(0, 2, 1, 3)


def _dense_product(
    rows: NDArray[Any], n_classes: int, weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    n_columns = rows.shape[1] * n_classes
    counts = np.zeros((n_columns, n_columns))
    step = max(1, _AT_ONCE // max(1, n_columns))
    for first in range(0, len(rows), step):
        part = rows[first : first + step]
        said = (part[:, :, None] == np.arange(n_classes)).reshape(len(part), n_columns)
        counts += said.T.astype(float) @ (said * weight[first : first + step, None])
    return counts


def _indicators(rows: NDArray[Any], n_classes: int) -> Any:
    """Who said what of each row (n_rows, n_raters): sparse (n_rows, n_raters * n_classes)."""
    from scipy import sparse

    n_rows, n_raters = rows.shape
    row, rater = np.nonzero(rows >= 0)
    column = rater * n_classes + rows[row, rater]
    shape = (n_rows, n_raters * n_classes)
    return sparse.csr_matrix((np.ones(len(column)), (row, column)), shape=shape)


def _scaled(said: Any, weight: NDArray[np.float64]) -> Any:
    from scipy import sparse

    return sparse.diags(weight) @ said
