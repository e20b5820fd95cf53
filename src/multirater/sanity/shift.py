"""A rater whose drawings are all moved by some pixels: a wrong origin, or a rounding of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.sanity.facts import StudyFacts
from multirater.trust import Finding
from multirater.words import counted

_FEWEST_CASES = 3
_SAMPLE = 20
"""Cases on which a suspicion is checked: they are read again."""

_GAIN = 0.02
"""Dice that moving back has to gain, in the mean."""

_MOST_CASES = 0.8
"""Share of the checked cases in which it has to gain."""

_SAME_WAY = 0.75
"""Share of the cases whose centres have to lie off in the same direction."""


def shifted_raters(facts: StudyFacts) -> list[Finding]:
    """Find raters whose drawings fit the others' better when moved back by whole pixels.

    Centres of drawings raise the suspicion; Dice with the majority of the others decides. The
    rater who is furthest off is judged first and then left out, so that the others are not
    measured against them.
    """
    if not facts.is_masks or len(facts.raters) < 2:
        return []
    centres = _centres(facts)
    if centres is None:
        return []
    findings: list[Finding] = []
    inside = list(range(len(facts.raters)))
    while len(inside) >= 2:
        suspects = {number: _suspicion(centres, number, inside) for number in inside}
        number = max(inside, key=lambda each: float(np.abs(suspects[each]).max()))
        shift = suspects[number]
        if not shift.any():
            break
        others = [each for each in inside if each != number]
        checked = _checked(facts, number, others, shift)
        if checked is not None:
            findings.append(_finding(facts, number, others, checked))
        inside = others
    return findings


def _centres(facts: StudyFacts) -> NDArray[np.float64] | None:
    """Centres (n_cases, n_raters, ndim) of the cases with most axes in common."""
    noted = [case.drawn.centre for case in facts.cases if case.drawn is not None]
    axes = {centre.shape[1] for centre in noted}
    return np.stack(noted) if len(axes) == 1 and len(noted) == len(facts.cases) else None


def _suspicion(
    centres: NDArray[np.float64], number: int, inside: Sequence[int]
) -> NDArray[np.int64]:
    """Return by how many pixels a rater's centres are off the others', (ndim,); 0 where not."""
    others = [each for each in inside if each != number]
    known = ~np.isnan(centres[:, number, 0]) & ~np.isnan(centres[:, others, 0]).all(1)
    if known.sum() < _FEWEST_CASES:
        return np.zeros(centres.shape[2], dtype=np.int64)
    off = centres[known, number] - np.nanmedian(centres[known][:, others], axis=1)
    middle = np.median(off, axis=0)
    same_way = (np.sign(off) == np.sign(middle)).mean(0) >= _SAME_WAY
    return np.where(same_way, np.rint(middle), 0).astype(np.int64)


@dataclass(frozen=True, eq=False)
class _Checked:
    """A shift (ndim,) that was tried: Dice before and after moving back, on so many cases."""

    shift: NDArray[np.int64]
    before: float
    after: float
    n_cases: int


def _checked(
    facts: StudyFacts, number: int, others: Sequence[int], shift: NDArray[np.int64]
) -> _Checked | None:
    """Move a rater back on some cases, by a pixel more or less too; None where it does not help."""
    places = np.flatnonzero((facts.size[:, number] > 0) & (facts.size[:, others] > 0).any(1))
    chosen = places[np.linspace(0, len(places) - 1, min(_SAMPLE, len(places))).astype(int)]
    steps = np.eye(len(shift), dtype=np.int64)
    tried = [np.zeros_like(shift), shift, *(shift + sign * s for s in steps for sign in (1, -1))]
    dice = np.array([_dice_moved(facts, int(place), number, others, tried) for place in chosen])
    best = int(np.argmax(dice.mean(0)))
    gains = dice[:, best] - dice[:, 0]
    if gains.mean() < _GAIN or (gains > 0).mean() < _MOST_CASES:
        return None
    before, after = dice.mean(0)[[0, best]].tolist()
    return _Checked(tried[best], before, after, len(chosen))


def _dice_moved(
    facts: StudyFacts,
    place: int,
    number: int,
    others: Sequence[int],
    shifts: Sequence[NDArray[np.int64]],
) -> list[float]:
    """Dice with the others when moved back by each shift."""
    case = facts.dataset.cases[place]
    mine = case.read_label(facts.raters[number]).array > 0
    names = [facts.raters[each] for each in others if facts.raters[each] in case.labels]
    votes = np.mean([case.read_label(name).array > 0 for name in names], axis=0)
    most = votes >= 0.5
    return [_dice(moved(mine, -shift), most) for shift in shifts]


def moved(mask: NDArray[Any], shift: NDArray[np.int64]) -> NDArray[Any]:
    """Move a mask by whole pixels; what enters is empty.

    Example:
        >>> moved(np.array([1, 1, 0, 0]), np.array([1])).tolist()
        [0, 1, 1, 0]
    """
    result = np.zeros_like(mask)
    to, source = [], []
    for step, size in zip(shift.tolist(), mask.shape, strict=True):
        to.append(slice(max(step, 0), size + min(step, 0)))
        source.append(slice(max(-step, 0), size + min(-step, 0)))
    result[tuple(to)] = mask[tuple(source)]
    return result


def _dice(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    total = np.count_nonzero(one) + np.count_nonzero(other)
    return 2 * float(np.count_nonzero(one & other)) / total if total else 1.0


def _finding(
    facts: StudyFacts,
    number: int,
    others: Sequence[int],
    checked: _Checked,
) -> Finding:
    rater = facts.raters[number]
    shift, before, after = checked.shift, checked.before, checked.after
    against = facts.raters[others[0]] if len(others) == 1 else "the others"
    drawn = facts.size[:, number] > 0
    names = {"rows": 0, "columns": 1} if len(shift) == 2 else {}
    steps = names or {f"axis {axis}": axis for axis in range(len(shift))}
    return Finding(
        "caution",
        f"{rater} is shifted against {against} by {_words(shift)}: moved back, Dice rises from "
        f"{before:.2f} to {after:.2f} (checked on {counted(checked.n_cases, 'case')})",
        "shifted",
        {name: float(shift[axis]) for name, axis in steps.items()}
        | {"dice": before, "dice_moved_back": after, "checked": checked.n_cases},
        facts.names(drawn),
        (rater,) if len(others) > 1 else (rater, against),
        "check the origin or the export of these masks, and move them back",
    )


def _words(shift: NDArray[np.int64]) -> str:
    """Say a shift in pixels.

    Example:
        >>> _words(np.array([2, -3])), _words(np.array([0, 0, 1]))
        ('2 px down and 3 px to the left', '1 px along axis 2')
    """
    if len(shift) == 2:
        ways = (("up", "down"), ("to the left", "to the right"))
        said = [f"{abs(step)} px {ways[axis][int(step > 0)]}" for axis, step in enumerate(shift)]
    else:
        said = [f"{step} px along axis {axis}" for axis, step in enumerate(shift)]
    return " and ".join(text for text, step in zip(said, shift, strict=True) if step)
