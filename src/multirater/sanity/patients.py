"""Patients with cases in two splits: what was learned from one is tested on the other."""

from __future__ import annotations

from multirater.sanity.facts import StudyFacts
from multirater.trust import Finding
from multirater.words import counted, listed


def mixed_patients(facts: StudyFacts) -> list[Finding]:
    """Find patients whose cases lie in more than one split."""
    splits: dict[str, set[str]] = {}
    for case in facts.dataset:
        if case.patient and case.split:
            splits.setdefault(case.patient, set()).add(case.split)
    mixed = [patient for patient, names in splits.items() if len(names) > 1]
    if not mixed:
        return []
    inside = set(mixed)
    cases = tuple(case.name for case in facts.dataset if case.patient in inside)
    have = "has" if len(mixed) == 1 else "have"
    return [
        Finding(
            "problem",
            f"{counted(len(mixed), 'patient')} of {len(splits)} ({listed(mixed)}) {have} cases in "
            "more than one split: a test on them is too kind",
            "mixed-patients",
            {"patients": len(mixed), "cases": len(cases)},
            cases,
            fix="give all cases of a patient the same `split` in the manifest",
        )
    ]
