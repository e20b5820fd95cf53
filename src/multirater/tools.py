"""The labelling tools whose files are read or written, by the name the command line gives them.

A tool's own module has its name: `io/importers/label_studio.py` with `read_export`, and
`io/exporters/label_studio.py` with `write_export`. It is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType
from typing import Literal

from multirater.errors import Fault, InputError

IMPORTS = {
    "coco": "COCO JSON: one file per rater, named after them, or a field `annotator`.",
    "label-studio": "Label Studio exports in the format JSON, with several annotators.",
    "cvat": "CVAT exports for images or video 1.1, one per rater, named after them.",
    "nnunet": "nnU-Net raw data sets: labelsTr_RATER folders, or one data set per rater.",
    "slicer": "3D Slicer segmentations, RATER/IMAGE.seg.nrrd.",
    "itk-snap": "ITK-SNAP label volumes, RATER/IMAGE.nii.gz, and its label descriptions.",
    "monailabel": "MONAI Label datastores; versions of labels are raters.",
    "qupath": "QuPath annotations, RATER/IMAGE.geojson.",
    "labelme": "labelme files, RATER/IMAGE.json.",
    "via": "VGG Image Annotator JSON, one file per rater.",
    "supervisely": "Supervisely projects, one folder per rater.",
    "mturk": "Amazon Mechanical Turk batch results (CSV).",
    "toloka": "Toloka assignments (TSV).",
    "prodigy": "Prodigy annotations (JSONL of db-out).",
    "doccano": "doccano annotations (JSONL), one file per annotator.",
}
"""Tools whose exports become data sets, and what to give."""

EXPORTS: dict[str, Literal["file", "folder"]] = {
    "coco": "file",
    "label-studio": "file",
    "cvat": "file",
    "nnunet": "folder",
    "slicer": "folder",
    "itk-snap": "folder",
    "monailabel": "folder",
    "qupath": "folder",
    "jsonl": "file",
    "csv": "file",
}
"""Tools that read what is written here, and what they take."""


def importer(name: str) -> ModuleType:
    """Return the module with a tool's `read_export`, or say which tools there are.

    Example:
        >>> importer("label-studio").__name__
        'multirater.io.importers.label_studio'
    """
    return _module("importers", name, IMPORTS)


def exporter(name: str) -> ModuleType:
    """Return the module with a tool's `write_export`, or say which tools there are."""
    return _module("exporters", name, EXPORTS)


def _module(folder: str, name: str, known: Mapping[str, str]) -> ModuleType:
    if name not in known:
        from multirater.words import did_you_mean  # which needs numpy

        raise InputError(
            Fault(
                f"unknown tool {name!r}{did_you_mean(name, known)}",
                expected=f"one of {', '.join(known)}",
            )
        )
    return import_module(f"multirater.io.{folder}.{name.replace('-', '_')}")
