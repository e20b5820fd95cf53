"""The tools that can be exported to, by name: `io.exporters.<module>.write_export`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import cast

from multirater.errors import Fault, InputError
from multirater.io.exporters.outcome import Outcome
from multirater.words import did_you_mean


@dataclass(frozen=True)
class Tool:
    """A tool that reads labels.

    Attributes:
        module: of this folder.
        is_folder: whether it takes a folder rather than a file.
    """

    module: str
    is_folder: bool = False

    @property
    def write_export(self) -> Callable[[Outcome, Path], None]:
        """The function that writes this tool's files."""
        module = import_module(f"multirater.io.exporters.{self.module}")
        return cast(Callable[[Outcome, Path], None], module.write_export)


TOOLS = {
    "coco": Tool("coco"),
    "label-studio": Tool("label_studio"),
    "cvat": Tool("cvat"),
    "nnunet": Tool("nnunet", is_folder=True),
    "slicer": Tool("slicer", is_folder=True),
    "itk-snap": Tool("itk_snap", is_folder=True),
    "monailabel": Tool("monailabel", is_folder=True),
    "qupath": Tool("qupath", is_folder=True),
    "jsonl": Tool("jsonl"),
    "csv": Tool("csv"),
}
"""By the name the command line gives them."""


def tool_named(name: str) -> Tool:
    """Return a tool, or say which there are.

    Example:
        >>> tool_named("coco").is_folder
        False
    """
    if name not in TOOLS:
        raise InputError(
            Fault(
                f"unknown tool {name!r}{did_you_mean(name, TOOLS)}",
                expected=f"one of {', '.join(TOOLS)}",
            )
        )
    return TOOLS[name]
