"""File names for cases and raters, whose own names may hold anything."""

from __future__ import annotations

import re
from collections.abc import Iterable


def file_names(names: Iterable[str]) -> dict[str, str]:
    """Map names to distinct file names that are safe on every system.

    Example:
        >>> file_names(["anna", "a/b", "a:b", ".."])
        {'anna': 'anna', 'a/b': 'a_b', 'a:b': 'a_b-2', '..': '_'}
    """
    taken: set[str] = set()
    result = {}
    for name in names:
        safe = re.sub(r"[^\w. +()@=-]", "_", name).strip(". ") or "_"
        candidate, number = safe[:150], 2
        while candidate.lower() in taken:
            candidate, number = f"{safe[:150]}-{number}", number + 1
        taken.add(candidate.lower())
        result[name] = candidate
    return result
