"""How far apart two sets of label maps are, as sets: the raters' and the model's samples."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multirater.metrics.class_indices import as_class_indices, require_same_shape
from multirater.metrics.overlap import Overlap
from multirater.metrics.pairwise import pairwise_scores


def energy_distance(
    samples_a: ArrayLike,
    samples_b: ArrayLike,
    *,
    distance: Overlap = "dice",
    weights: ArrayLike | None = None,
) -> float:
    """Generalised energy distance, squared: 2·E[d(S, Y)] − E[d(S, S′)] − E[d(Y, Y′)].

    d is 1 − Dice or 1 − IoU, for several classes averaged over the foreground classes that occur in
    either map. Each expectation runs over all ordered pairs, a sample with itself included, so two
    identical sets give exactly 0, in any order. (A version that adds similarities where distances
    belong circulates in published code; it does not vanish for identical sets.)

    Args:
        samples_a: class indices (n_samples_a, *space), -1 where not labelled.
        samples_b: class indices (n_samples_b, *space).
        distance: `dice` or `iou`.
        weights: (*space), how many pixels each entry stands for.

    Returns:
        0 for equal distributions, at most 2. Pairs that share no labelled pixel are left out; NaN
        when an expectation has no pair left.

    Example:
        >>> raters = [[0, 1, 1, 0], [0, 1, 0, 0]]
        >>> energy_distance(raters, raters)
        0.0
        >>> energy_distance([[1, 0]], [[0, 1]])
        2.0
    """
    a, b = as_class_indices(samples_a), as_class_indices(samples_b)
    require_same_shape(a[:1], b[:1])
    n = len(a)
    distances = 1 - pairwise_scores(np.concatenate([a, b]), score=distance, weights=weights)
    return 2 * _mean(distances[:n, n:]) - _mean(distances[:n, :n]) - _mean(distances[n:, n:])


def _mean(distances: NDArray[np.float64]) -> float:
    known = distances[~np.isnan(distances)]
    # fsum rounds once, so the order of the samples cannot leave a residue.
    return math.fsum(known.tolist()) / known.size if known.size else math.nan
