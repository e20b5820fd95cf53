"""Cases drawn again and again, some draws at a time: large studies take little memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_DRAWS = 1000
_NUMBERS = 2**18
"""Most numbers of draws that are held at a time."""


def over_draws(n_cases: int, seed: int, figure: Callable[[Array], Array]) -> Array:
    """Return a figure of a thousand draws of the cases with replacement, (n_draws, ...).

    Args:
        n_cases: of the study.
        seed: of the draws.
        figure: of how often each case was drawn, (some draws, n_cases), as (some draws, ...).

    Example:
        >>> values = np.array([1.0, 2.0, 6.0])
        >>> means = over_draws(3, 0, lambda times: times @ values / 3)
        >>> means.shape, bool(abs(means.mean() - 3) < 0.2)
        ((1000,), True)
    """
    random, even = np.random.default_rng(seed), np.full(n_cases, 1 / n_cases)
    at_once = max(_NUMBERS // n_cases, 1)
    sizes = [min(at_once, _DRAWS - start) for start in range(0, _DRAWS, at_once)]
    drawn = (random.multinomial(n_cases, even, size=size).astype(float) for size in sizes)
    return np.concatenate([figure(times) for times in drawn])
