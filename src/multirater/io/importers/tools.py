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
    """

    module: str
    sources: str

    @property
    def read_export(self) -> Reader:
        """The function that reads this tool's files."""
        module = import_module(f"multirater.io.importers.{self.module}")
        return cast(Reader, module.read_export)


TOOLS = {
    "coco": Tool("coco", "COCO JSON files, one per rater, or one with a field `annotator`"),
    "label-studio": Tool("label_studio", "exports in the format JSON"),
    "cvat": Tool("cvat", "XML or ZIP of CVAT for images 1.1 or video 1.1, one per rater"),
    "nnunet": Tool(
        "nnunet", "a raw data set of nnU-Net with folders of raters, or one data set per rater"
    ),
    "slicer": Tool("slicer", "a folder of .seg.nrrd files per rater"),
    "itk-snap": Tool(
        "itk_snap", "a folder of label volumes per rater, with the label descriptions"
    ),
    "monailabel": Tool("monailabel", "the folder of a datastore"),
    "qupath": Tool("qupath", "a folder of GeoJSON files per rater"),
    "labelme": Tool("labelme", "a folder of labelme JSON files per rater"),
    "via": Tool("via", "JSON of VIA, one file per rater"),
    "supervisely": Tool("supervisely", "a project per rater, in a folder named after them"),
    "mturk": Tool("mturk", "CSV of batch results"),
    "toloka": Tool("toloka", "TSV of assignments"),
    "prodigy": Tool("prodigy", "JSONL of db-out"),
    "doccano": Tool("doccano", "JSONL, one file per annotator"),
}
"""By the name the command line gives them."""


def tool_named(name: str) -> Tool:
    """Return a tool, or say which there are.

    Example:
        >>> tool_named("coco").module
        'coco'
    """
    if name not in TOOLS:
        raise InputError(
            Fault(
                f"unknown tool {name!r}{did_you_mean(name, TOOLS)}",
                expected=f"one of {', '.join(TOOLS)}",
            )
        )
    return TOOLS[name]
