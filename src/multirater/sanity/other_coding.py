"""Raters who use other classes for the same things: exchanged, moved on by one, another colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from multirater.sanity.class_overlap import case_overlaps, positions, used_classes
from multirater.sanity.facts import StudyFacts
from multirater.trust import Finding
from multirater.words import listed

_RENAMED, _AS_IS = 0.6, 0.3
"""Mean Dice of the classes concerned: renamed at least, and as they are at most."""

_BEYOND_CHANCE = 0.4
"""How much renamed classes agree of what chance leaves open: one that is everywhere fits any."""

_FEWEST_PIXELS = 20
"""Pixels of a rater and the others together, below which a class says nothing."""

_FEWEST_SEEN = 3
"""Times that a class has to overlap with the one it is renamed to, over cases and classes."""

_MOST_CASES = 0.8
"""Share of the cases in which renaming has to help."""

_MOST_CELLS = 1 << 20
"""Raters times pairs of classes, beyond which they are not looked through."""

Renaming = tuple[tuple[int, int], ...]
"""Classes of a rater, and what the others call them."""


@dataclass(frozen=True, eq=False)
class _Coding:
    """A rater who names classes otherwise: how, Dice before and after, and cases it shows in."""

    number: int
    renaming: Renaming
    before: float
    after: float
    cases: NDArray[np.bool_]

    @property
    def lowers(self) -> int:
        """By how much classes become lower: of two codings that from 0 on is the usual one."""
        return sum(mine - others for mine, others in self.renaming)


def other_coding(facts: StudyFacts) -> list[Finding]:
    """Find raters whose classes fit those of the others when renamed one for one, and else not.

    Of two classes that is a mask in reverse, which another finding says. Who differs is measured
    against the vote of the others, and goes by the new names then: the rest is measured against
    what they mean.
    """
    if not facts.is_masks or len(facts.raters) < 2 or facts.pixels.shape[2] < 3:
        return []
    used = used_classes(facts)
    if len(facts.raters) * len(used) ** 2 > _MOST_CELLS:
        return []
    position = positions(facts, used)
    found: list[_Coding] = []
    while odd := _odd_raters(facts, used, position, {each.number for each in found}):
        for each in odd:
            mine, others = np.array(each.renaming).T
            position[each.number, mine] = np.searchsorted(used, others)
        found += odd
    return _findings(facts, found)


def _odd_raters(
    facts: StudyFacts, used: NDArray[np.intp], position: NDArray[np.intp], known: set[int]
) -> list[_Coding]:
    """Return who uses other classes than the majority, or one of those if there is none."""
    total = np.zeros((len(facts.raters), len(used), len(used)))
    for _, overlap in case_overlaps(facts, position):
        total += overlap
    renamed = {r: renamed_classes(each) for r, each in enumerate(total) if r not in known}
    suspects = {number: pairs for number, pairs in renamed.items() if len(pairs)}
    cases = _confirmed(facts, position, suspects) if suspects else {}
    odd = [_coding(r, used, suspects[r], total[r], where) for r, where in cases.items()]
    if 2 * len(odd) < len(facts.raters):
        return odd
    return [max(odd, key=lambda each: (round(each.after - each.before, 6), each.lowers))]


def renamed_classes(overlap: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the classes that fit those of the others if renamed, and hardly as they are.

    Classes that take each other's place are judged together, and apart from the rest: of ten
    classes two may be exchanged.

    Args:
        overlap: pixels by what a rater and the others call them, (n_classes, n_classes).

    Returns:
        Pairs of classes, the rater's and the others', (n_pairs, 2).

    Example:
        >>> renamed_classes(np.array([[900, 0, 0], [0, 0, 50], [0, 60, 2]])).tolist()
        [[1, 2], [2, 1]]
    """
    # Only here: the import takes longer than looking through most studies.
    from scipy.optimize import linear_sum_assignment

    mine, others = overlap.sum(1)[:, None], overlap.sum(0)[None, :]
    total = mine + others
    dice = 2 * overlap / np.maximum(total, 1)
    by_chance = 2 * mine * others / np.maximum(total * overlap.sum(), 1)
    stay = 1e-9 * np.eye(len(dice))  # what nothing speaks for keeps its name
    to = linear_sum_assignment(dice + stay, maximize=True)[1]
    found = [np.empty((0, 2), dtype=np.intp)]
    for ring in _rings(to):
        pairs = np.array([(k, to[k]) for k in ring if total[k, to[k]] >= _FEWEST_PIXELS])
        if len(pairs) and _fits_renamed(dice, by_chance, pairs):
            found.append(pairs)
    return np.concatenate(found)


def _rings(to: NDArray[np.intp]) -> list[list[int]]:
    """Return the classes that take each other's place, those that keep theirs left out."""
    rings: list[list[int]] = []
    seen = set(np.flatnonzero(to == np.arange(len(to))).tolist())
    for start in range(len(to)):
        ring, k = [], start
        while k not in seen:
            seen.add(k)
            ring.append(k)
            k = int(to[k])
        rings += [ring] if ring else []
    return rings


def _fits_renamed(
    dice: NDArray[np.float64], by_chance: NDArray[np.float64], pairs: NDArray[np.intp]
) -> bool:
    after, before = _mean_dice(dice, pairs)
    chance = _mean_dice(by_chance, pairs)[0]
    is_more = after - chance >= _BEYOND_CHANCE * (1 - chance)
    return after >= _RENAMED and before <= _AS_IS and is_more


def _mean_dice(dice: NDArray[np.float64], pairs: NDArray[np.intp]) -> tuple[float, float]:
    """Return mean Dice of the classes concerned, renamed and as they are."""
    objects = _objects(pairs)
    kept = np.unique(pairs[pairs > 0])
    return float(dice[objects[:, 0], objects[:, 1]].mean()), float(dice[kept, kept].mean())


def _objects(pairs: NDArray[np.intp]) -> NDArray[np.intp]:
    """Leave background out, which always overlaps, unless it is all there is."""
    objects = pairs[(pairs > 0).all(1)]
    return objects if len(objects) else pairs


def _confirmed(
    facts: StudyFacts, position: NDArray[np.intp], suspects: Mapping[int, NDArray[np.intp]]
) -> dict[int, NDArray[np.bool_]]:
    """Keep the raters whom renaming helps in most cases, and often enough to be no chance.

    Returns:
        By rater the cases in which it does, (n_cases,).
    """
    n_seen = dict.fromkeys(suspects, 0)
    drawn, helped = (np.zeros((len(facts.raters), len(facts.cases)), dtype=bool) for _ in "dh")
    for place, overlap in case_overlaps(facts, position):
        for number, pairs in suspects.items():
            mine, others = _objects(pairs).T
            own = overlap[number]
            n_seen[number] += int(np.count_nonzero(own[mine, others]))
            drawn[number, place] = own[mine].any() and own[:, others].any()
            helped[number, place] = own[mine, others].sum() > own[mine, mine].sum()
    return {
        r: helped[r]
        for r in suspects
        if n_seen[r] >= _FEWEST_SEEN and helped[r].sum() >= _MOST_CASES * drawn[r].sum()
    }


def _coding(
    number: int,
    used: NDArray[np.intp],
    pairs: NDArray[np.intp],
    overlap: NDArray[np.float64],
    cases: NDArray[np.bool_],
) -> _Coding:
    total = overlap.sum(1)[:, None] + overlap.sum(0)[None, :]
    after, before = _mean_dice(2 * overlap / np.maximum(total, 1), pairs)
    drawn = pairs[overlap.sum(1)[pairs[:, 0]] > 0]
    renaming = tuple(sorted((int(used[mine]), int(used[others])) for mine, others in drawn))
    return _Coding(number, renaming, before, after, cases)


def _findings(facts: StudyFacts, found: Sequence[_Coding]) -> list[Finding]:
    """Say it once of raters who use the same other classes."""
    alike: dict[Renaming, list[_Coding]] = {}
    for each in found:
        alike.setdefault(each.renaming, []).append(each)
    in_order = {each: sorted(who, key=lambda one: one.number) for each, who in alike.items()}
    return [_finding(facts, renaming, who) for renaming, who in in_order.items()]


def _finding(facts: StudyFacts, renaming: Renaming, who: Sequence[_Coding]) -> Finding:
    assert facts.dataset.classes is not None
    classes = facts.dataset.classes.names
    names = tuple(facts.raters[each.number] for each in who)
    rest = tuple(rater for rater in facts.raters if rater not in names)
    two = len(facts.raters) == 2
    against, them = (rest[0], rest[0]) if two else ("the others", "them")
    before, after = np.mean([(each.before, each.after) for each in who], axis=0).tolist()
    cases = np.logical_or.reduce([each.cases for each in who])
    said = listed([f"{classes[mine]} is {classes[others]} to {them}" for mine, others in renaming])
    return Finding(
        "problem",
        f"{listed(names)} {'names' if len(names) == 1 else 'name'} classes otherwise than "
        f"{against}: {said}; renamed so, Dice rises from {before:.2f} to {after:.2f}",
        "other-coding",
        {"dice": before, "dice_renamed": after, "cases": int(cases.sum())},
        facts.names(cases),
        facts.raters if two else names,
        _fix(facts, renaming, names) + (f", or those of {against} the other way" if two else ""),
        tuple(classes[k] for k in sorted({k for pair in renaming for k in pair})),
    )


def _fix(facts: StudyFacts, renaming: Renaming, names: Sequence[str]) -> str:
    """Say which value of the files becomes which."""
    assert facts.dataset.classes is not None
    items = facts.dataset.classes.items
    value = [k if item.value is None else item.value for k, item in enumerate(items)]
    said = [f"{value[mine]} becomes {value[others]}" for mine, others in renaming]
    return f"rename the values in the files of {listed(names)}: {listed(said, most=len(said))}"
