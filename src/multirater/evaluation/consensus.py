"""How much the raters of a case agree, and whether a model knows where they do not.

The consensus level of a case is the mean IoU of every two of its raters (Zhang 2020, Fig. 14). The
cases fall into the groups low, middle and high by that level (Fig. 15).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multirater.metrics import Estimate, item_interval, pairwise_scores

GROUPS: dict[str, tuple[float, float]] = {
    "below": (0.0, 0.30),
    "low": (0.30, 0.65),
    "middle": (0.65, 0.75),
    "high": (0.75, 0.90),
    "above": (0.90, 1.0),
}
"""Consensus levels, from and to, of each group. The paper has low, middle and high only."""

UNKNOWN = "unknown"
"""The group of cases that fewer than two raters labelled."""

# A level on a border belongs to the upper group; only the end of the paper's range, 0.90, is its.
_BORDERS = (0.30, 0.65, 0.75, math.nextafter(0.90, 1.0))

_FEWEST_CASES = 3
"""Through two points there is always a line: a correlation needs more."""


def consensus_level(labels: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Mean IoU of every two raters, each over the pixels both labelled.

    Args:
        labels: class indices (n_raters, *space), -1 where not labelled.
        weights: (*space), how many pixels each entry stands for.

    Returns:
        0 to 1; for several classes the mean over foreground classes. NaN when no two raters share
        a pixel.

    Example:
        >>> consensus_level([[0, 1, 1], [0, 1, 0], [0, 1, 0]])
        0.6666666666666666
    """
    scores = pairwise_scores(labels, score="iou", weights=weights)
    above = scores[np.triu_indices(len(scores), k=1)]
    known = above[~np.isnan(above)]
    return float(known.mean()) if known.size else math.nan


def consensus_group(level: float) -> str:
    """Name the group of a consensus level: a key of `GROUPS`, or `unknown` for NaN.

    Example:
        >>> [consensus_group(level) for level in (0.2, 0.3, 0.7, 0.9, 0.95)]
        ['below', 'low', 'middle', 'high', 'above']
    """
    return UNKNOWN if math.isnan(level) else list(GROUPS)[bisect_right(_BORDERS, level)]


def consensus_correlations(
    predicted: Sequence[float] | NDArray[np.float64],
    real: Sequence[float] | NDArray[np.float64],
    *,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> dict[str, Estimate[float]]:
    """Correlate predicted with real consensus levels, with intervals from drawing cases again.

    Args:
        predicted: one level per case; NaN where unknown.
        real: same length and rule.
        level: of the intervals.
        n_resamples: how many times to draw.
        seed: same seed, same interval.

    Returns:
        `Pearson` (on a line) and `Spearman` (in the same order); NaN with fewer than three cases,
        or when all levels are equal.

    Example:
        >>> found = consensus_correlations([0.2, 0.5, 0.6, 0.9], [0.1, 0.2, 0.4, 0.8])
        >>> round(found["Pearson"].value, 3), round(found["Spearman"].value, 3)
        (0.951, 1.0)
    """
    x, y = np.asarray(predicted, dtype=np.float64), np.asarray(real, dtype=np.float64)
    known = ~(np.isnan(x) | np.isnan(y))
    if known.sum() < _FEWEST_CASES:
        unknown = Estimate(math.nan, math.nan, math.nan, level)
        return {"Pearson": unknown, "Spearman": unknown}
    x, y = x[known], y[known]
    draws: dict[str, Any] = {"level": level, "n_resamples": n_resamples, "seed": seed}
    order = [np.unique(each, return_inverse=True)[1] for each in (x, y)]
    return {
        "Pearson": item_interval(_pearson, x, y, **draws),
        "Spearman": item_interval(_pearson_of_ranks, *order, **draws),
    }


def _pearson(
    x: NDArray[np.float64], y: NDArray[np.float64], *, weights: NDArray[np.float64] | None = None
) -> float:
    """Pearson's correlation of values that occur `weights` times."""
    times = np.ones(len(x)) if weights is None else weights
    drawn = times > 0
    if np.ptp(x[drawn]) == 0 or np.ptp(y[drawn]) == 0:
        return math.nan
    from_mean = [each - np.average(each, weights=times) for each in (x, y)]
    covariance = np.einsum("n,an,bn->ab", times, from_mean, from_mean)
    value = covariance[0, 1] / math.sqrt(covariance[0, 0] * covariance[1, 1])
    return float(np.clip(value, -1.0, 1.0))


def _pearson_of_ranks(
    x: NDArray[np.intp], y: NDArray[np.intp], *, weights: NDArray[np.float64] | None = None
) -> float:
    """Spearman's correlation of values given by their place among the distinct ones."""
    times = np.ones(len(x)) if weights is None else weights
    return _pearson(_mid_ranks(x, times), _mid_ranks(y, times), weights=weights)


def _mid_ranks(places: NDArray[np.intp], times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks, up to a constant; equal values share the mean of theirs."""
    counts = np.bincount(places, weights=times)
    return np.asarray((np.cumsum(counts) - counts / 2)[places])
