"""File names for cases and raters, whose own names may hold anything."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from multirater.errors import Fault, InputError

_LONGEST = 150
"""Bytes: with a suffix and a number it stays below the 255 that file systems allow."""

_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
"""Names that Windows keeps for devices."""


def require_texts(names: Iterable[str], folder: Path) -> None:
    """Refuse names of files whose bytes are no text: no table could hold them.

    Args:
        names: of files in the folder.
        folder: where they lie.
    """
    broken = [name for name in names if any("\ud800" <= letter <= "\udfff" for letter in name)]
    if broken:
        raise InputError(
            Fault(
                f"the name {os.fsencode(broken[0])!r} is no text",
                expected="names in UTF-8",
                fix="rename the file or folder",
                file=os.fsencode(folder).decode(errors="replace"),
            )
        )


def file_names(names: Iterable[str]) -> dict[str, str]:
    """Map names to distinct file names that are safe on every system.

    Names that differ in case only, or in how accents are encoded, get different files.

    Example:
        >>> file_names(["anna", "a/b", "a:b", ".."])
        {'anna': 'anna', 'a/b': 'a_b', 'a:b': 'a_b-2', '..': '_'}
    """
    taken: set[str] = set()
    result = {}
    for name in dict.fromkeys(names):
        safe = _safe(name)
        candidate, number = safe, 2
        while _as_file_systems_compare(candidate) in taken:
            candidate, number = f"{safe}-{number}", number + 1
        taken.add(_as_file_systems_compare(candidate))
        result[name] = candidate
    return result


def _safe(name: str) -> str:
    composed = unicodedata.normalize("NFC", name)
    text = re.sub(r"[^\w. +()@=-]", "_", composed).strip(". ")
    text = text.encode()[:_LONGEST].decode(errors="ignore").rstrip(". ") or "_"
    return f"_{text}" if _RESERVED.fullmatch(text) else text


def _as_file_systems_compare(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
