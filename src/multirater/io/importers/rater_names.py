"""Raters who are named after their files or folders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from multirater.errors import Fault


def same_names(raters: Mapping[Path, str]) -> Iterator[Fault]:
    """Find files of which two would be one rater, whose labels would replace the other's.

    Args:
        raters: who each file or folder is named after.

    Example:
        >>> [fault.file for fault in same_names({Path("a/1.json"): "1", Path("b/1.json"): "1"})]
        ['a/1.json', 'b/1.json']
    """
    counts = Counter(raters.values())
    for path, rater in raters.items():
        if counts[rater] > 1:
            yield Fault(
                f"two files are called {rater}, so that their raters would be one",
                expected="a file or folder per rater, named after them",
                fix="rename them",
                file=str(path),
            )
