"""What speaks for or against trusting a result: the form all trust statements share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Level: TypeAlias = Literal["good", "caution", "problem"]

LEVELS: tuple[Level, ...] = ("problem", "caution", "good")
"""Gravest first."""


@dataclass(frozen=True)
class Finding:
    """One thing that speaks for or against a result."""

    level: Level
    text: str


def gravest_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings by their weight, those of the same weight in the order given.

    Example:
        >>> gravest_first([Finding("good", "a"), Finding("problem", "b")])[0].text
        'b'
    """
    return tuple(sorted(findings, key=lambda each: LEVELS.index(each.level)))
