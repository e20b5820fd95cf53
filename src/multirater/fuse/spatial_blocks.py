"""The step of Spatial STAPLE in compiled loops, a block of rows or planes at a time.

The same numbers as in `spatial_staple`, where every map of the step is one array of numpy: what a
rater drew in a window is a running sum, all raters share the sums of the probabilities, and maps
other than the probabilities exist for one block only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.types import MISSING

TINY = 1e-30
"""Keeps logarithms finite."""

Map = NDArray[np.float32]

_BLOCK = 1 << 21
"""Pixels of a block; a volume's blocks are at least two windows long, whose sums begin anew."""

_MOST_FACTORS = 8
"""Probabilities multiplied before a logarithm is taken: none is below 1e-30."""


@dataclass(frozen=True, eq=False)
class LocalPrior:
    """What holds before a window is looked at.

    Attributes:
        cm: (n_raters, true, observed), matrices of global STAPLE.
        prior: (n_classes,).
        local: whether the prior is estimated in each window.
        weight: of both, as a share of the window.
    """

    cm: NDArray[np.float64]
    prior: NDArray[np.float64]
    local: bool
    weight: float


def step_in_blocks(
    labels: NDArray[Any], probability: Map, belief: LocalPrior, size: tuple[int, ...]
) -> tuple[Map, float]:
    """Estimate local matrices from the probabilities, and new probabilities from them.

    Args:
        labels: class indices (n_raters, *space) of one to three axes, -1 where missing.
        probability: of the truth, (n_classes, *space).
        belief: what holds beforehand.
        size: side of the window per axis, odd.

    Returns:
        New probabilities, and the log-likelihood.
    """
    from multirater.compiled.windows import as_planes

    updated = np.empty_like(probability)
    shape, half = as_planes(labels.shape[1:]), np.array(as_planes(size)) // 2
    given = (labels.reshape(-1, *shape), probability.reshape(-1, *shape))
    target = updated.reshape(-1, *shape)
    length = max(2 * size[0], _BLOCK // (shape[1] * shape[2]))
    log_likelihood = 0.0
    for first in range(0, shape[0], length):
        planes = slice(first, first + length)
        log_likelihood += _step_of_block(*given, target, belief, half, planes)
    return updated, log_likelihood


def _step_of_block(
    labels: NDArray[Any],
    probability: Map,
    updated: Map,
    belief: LocalPrior,
    half: NDArray[np.int64],
    planes: slice,
) -> float:
    """Write new probabilities of some planes; return their log-likelihood."""
    from multirater.compiled.windows import window_likelihood, window_means

    joint = updated[:, planes]
    sums = np.empty(joint.shape)
    everywhere = np.broadcast_to(np.int8(0), labels.shape[1:])
    window_means(everywhere, probability, half, planes.start, sums)
    likelihood, normaliser = _prior(sums, belief)
    sums += belief.weight
    inverse = 1 / sums
    joint[...] = 0
    # The prior is the first factor.
    for number, (label, cm) in enumerate(zip(labels, belief.cm, strict=True), start=1):
        total, divisor = sums, inverse
        if (label == MISSING).any():
            total = np.empty(joint.shape)
            window_means(label, probability, half, planes.start, total)
            total += belief.weight
            divisor = 1 / total
        given = (half, planes.start, total, divisor, belief.weight * cm, belief.weight)
        window_likelihood(label, probability, *given, likelihood)
        if number % _MOST_FACTORS == _MOST_FACTORS - 1 or number == len(labels):
            joint += np.log(likelihood, out=likelihood)
            likelihood[...] = 1.0
    return normalise(joint) + normaliser


def _prior(shares: NDArray[np.float64], belief: LocalPrior) -> tuple[NDArray[np.float64], float]:
    """Return class probabilities before any label, and the log of what normalises them, summed."""
    before = belief.prior.reshape(-1, *(1 for _ in shares.shape[1:]))
    if not belief.local:
        return np.broadcast_to(np.maximum(before, TINY), shares.shape).copy(), 0.0
    normaliser = -float(np.log(shares.sum(0) + belief.weight).sum())
    return np.maximum(shares + belief.weight * before, TINY), normaliser


def normalise(joint: Map) -> float:
    """Turn log joint probabilities into those of the classes, in place; return their log sums."""
    highest = joint.max(0)
    joint -= highest
    np.exp(joint, out=joint)
    total = joint.sum(0)
    joint /= total
    np.log(total, out=total)
    return float(total.sum(dtype=float) + highest.sum(dtype=float))
