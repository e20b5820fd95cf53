"""Patterns of file names, such as `{split}/**/{case}_{rater}.png`."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import lru_cache

from multirater.errors import Fault, InputError
from multirater.io.formats.suffixes import suffix_of

BY_CHOICE = ("split", "patient")
"""Fields that any pattern may have."""


@dataclass(frozen=True)
class Pattern:
    """A pattern of names, relative to a folder.

    `*` stands for any text without a slash, `**` for folders at any depth, a field in braces for
    text without a slash.

    Attributes:
        text: the pattern.
        fields: those it must have.
    """

    text: str
    fields: tuple[str, ...]

    def __post_init__(self) -> None:
        asked = self.asked
        wrong = sorted(asked ^ set(self.fields) - (asked & set(BY_CHOICE)))
        wrong = [field for field in wrong if field not in BY_CHOICE]
        if self.text and wrong:
            both = " and ".join(f"{{{field}}}" for field in self.fields) or "no field"
            raise InputError(
                Fault(
                    f"pattern {self.text!r} {'has' if wrong[0] in asked else 'lacks'} "
                    f"{{{wrong[0]}}}",
                    expected=f"a pattern with {both}; {{split}} and {{patient}} by choice",
                    fix="correct the pattern",
                )
            )

    @property
    def asked(self) -> set[str]:
        """The fields it has."""
        return set(re.findall(r"\{(.*?)\}", self.text))

    @property
    def n_fixed(self) -> int:
        """Number of characters that a name must have."""
        return len(re.sub(r"\{.*?\}|\*", "", self.text))

    def fits(self, name: str, cases: Container[str] | None = None) -> re.Match[str] | None:
        """Cut a name into its parts: with the longest case that fits, of those that are known.

        Example:
            >>> pattern = Pattern("**/{case}_{rater}.png", ("case", "rater"))
            >>> pattern.fits("a/b/eye_1_jo.png", {"eye"}).groupdict()
            {'case': 'eye', 'rater': '1_jo'}
        """
        fields = tuple(sorted(self.asked))
        match = _expression(self.text, fields, "+").fullmatch(name)
        if match is None or cases is None or "case" not in fields or match["case"] in cases:
            return match
        for length in range(len(match["case"]) - 1, 0, -1):
            shorter = _expression(self.text, fields, f"{{{length}}}").fullmatch(name)
            if shorter is not None and shorter["case"] in cases:
                return shorter
        return None


@lru_cache(maxsize=1024)
def _expression(text: str, fields: Sequence[str], case_length: str) -> re.Pattern[str]:
    n_suffix = len(suffix_of(text)) if "}" not in suffix_of(text) else 0
    stem, suffix = text[: len(text) - n_suffix], text[len(text) - n_suffix :]
    expression = re.escape(stem).replace(r"\*\*/", "(?:.*/)?").replace(r"\*\*", ".*")
    expression = expression.replace(r"\*", "[^/]*")
    for field in fields:
        length = case_length if field == "case" else "+"
        place = rf"\{{{field}\}}"
        expression = expression.replace(place, f"(?P<{field}>[^/]{length})", 1)
        expression = expression.replace(place, f"(?P={field})")
    ending = re.escape(suffix).replace(r"\*", "[^/]*")
    return re.compile(f"{expression}(?i:{ending})")
