"""Empty and missing confused: *nothing there* and *not looked at* are different labels."""

from __future__ import annotations

import numpy as np

from multirater.sanity.facts import StudyFacts
from multirater.trust import Finding
from multirater.words import counted

_FEWEST_CASES = 3
_FEWEST_SHARE = 0.1
"""Share of a rater's cases that are empty where the others draw."""

_MOST_OTHERS = 0.8
"""Share of the others who have to draw something."""

_RATHER_SMALL = 0.5
"""Objects smaller than this share of the usual size may well be overlooked."""

_NEARLY_ALL = 0.9


def empty_for_missing(facts: StudyFacts) -> list[Finding]:
    """Find raters whose masks are empty in cases in which the others draw.

    Where what the others draw is small, it may have been overlooked: that is no finding.
    """
    if not facts.is_masks or len(facts.raters) < 2:
        return []
    drawn = facts.size > 0
    findings = []
    for number, rater in enumerate(facts.raters):
        n_others = facts.labelled.sum(1) - facts.labelled[:, number]
        who_draw = drawn.sum(1) - drawn[:, number]
        wanted = facts.labelled[:, number] & (n_others > 0) & (who_draw >= _MOST_OTHERS * n_others)
        empty = wanted & ~drawn[:, number]
        n_empty, n_wanted = int(empty.sum()), int(wanted.sum())
        if n_empty < max(_FEWEST_CASES, _FEWEST_SHARE * n_wanted) or _overlooked(facts, empty):
            continue
        findings.append(
            Finding(
                "caution",
                f"{rater} drew nothing in {n_empty} of {counted(n_wanted, 'case')} in which the "
                "others draw something of the usual size",
                "empty-for-missing",
                {"cases": n_empty, "of": n_wanted},
                facts.names(empty),
                (rater,),
                "if these cases were not looked at, remove the empty files: missing is not empty",
            )
        )
    return findings


def _overlooked(facts: StudyFacts, empty: np.ndarray) -> bool:
    """Whether what the others draw is small in the empty cases."""
    sizes = np.where(facts.size > 0, facts.size, np.nan)
    here, usual = np.nanmedian(sizes[empty]), np.nanmedian(sizes)
    return bool(here < _RATHER_SMALL * usual)


def missing_for_empty(facts: StudyFacts) -> list[Finding]:
    """Find raters who have no empty mask, and no label where the others find nothing."""
    if not facts.is_masks or len(facts.raters) < 2:
        return []
    drawn = facts.size > 0
    findings = []
    for number, rater in enumerate(facts.raters):
        others = facts.labelled.sum(1) - facts.labelled[:, number]
        missing = ~facts.labelled[:, number] & (others > 0)
        nothing = missing & (drawn.sum(1) == 0)
        has_empty = (facts.labelled[:, number] & ~drawn[:, number]).any()
        n_nothing, n_missing = int(nothing.sum()), int(missing.sum())
        if has_empty or n_nothing < max(_FEWEST_CASES, _NEARLY_ALL * n_missing):
            continue
        findings.append(
            Finding(
                "caution",
                f"{rater} has no label in {counted(n_nothing, 'case')}, and in all of them the "
                f"others find nothing; {rater} has no empty mask at all",
                "missing-for-empty",
                {"cases": n_nothing},
                facts.names(nothing),
                (rater,),
                "if they looked and found nothing, add empty masks: missing is not empty",
            )
        )
    return findings
