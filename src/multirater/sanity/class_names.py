"""Class labels that read like no label, or like one another."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Sequence

from multirater.sanity.facts import StudyFacts
from multirater.trust import Finding
from multirater.words import listed

_LIKE_NOTHING = {
    "",
    "nan",
    "none",
    "null",
    "nil",
    "na",
    "n/a",
    "nat",
    "inf",
    "-inf",
    "missing",
    "?",
    "-1",
}


def odd_class_names(facts: StudyFacts) -> list[Finding]:
    """Find classes of a table that programs write for a missing value, and numbers written twice.

    A table is text, in which only an empty cell is missing: a class may well be called `none`.
    """
    if facts.dataset.kind != "classes" or facts.dataset.classes is None:
        return []
    return odd_names(facts.dataset.classes.names)


def odd_names(names: Sequence[str]) -> list[Finding]:
    """Find the same among names of classes, wherever they come from."""
    return [*_like_nothing(names), *_same_numbers(names), *_same_letters(names)]


def _like_nothing(names: Sequence[str]) -> list[Finding]:
    odd = [name for name in names if name.casefold() in _LIKE_NOTHING]
    if not odd:
        return []
    return [
        Finding(
            "caution",
            f"{listed(odd)} may stand for a missing label, and counts as a class",
            "missing-as-class",
            {"classes": len(odd)},
            fix="leave the cell empty where there is no label",
        )
    ]


def _same_numbers(names: Sequence[str]) -> list[Finding]:
    by_value: dict[float, list[str]] = defaultdict(list)
    for name in names:
        try:
            by_value[float(name)].append(name)
        except ValueError:
            continue
    alike = [each for each in by_value.values() if len(each) > 1]
    if not alike:
        return []
    shown = "; ".join(" and ".join(each) for each in alike[:3])
    return [
        Finding(
            "caution",
            f"classes that are the same number: {shown}",
            "number-twice",
            {"numbers": len(alike)},
            fix="write every number in one way",
        )
    ]


def _same_letters(names: Sequence[str]) -> list[Finding]:
    """Find names that look alike: letters are stored in two forms, and typed in two cases."""
    by_look: dict[str, list[str]] = defaultdict(list)
    for name in names:
        by_look[unicodedata.normalize("NFKC", name).casefold()].append(name)
    alike = [each for each in by_look.values() if len(each) > 1]
    if not alike:
        return []
    shown = "; ".join(" and ".join(map(repr, each)) for each in alike[:3])
    return [
        Finding(
            "caution",
            f"classes whose names look alike, or differ by case alone: {shown}",
            "name-twice",
            {"names": len(alike)},
            fix="write every name in one way",
        )
    ]
