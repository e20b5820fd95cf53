"""A rater whose drawings are all moved by some pixels: a wrong origin, or a rounding of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from multirater.sanity.facts import StudyFacts
from multirater.sanity.reversed import is_reversed
from multirater.trust import Finding
from multirater.words import counted

_FEWEST_CASES, _MOST_CASES = 3, 12
"""Cases that are read again to look for shifts: they are a sample."""

_MOST_PIXELS = 60_000_000
"""Pixels that are read again, of all raters together, as long as that leaves the fewest cases."""

_FARTHEST = 32
"""Pixels along an axis up to which a shift is looked for in pictures."""

_ROOM = 64
"""Pixels kept around what was drawn, on every side, so that it can be moved."""

_GAIN = 0.02
"""Dice that moving back has to gain, in the mean."""

_OFTEN = 0.8
"""Share of the sample in which it has to gain."""

_SMALL_GAIN, _NEARLY_ALWAYS, _SURE_CASES = 0.01, 0.9, 10
"""Less Dice will do where raters are alike: so much, in such a share of so many cases. A pixel
costs 0.013 to 0.056 among the seven raters of QUBIQ, of whom none gains by moving."""

_LEAST_DICE = 0.4
"""Dice after moving back: below, it is no matter of a shift."""

_SAME_WAY = 0.75
"""Share of the cases of volumes whose centres have to lie off in the same direction."""

Masks: TypeAlias = Mapping[int, NDArray[np.bool_]]
"""What raters drew of a case, by position of the rater."""


@dataclass(frozen=True, eq=False)
class _Shift:
    """A rater moved against others: by how much (ndim,), Dice before and after moving back."""

    number: int
    shift: NDArray[np.int64]
    before: float
    after: float

    @property
    def gain(self) -> float:
        return self.after - self.before


def shifted_raters(facts: StudyFacts) -> list[Finding]:
    """Find raters whose drawings fit the majority of the others better when moved back.

    A sample of cases is read again. The rater who gains most by moving back is taken first and
    then left out, so that the others are not measured against them. Pictures are searched for any
    shift of up to 32 pixels, volumes near the distance of the centres of what was drawn.
    """
    if not facts.is_masks or len(facts.raters) < 2:
        return []
    reverse = is_reversed(facts)
    usable = (facts.size > 0) & ~reverse
    ndim = {len(case.space) for case in facts.cases if case.space}
    sample = _sample(facts, usable) if len(ndim) == 1 else []
    if len(sample) < _FEWEST_CASES:
        return []
    search = _across_pictures if ndim == {2} else _near_centres(facts, usable)
    findings: list[Finding] = []
    inside = list(range(len(facts.raters)))
    while len(inside) >= 2:
        votes = [_votes(masks, inside) for masks in sample]
        found = [_best_shift(sample, votes, number, search) for number in inside]
        known = [each for each in found if each is not None]
        if not known:
            break
        worst = max(known, key=lambda each: each.gain)
        inside = [number for number in inside if number != worst.number]
        findings.append(_finding(facts, worst, inside, len(sample)))
    return findings


def _sample(facts: StudyFacts, usable: NDArray[np.bool_]) -> list[Masks]:
    """Read some cases again, evenly chosen among those with two drawings or more."""
    places = np.flatnonzero(usable.sum(1) >= 2)
    if not len(places):
        return []
    largest = max(int(np.prod(facts.cases[place].space)) for place in places)
    n_wanted = _MOST_PIXELS // (largest * len(facts.raters))
    if n_wanted < _FEWEST_CASES and len(facts.cases[places[0]].space) == 2:
        return []
    n_cases = min(max(n_wanted, _FEWEST_CASES), _MOST_CASES, len(places))
    chosen = places[np.linspace(0, len(places) - 1, n_cases).round().astype(int)]
    return [
        _cropped(
            {
                int(number): facts.dataset.cases[place].read_label(facts.raters[number]).array > 0
                for number in np.flatnonzero(usable[place])
            }
        )
        for place in chosen
    ]


def _cropped(masks: Masks) -> Masks:
    """Keep the part of a case in which anybody drew, with room to move: of a volume, little."""
    drawn = np.logical_or.reduce(list(masks.values()))
    box = []
    for axis in range(drawn.ndim):
        others = tuple(other for other in range(drawn.ndim) if other != axis)
        held = np.flatnonzero(drawn.any(others))
        box.append(slice(max(held[0] - _ROOM, 0), held[-1] + 1 + _ROOM))
    return {number: mask[tuple(box)].copy() for number, mask in masks.items()}


Pairs: TypeAlias = Sequence[tuple[NDArray[np.bool_], NDArray[np.bool_]]]
"""Of each case a rater's mask and the others' majority."""

Search: TypeAlias = Callable[[Pairs, int], Any]
"""Given pairs of a rater: a likely shift (ndim,), or nothing."""


def _votes(masks: Masks, inside: Sequence[int]) -> tuple[NDArray[np.int64], int]:
    """Count who drew each pixel, and how many there are: once for all who are measured by it."""
    given = [masks[number] for number in inside if number in masks]
    return np.sum(given, axis=0, dtype=np.int64), len(given)


def _best_shift(
    sample: Sequence[Masks],
    votes: Sequence[tuple[NDArray[np.int64], int]],
    number: int,
    search: Search,
) -> _Shift | None:
    """Return the shift of a rater against the others; None where moving back does not help."""
    pairs = [
        (masks[number], total - masks[number] >= 0.5 * (n_raters - 1))
        for masks, (total, n_raters) in zip(sample, votes, strict=True)
        if number in masks and n_raters > 1
    ]
    if len(pairs) < _FEWEST_CASES:
        return None
    shift = search(pairs, number)
    if shift is None or not shift.any():
        return None
    dice = np.array([[_dice(m, most), _dice(moved(m, -shift), most)] for m, most in pairs])
    gains = dice[:, 1] - dice[:, 0]
    before, after = dice.mean(0).tolist()
    if after < _LEAST_DICE or not (_is_large(gains) or _is_sure(pairs, shift, gains)):
        return None
    return _Shift(number, shift, before, after)


def _is_large(gains: NDArray[np.float64]) -> bool:
    return bool(gains.mean() >= _GAIN and (gains > 0).mean() >= _OFTEN)


def _is_sure(pairs: Pairs, shift: NDArray[np.int64], gains: NDArray[np.float64]) -> bool:
    """Whether a small gain is that of a shift.

    Moving back whoever draws too much on one side gains something, too, but what they miss grows.
    """
    is_seldom = len(gains) < _SURE_CASES or (gains > 0).mean() < _NEARLY_ALWAYS
    if is_seldom or gains.mean() < _SMALL_GAIN:
        return False
    back = [(moved(mine, -shift), most) for mine, most in pairs]
    missed = [sum(np.count_nonzero(most & ~mine) for mine, most in each) for each in (pairs, back)]
    extra = [sum(np.count_nonzero(mine & ~most) for mine, most in each) for each in (pairs, back)]
    return bool(missed[1] < missed[0] and extra[1] < extra[0])


def _across_pictures(pairs: Pairs, number: int) -> NDArray[np.int64] | None:
    """Return the shift at which overlaps are largest, by correlation: all shifts at once."""
    scores = np.mean([_dice_of_shifts(mine, most) for mine, most in pairs], axis=0)
    best = np.unravel_index(int(np.argmax(scores)), scores.shape)
    return np.array(best, dtype=np.int64) - _FARTHEST


def _dice_of_shifts(mine: NDArray[np.bool_], most: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Dice of a mask with another when moved back by every shift, (2 * _FARTHEST + 1,) * 2."""
    from scipy import fft

    either = mine | most
    rows, columns = (np.flatnonzero(either.any(axis)) for axis in (1, 0))
    box = (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1))
    one, other = mine[box].astype(np.float32), most[box].astype(np.float32)
    # Room around keeps what leaves on one side from entering on the other.
    size = [fft.next_fast_len(side + _FARTHEST, real=True) for side in one.shape]
    product = fft.rfft2(one, size) * np.conj(fft.rfft2(other, size))
    overlap = fft.irfft2(product, size)
    steps = np.arange(-_FARTHEST, _FARTHEST + 1)
    shared = overlap[np.ix_(steps % size[0], steps % size[1])]
    return np.asarray(2 * shared / (one.sum() + other.sum()), dtype=np.float64)


def _near_centres(facts: StudyFacts, usable: NDArray[np.bool_]) -> Search:
    """Search where centres of drawings point to, and a voxel around."""
    noted = [None if case.drawn is None else case.drawn.centre for case in facts.cases]
    ndim = max(centre.shape[1] for centre in noted if centre is not None)
    none = np.full((len(facts.raters), ndim), np.nan)
    centres = np.stack([none if c is None or c.shape[1] != ndim else c for c in noted])
    centres[~usable] = np.nan

    def search(pairs: Pairs, number: int) -> NDArray[np.int64] | None:
        others = np.delete(centres, number, axis=1)
        known = ~np.isnan(centres[:, number, 0]) & ~np.isnan(others[:, :, 0]).all(1)
        if known.sum() < _FEWEST_CASES:
            return None
        off = centres[known, number] - np.nanmedian(others[known], axis=1)
        middle = np.median(off, axis=0)
        same_way = (np.sign(off) == np.sign(middle)).mean(0) >= _SAME_WAY
        start = np.where(same_way, np.rint(middle), 0).astype(np.int64)
        if not start.any():
            return None
        around = [sign * step for step in np.eye(ndim, dtype=np.int64) for sign in (1, -1)]
        tried = [start, *(start + step for step in around)]
        dice = [np.mean([_dice(moved(m, -shift), most) for m, most in pairs]) for shift in tried]
        return tried[int(np.argmax(dice))]

    return search


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


def _finding(facts: StudyFacts, found: _Shift, others: Sequence[int], n_checked: int) -> Finding:
    rater = facts.raters[found.number]
    against = facts.raters[others[0]] if len(others) == 1 else "the others"
    axes = ["rows", "columns"] if len(found.shift) == 2 else []
    names = axes or [f"axis {axis}" for axis in range(len(found.shift))]
    return Finding(
        "caution",
        f"{rater} is shifted against {against} by {_words(found.shift)}: moved back, Dice rises "
        f"from {found.before:.2f} to {found.after:.2f} (seen on {counted(n_checked, 'case')})",
        "shifted",
        dict(zip(names, map(float, found.shift), strict=True))
        | {"dice": found.before, "dice_moved_back": found.after, "checked": n_checked},
        facts.names(facts.size[:, found.number] > 0),
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
