"""The matrix of every two raters, laid out so that it can be read with 3, 15 or 60 of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

MOST_RATERS = 60
_MOST_WIDE, _MOST_COMPACT = 12, 24
"""Raters up to which cells hold whole numbers, and short ones."""


@dataclass(frozen=True, eq=False)
class PairMatrix:
    """How a matrix of pairs is laid out.

    Attributes:
        order: positions of the raters, those alike side by side.
        low: lowest value, where the scale of colours begins.
        high: highest value, where it ends.
        density: `wide` cells with numbers, `compact` ones with short numbers, or colour alone.
        n_raters: of the study; more than are shown where there are too many.
        has_gaps: whether some two have nothing to compare.
    """

    order: list[int]
    low: float
    high: float
    density: Literal["wide", "compact", "colour"]
    n_raters: int
    has_gaps: bool

    def heat(self, value: float) -> str:
        """How much of the colour of the scale a cell has; no more than its text can be read on."""
        span = self.high - self.low
        share = (value - self.low) / span if span > 0 else 1.0
        top = 100 if self.density == "colour" else 60
        return f"{8 + (top - 8) * min(max(share, 0.0), 1.0):.0f}%"

    def text(self, value: float) -> str:
        """Return the number in a cell, without the leading zero where cells are small."""
        text = f"{value:.2f}"
        return text.replace("0.", ".", 1) if self.density != "wide" else text


def lay_out(matrix: NDArray[np.float64], n_labels: Sequence[int]) -> PairMatrix:
    """Choose the raters, their order and the scale.

    Args:
        matrix: (n_raters, n_raters), agreement of every two, NaN where unknown.
        n_labels: of each rater; of too many raters, those with most labels are shown.

    Example:
        >>> alike = np.array([[np.nan, .2, .9], [.2, np.nan, .3], [.9, .3, np.nan]])
        >>> found = lay_out(alike, [5, 5, 5])
        >>> found.order, found.low, found.high, found.density
        ([1, 2, 0], 0.2, 0.9, 'wide')
    """
    most = sorted(range(len(matrix)), key=lambda i: -n_labels[i])[:MOST_RATERS]
    chosen = sorted(most)
    part = matrix[np.ix_(chosen, chosen)]
    above = part[np.triu_indices(len(part), k=1)]
    known = above[~np.isnan(above)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    density: Literal["wide", "compact", "colour"] = "wide"
    if len(chosen) > _MOST_WIDE:
        density = "compact" if len(chosen) <= _MOST_COMPACT else "colour"
    order = [chosen[i] for i in cluster_order(part)]
    return PairMatrix(order, low, high, density, len(matrix), len(known) < len(above))


def cluster_order(matrix: NDArray[Any]) -> list[int]:
    """Order raters so that those who agree stand side by side (average linkage).

    Args:
        matrix: (n_raters, n_raters), symmetric, higher for more alike; what is unknown counts as
            the mean of what is known.
    """
    n_raters = len(matrix)
    if n_raters < 3:
        return list(range(n_raters))
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    far = 1 - np.array(matrix, dtype=np.float64)
    above = far[np.triu_indices(n_raters, k=1)]
    usual = float(np.nanmean(above)) if (~np.isnan(above)).any() else 1.0
    far = np.where(np.isnan(far), usual, np.maximum(far, 0.0))
    np.fill_diagonal(far, 0.0)
    tree = linkage(squareform((far + far.T) / 2), method="average", optimal_ordering=True)
    return [int(i) for i in leaves_list(tree)]
