"""Every rater against every other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multirater.metrics.class_indices import as_item_weights, as_rating_rows, count_classes
from multirater.metrics.known import ratio_or_nan
from multirater.metrics.overlap import Overlap, overlaps_of_tables
from multirater.patterns import encode_patterns

_FEW = 16
"""Up to so many raters all pairs are worked on at once."""

_FEW_ITEMS = 1 << 10
"""Up to so many items a dense product is quicker than a sparse one, or looking for patterns."""


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
    if n_raters <= _FEW:
        return overlaps_of_tables(counts, score, foreground, empty=empty)
    scores = np.full((n_raters, n_raters), np.nan)
    for a in range(n_raters):  # of many raters, few share a case
        for b in np.flatnonzero(counts[a, a:].any((1, 2))) + a:
            scores[a, b] = scores[b, a] = overlaps_of_tables(
                counts[a, b], score, foreground, empty=empty
            )
    return scores


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
        shares = ratio_or_nan(tables, tables.sum((1, 2), keepdims=True))
        observed = np.trace(shares, axis1=1, axis2=2)
        chance = np.einsum("rc,rc->r", shares.sum(1), shares.sum(2))
        kappas[rater] = ratio_or_nan(observed - chance, 1 - chance)
    return kappas


def _pair_counts(
    ratings: NDArray[Any], n_classes: int, weights: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Count what every two raters said of the same items, (rater, rater, class, class).

    Items with the same labels are counted once, and one product of sparse indicator matrices
    counts all pairs: with 40 raters of whom three label a case, the empty pairs cost nothing.
    """
    n_raters, n_items = ratings.shape
    if weights is None or n_items > _FEW_ITEMS:
        found = encode_patterns(ratings)
        rows, weight = found.rows, found.counts.astype(float)
        if weights is not None:
            weight = np.bincount(found.index, weights=weights, minlength=len(rows)).astype(float)
    else:
        rows, weight = ratings.T, weights
    n_columns = n_raters * n_classes
    if rows.size * n_classes <= _FEW_ITEMS * _FEW:
        dense = (rows[:, :, None] == np.arange(n_classes)).reshape(len(rows), n_columns)
        counts = np.asarray(dense.T.astype(float) @ (dense * weight[:, None]))
    else:
        said = _indicators(rows, n_classes)
        counts = np.asarray((said.T @ _scaled(said, weight)).todense(), dtype=float)
    return counts.reshape(n_raters, n_classes, n_raters, n_classes).transpose(0, 2, 1, 3)


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
