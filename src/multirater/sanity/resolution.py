"""Raters who drew on a coarser grid: their masks are made of blocks."""

from __future__ import annotations

import numpy as np

from multirater.sanity.facts import StudyFacts
from multirater.trust import Finding
from multirater.words import counted

_NEARLY_ALL = 0.95


def coarse_raters(facts: StudyFacts) -> list[Finding]:
    """Find raters whose outlines keep to every second pixel, or a wider step, and others' do not.

    Steps are whole numbers of pixels; masks that were enlarged smoothly, or by a fraction, do not
    show.
    """
    if not facts.is_masks or len(facts.raters) < 2:
        return []
    none = np.zeros(len(facts.raters), dtype=np.int64)
    steps = np.stack([none if case.drawn is None else case.drawn.step for case in facts.cases])
    usual = np.array([_usual_step(each) for each in steps.T])
    known = usual[usual > 0]
    if known.size < 2 or known.min() == known.max():
        return []
    findings = []
    for number in np.flatnonzero(usual > known.min()):
        rater, step = facts.raters[number], int(usual[number])
        blocky = steps[:, number] >= 2
        findings.append(
            Finding(
                "caution",
                f"{rater} drew on a coarser grid: outlines keep to steps of {step} pixels in "
                f"{counted(int(blocky.sum()), 'case')}, those of others do not",
                "coarse-grid",
                {"step": step, "cases": int(blocky.sum())},
                facts.names(blocky),
                (rater,),
                "ask for the masks at full resolution; outlines are off by up to "
                f"{step / 2:g} pixels",
            )
        )
    return findings


def _usual_step(steps: np.ndarray) -> int:
    """Return the step that nearly all drawings of a rater keep; 1 where they do not, 0 unknown."""
    known = steps[steps > 0]
    if not known.size:
        return 0
    blocky = known[known >= 2]
    return int(np.gcd.reduce(blocky)) if len(blocky) >= _NEARLY_ALL * len(known) else 1
