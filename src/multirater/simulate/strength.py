"""Which strength gives raters of a wanted mean Dice."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multirater.errors import Fault, InputError
from multirater.simulate.inputs import Spacing, as_label_map
from multirater.simulate.masks import MaskKind, simulate_mask

_STRONGEST = 64.0


def mean_rater_dice(
    truths: Sequence[ArrayLike],
    kinds: Sequence[MaskKind],
    *,
    strength: float = 1.0,
    spacing: Spacing | None = None,
    seed: int,
) -> float:
    """Return the mean Dice of simulated raters against the truth, 0 to 1.

    The mean runs over all cases that have foreground and all kinds; Dice is that of the class each
    rater redrew.

    Args:
        truths: true labels, each (*space); sizes may differ.
        kinds: one entry per rater.
        strength: size of the errors, see `simulate_mask`.
        spacing: voxel size in millimetres per array axis, the same for all cases.
        seed: same seed, same raters.

    Example:
        >>> truth = np.zeros((9, 9), dtype=np.int16)
        >>> truth[3:6, 3:6] = 1
        >>> mean_rater_dice([truth], ["good", "blank"], strength=0.0, seed=0)
        0.5
    """
    maps = _with_foreground(truths)
    scores = []
    for case, truth in enumerate(maps):
        for rater, kind in enumerate(kinds):
            one_seed = int(np.random.SeedSequence([seed, case, rater]).generate_state(1)[0])
            label, error = simulate_mask(
                truth, kind, strength=strength, spacing=spacing, seed=one_seed
            )
            scores.append(_dice(truth == error.target, label == error.target))
    return float(np.mean(scores))


def strength_for_dice(
    truths: Sequence[ArrayLike],
    kinds: Sequence[MaskKind],
    target_dice: float,
    *,
    spacing: Spacing | None = None,
    tolerance: float = 1e-3,
    seed: int,
) -> float:
    """Return the strength at which the raters' mean Dice is `target_dice`.

    Found by bisection on `mean_rater_dice`, with the same random numbers at every strength. A few
    hundred small masks are enough.

    Args:
        truths: true labels, each (*space); sizes may differ.
        kinds: one entry per rater.
        target_dice: the mean Dice wanted, 0 to 1.
        spacing: voxel size in millimetres per array axis, the same for all cases.
        tolerance: how near the mean Dice has to come, where single pixels allow it.
        seed: same seed, same strength.

    Example:
        >>> truth = np.zeros((32, 32), dtype=np.int16)
        >>> truth[11:21, 11:21] = 1
        >>> strength = strength_for_dice([truth] * 50, ["over"], 0.8, seed=0)
        >>> 0.4 < strength < 0.6  # 2 / (2 + 0.5) = 0.8
        True
    """

    def dice(strength: float) -> float:
        return mean_rater_dice(truths, kinds, strength=strength, spacing=spacing, seed=seed)

    low, high = 0.0, 1.0
    best = dice(low)
    if target_dice > best + tolerance:
        raise _unreachable(target_dice, f"at most {best:.3f}, the Dice of raters who do not err")
    while (worst := dice(high)) > target_dice:
        low, high = high, 2 * high
        if high > _STRONGEST:
            expected = f"at least {worst:.3f}, the Dice at strength {low:g}"
            raise _unreachable(target_dice, expected)
    return _bisect(dice, target_dice, low, high, tolerance)


def _bisect(
    dice: Callable[[float], float], target: float, low: float, high: float, tolerance: float
) -> float:
    """Return where `dice`, falling from `low` to `high`, meets the target."""
    middle = (low + high) / 2
    while high - low > 1e-4 * high:
        found = dice(middle)
        if abs(found - target) <= tolerance:
            break
        low, high = (middle, high) if found > target else (low, middle)
        middle = (low + high) / 2
    return middle


def _with_foreground(truths: Sequence[ArrayLike]) -> list[NDArray[np.int16]]:
    maps = [truth for truth in map(as_label_map, truths) if (truth > 0).any()]
    if not maps:
        raise InputError(
            Fault(
                "no true label has foreground",
                expected="at least one mask with a class other than background",
                fix="give true masks that show something",
            )
        )
    return maps


def _unreachable(target_dice: float, expected: str) -> InputError:
    found = f"a mean Dice of {target_dice:g} cannot be reached by these raters"
    return InputError(Fault(found, expected=expected, fix="change the Dice or the kinds of rater"))


def _dice(truth: NDArray[np.bool_], label: NDArray[np.bool_]) -> float:
    return float(2 * (truth & label).sum() / (truth.sum() + label.sum()))
