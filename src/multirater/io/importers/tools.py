"""The tools whose exports can be imported, by name: `io.importers.<module>.read_export`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TypeAlias, cast

from multirater.errors import Fault, InputError
from multirater.io.importers.work import Export
from multirater.words import did_you_mean

Reader: TypeAlias = Callable[[Sequence[Path], Sequence[str]], Export]
"""Reads the files of an export; names of classes, in order, are for files that do not tell."""


@dataclass(frozen=True)
class Tool:
    """A tool that exports labels.

    Attributes:
        module: of this folder.
        sources: what to give, in words.
        needs_images: whether the images lie apart from the export, so that a folder is needed.
    """

    module: str
    sources: str
    needs_images: bool = True

    @property
    def read_export(self) -> Reader:
        """The function that reads this tool's files."""
        module = import_module(f"multirater.io.importers.{self.module}")
        return cast(Reader, module.read_export)


TOOLS = {
    "coco": Tool("coco", "COCO JSON files, one per rater, or one with a field `annotator`"),
}
"""By the name the command line gives them."""


def tool_named(name: str) -> Tool:
    """Return a tool, or say which there are.

    Example:
        >>> tool_named("coco").needs_images
        True
    """
    if name not in TOOLS:
        raise InputError(
            Fault(
                f"unknown tool {name!r}{did_you_mean(name, TOOLS)}",
                expected=f"one of {', '.join(TOOLS)}",
            )
        )
    return TOOLS[name]
