"""Masks in reverse, in which 0 is the object: the border of the image tells them apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from multirater.sanity.facts import StudyFacts
from multirater.trust import Finding
from multirater.words import counted, listed

_ON_BORDER = 0.9
"""Share of the border that a reversed mask holds at least: the border is background."""

_OFF_BORDER = 0.5
"""Share that masks of the others hold at most."""

_MOST_CASES = 0.9
"""Share of the cases from which on a whole study is in reverse."""

_FIX = (
    "say in classes.csv which value is the object (columns index, name, value), or invert the files"
)


def reversed_masks(facts: StudyFacts) -> list[Finding]:
    """Find masks of two classes in which background and object are swapped."""
    reverse = is_reversed(facts)
    if not reverse.any():
        return _reversed_truth(facts)
    cases = np.asarray(reverse.any(1))
    if reverse.sum() >= _MOST_CASES * facts.labelled.sum():
        share = float(facts.pixels[:, :, 1].sum() / facts.pixels.sum())
        return [
            Finding(
                "problem",
                f"masks look reversed: 0 seems to be the object and 1 the background, which holds "
                f"the border of the image and {share:.1%} of it",
                "reversed",
                {"share": share, "cases": int(cases.sum())},
                facts.names(cases),
                facts.raters,
                _FIX,
            )
        ]
    who = [number for number in range(len(facts.raters)) if reverse[:, number].any()]
    names = [facts.raters[number] for number in who]
    return [
        Finding(
            "problem",
            f"{listed(names)} drew the reverse of the others in {counted(int(cases.sum()), 'case')}"
            ": 0 seems to be the object there",
            "reversed",
            {"cases": int(cases.sum())},
            facts.names(cases),
            tuple(names),
            f"invert these files, or leave {listed(names)} out with --exclude",
        )
    ]


def _reversed_truth(facts: StudyFacts) -> list[Finding]:
    """Find a truth in reverse beside masks that are not."""
    if not facts.is_masks or facts.pixels.shape[2] != 2:
        return []
    border = _borders(facts)
    truth = np.array([np.nan if c.drawn is None else c.drawn.truth_border for c in facts.cases])
    beside = ~np.isnan(truth) & ((border <= _OFF_BORDER) & (facts.size > 0)).any(1)
    reverse = beside & (truth >= _ON_BORDER)
    if not reverse.any() or reverse.sum() < _MOST_CASES * beside.sum():
        return []
    n_cases = int(reverse.sum())
    return [
        Finding(
            "problem",
            f"the truth looks reversed in {counted(n_cases, 'case')}: it takes the border of the "
            "image, which the raters leave out",
            "reversed",
            {"cases": n_cases},
            facts.names(reverse),
            fix="invert the files of the truth",
        )
    ]


def is_reversed(facts: StudyFacts) -> NDArray[np.bool_]:
    """Which masks look reversed, (n_cases, n_raters).

    A mask does when it takes the border of the image and more than half of it, leaves something
    out, and either no other mask of the case keeps off the border (a study in reverse), or those
    that do agree with its complement rather than with itself.
    """
    reverse = np.zeros(facts.labelled.shape, dtype=bool)
    if not facts.is_masks or facts.pixels.shape[2] != 2:
        return reverse
    border = _borders(facts)
    inside, outside = facts.pixels[:, :, 1], facts.pixels[:, :, 0]
    suspect = (border >= _ON_BORDER) & (inside > outside) & (outside > 0)
    if not suspect.any():
        return reverse
    normal = (border <= _OFF_BORDER) & (inside > 0)
    whole_study = suspect.sum() >= _MOST_CASES * facts.labelled.sum()
    for place in np.flatnonzero(suspect.any(1)):
        others = np.flatnonzero(normal[place])
        for number in np.flatnonzero(suspect[place]):
            reverse[place, number] = (
                whole_study
                if not others.size
                else _is_complement(facts, int(place), int(number), others)
            )
    return reverse


def _borders(facts: StudyFacts) -> NDArray[np.float64]:
    """Share of the border that each mask takes, (n_cases, n_raters)."""
    none = np.full(len(facts.raters), np.nan)
    return np.stack([none if case.drawn is None else case.drawn.border for case in facts.cases])


def _is_complement(facts: StudyFacts, place: int, number: int, others: NDArray[np.intp]) -> bool:
    """Whether what a mask leaves out overlaps with what others drew, by more than half (Dice)."""
    case = facts.cases[place]
    rows = case.rows
    left_out = rows[:, number] == 0
    drawn = (rows[:, others] == 1).mean(1) > 0.5
    common = case.counts[left_out & drawn].sum()
    return bool(2 * common > 0.5 * (case.counts[left_out].sum() + case.counts[drawn].sum()))
