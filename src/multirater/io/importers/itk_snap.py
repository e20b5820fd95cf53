"""ITK-SNAP's label volumes, `<rater>/<image>.nii.gz`, with its label description file (`.txt`).

A rater's folder holds the description, or it is one for all, given as a file or lying above. A file
without voxels found nothing; no file is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.importers.rater_folders import names_with, rater_files
from multirater.io.importers.work import Export, Task, Work
from multirater.io.itk_snap_labels import read_label_descriptions
from multirater.types import Classes

_VOLUMES = (".nii.gz", ".nii", ".nrrd", ".mha", ".mhd", ".png")
_DESCRIPTIONS = (".txt", ".label")


def read_export(sources: Sequence[Path], classes: Sequence[str] = ()) -> Export:
    """Read a folder of label volumes per rater."""
    described: list[Path] = []
    folders: list[Path] = []
    for source in sources:
        is_text = source.is_file() and source.suffix.lower() in _DESCRIPTIONS
        (described if is_text else folders).append(source)
        if source.is_dir():
            inside = (path for end in _DESCRIPTIONS for path in source.rglob(f"*{end}"))
            described += sorted(inside)
    if not described:
        raise InputError(
            Fault(
                "no label descriptions",
                expected="a .txt file that ITK-SNAP wrote",
                fix="in ITK-SNAP: Segmentation, Save Label Descriptions",
                file=", ".join(map(str, sources)),
            )
        )
    known = _agreed(described)
    tasks = [
        Task(
            file.name,
            names_with(name)[0],
            names_with(name)[1:],
            work={rater: Work(file.name, file=file)},
        )
        for rater, files in rater_files(folders, _VOLUMES).items()
        for name, file in files.items()
    ]
    return Export(known, tuple(tasks))


def _agreed(files: Sequence[Path]) -> Classes:
    first = read_label_descriptions(files[0])
    told = [(item.name, item.value) for item in first.items]
    for file in files[1:]:
        other = [(item.name, item.value) for item in read_label_descriptions(file).items]
        if other != told:
            raise InputError(
                Fault(
                    f"describes {other}",
                    expected=f"{told}, as {files[0]}",
                    fix="give all raters the same label descriptions",
                    file=str(file),
                )
            )
    return first
