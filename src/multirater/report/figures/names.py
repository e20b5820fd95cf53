"""Names of cases, raters and classes as they appear in figures: they may hold anything."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

_LETTER = 0.062
"""Inches that a character of 7 points takes, on average."""


def short_name(name: str, most: int = 16) -> str:
    """Return a name that fits: on one line, printable, at most `most` characters long.

    Both ends are kept, because names often differ in a number at the end.

    Example:
        >>> short_name("a very long name of rater 12", 13), short_name("two  words")
        ('a very l…r 12', 'two words')
    """
    one_line = " ".join(name.split())
    # Control characters and lone surrogates are no XML, and nothing to see.
    shown = "".join("\ufffd" if unicodedata.category(c) in {"Cc", "Cs"} else c for c in one_line)
    if len(shown) <= most:
        return shown
    tail = (most - 1) // 3
    return f"{shown[: most - 1 - tail]}…{shown[len(shown) - tail :]}"


def short_names(names: Sequence[str], most: int = 16) -> list[str]:
    """Shorten several names; those that would look alike get a number.

    Example:
        >>> short_names(["reader of the left hip", "reader of the next hip"], 14)
        ['reader …hip #1', 'reader …hip #2']
    """
    shown = [short_name(name, most) for name in names]
    alike = {name for name in shown if shown.count(name) > 1}
    seen: dict[str, int] = {}
    result = []
    for name, full in zip(shown, names, strict=True):
        seen[name] = seen.get(name, 0) + 1
        number = f" #{seen[name]}"
        result.append(short_name(full, most - len(number)) + number if name in alike else name)
    return result


def text_width(names: Sequence[str]) -> float:
    """Return the inches that the longest of several names takes on a line."""
    return max(map(len, names)) * _LETTER


def letters(width: float) -> int:
    """Return how many characters of a title fit into this width in inches."""
    return max(int(width / _LETTER), 4)
