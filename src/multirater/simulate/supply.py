"""Who labels what."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError

Supply = Literal["dense", "one"] | tuple[int, int]


def label_supply(
    n_cases: int, n_raters: int, supply: Supply = "dense", *, seed: int
) -> NDArray[np.bool_]:
    """Draw which rater labels which case.

    Raters share the work: no two of them differ by more than one label.

    Args:
        n_cases: number of cases.
        n_raters: number of raters.
        supply: `dense` (every rater labels every case), `one` (one random rater per case), or the
            smallest and largest number of raters per case; each number in between is as likely.
        seed: same seed, same supply.

    Returns:
        (n_cases, n_raters), True where the rater labels the case.

    Example:
        >>> label_supply(4, 2, "one", seed=0).sum(axis=0)
        array([2, 2])
    """
    fewest, most = _limits(supply, n_raters)
    rng = np.random.default_rng(seed)
    counts = rng.integers(fewest, most + 1, size=n_cases)
    lots = rng.random((n_cases, n_raters))
    given = np.zeros((n_cases, n_raters), dtype=bool)
    load = np.zeros(n_raters, dtype=int)
    for case in rng.permutation(n_cases):
        # Those with the least work come first; lots decide among equals.
        chosen = np.lexsort((lots[case], load))[: counts[case]]
        given[case, chosen] = True
        load[chosen] += 1
    return given


def _limits(supply: Supply, n_raters: int) -> tuple[int, int]:
    if supply == "dense":
        return n_raters, n_raters
    limits = (1, 1) if supply == "one" else supply
    if isinstance(limits, tuple) and len(limits) == 2 and 0 <= limits[0] <= limits[1] <= n_raters:
        return limits
    raise InputError(
        Fault(
            f"the label supply is {supply!r}",
            expected=f"dense, one, or (fewest, most) raters per case, at most {n_raters}",
            fix="choose one of them",
        )
    )
