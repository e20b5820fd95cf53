"""What speaks for or against trusting a result: the form all trust statements share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Level: TypeAlias = Literal["good", "caution", "problem"]

LEVELS: tuple[Level, ...] = ("problem", "caution", "good")
"""Gravest first."""


@dataclass(frozen=True)
class Finding:
    """One thing that speaks for or against a result, or against the study behind it.

    Attributes:
        level: how grave it is.
        text: what was found, in a sentence.
        code: its kind, the same whatever the numbers, such as `reversed`.
        numbers: what it rests on, by name.
        cases: where it was found.
        raters: whom it is about.
        fix: what to do.
    """

    level: Level
    text: str
    code: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict, hash=False)
    cases: tuple[str, ...] = ()
    raters: tuple[str, ...] = ()
    fix: str = ""


def gravest_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings by their weight, those of the same weight in the order given.

    Example:
        >>> gravest_first([Finding("good", "a"), Finding("problem", "b")])[0].text
        'b'
    """
    return tuple(sorted(findings, key=lambda each: LEVELS.index(each.level)))
