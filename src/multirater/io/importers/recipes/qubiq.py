"""QUBIQ 2020 and 2021: small studies that several raters drew, from its folders of tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.formats.images import read_image
from multirater.io.formats.labels import read_label
from multirater.io.importers.recipes.layout import NIFTI, find_nifti, require_folder
from multirater.io.write import write_dataset
from multirater.types import Case, Classes, Dataset, Geometry, Image, LabelClass, LabelMap, Source

TASKS = ("brain-growth", "brain-tumor", "kidney", "pancreas", "pancreatic-lesion", "prostate")
"""Folders of the tasks."""

SPLITS = {"training": "train", "validation": "test", "testing": "test", "test": "test"}
"""Folders of a task, and what they become. Only training and validation are public."""

_LABEL = re.compile(r"task(?P<structure>\d+)_seg(?P<rater>\d+)\.nii(\.gz)?")


def import_qubiq(
    source: str | Path,
    folder: str | Path,
    *,
    task: str = "brain-growth",
    structure: int = 1,
    overwrite: bool = False,
) -> Path:
    """Make a data set of one task of QUBIQ, with the labels of its raters and no truth.

    Images of one slice become 2-D; where an image has more slices than its labels, as the four
    modalities of brain-tumor, they are channels. Training cases are the split `train`, validation
    cases `test`.

    Args:
        source: folder with `<task>/{Training,Validation}/<case>/image.nii.gz` and
            `task<structure>_seg<rater>.nii.gz`; or several such folders in it, as training and
            validation data are published apart.
        folder: target.
        task: folder of the task.
        structure: which of the task's structures, from 1.
        overwrite: replace a data set that is there already.

    Returns:
        The path of the manifest.

    Raises:
        InputError: with every file that is missing or does not fit; nothing is written then.

    Example:
        >>> import_qubiq("QUBIQ", "prostate-2", task="prostate", structure=2)  # doctest: +SKIP
    """
    root = Path(source)
    require_folder(root, f"the data of QUBIQ, with a folder such as {task}/Training")
    faults: list[Fault] = []
    found = [
        case
        for path, split in _case_folders(root, task)
        if (case := _case(path, split, structure, faults)) is not None
    ]
    if not found and not faults:
        faults.append(_nothing(root, task, structure))
    if faults:
        raise InputError(faults)
    raters = tuple(sorted({rater for case in found for rater in case.labels}))
    classes = Classes((LabelClass("background", "#000000", 0), LabelClass(task, "#e66100", 1)))
    dataset = Dataset(tuple(found), raters, "masks", classes)
    return write_dataset(dataset, folder, suffix=".nii.gz", overwrite=overwrite)


def _case_folders(root: Path, task: str) -> Iterator[tuple[Path, str]]:
    """Yield the folders of the task's cases with their split, however deep the task lies."""
    tasks = sorted({*([root] if root.name == task else []), *root.glob(f"**/{task}")})
    for inside in (path for path in tasks if path.is_dir()):
        for part in sorted(path for path in inside.iterdir() if path.is_dir()):
            if part.name.lower() in SPLITS:
                for case in sorted(path for path in part.glob("[!.]*") if path.is_dir()):
                    yield case, SPLITS[part.name.lower()]


def _case(folder: Path, split: str, structure: int, faults: list[Fault]) -> Case | None:
    name = f"{split}-{folder.name}"
    drawn = {
        f"rater {int(match['rater'])}": file
        for file in sorted(folder.iterdir())
        if (match := _LABEL.fullmatch(file.name)) and int(match["structure"]) == structure
    }
    if not drawn:
        return None
    image = find_nifti(folder, "image", faults, case=name)
    if image is None:
        return None
    first = next(iter(drawn.values()))
    labels = {
        rater: Source(partial(_read_label, file, image), (file,)) for rater, file in drawn.items()
    }
    return Case(name, Source(partial(_read_image, image, first), (image,)), labels, split=split)


def _read_image(path: Path, label: Path) -> Image:
    """Read an image; along the axis on which its labels have one slice it has channels."""
    image, drawn = read_image(path), read_label(label).array
    flat = _flat_axis(drawn)
    if flat is None or image.geometry.ndim == 2:
        return image
    slices = np.moveaxis(image.array, 1 + flat, 1)
    return Image(slices.reshape(-1, *slices.shape[2:]), _plane(image.geometry, flat))


def _read_label(path: Path, image: Path) -> LabelMap:
    """Read a label, on the grid of its image: not all label files say where they lie."""
    label, geometry = read_label(path), read_image(image).geometry
    array: NDArray[Any] = (label.array > 0).astype(np.int16)
    flat = _flat_axis(array)
    if flat is None or geometry.ndim == 2:
        return LabelMap(array, geometry, label.rule)
    return LabelMap(array.take(0, axis=flat), _plane(geometry, flat), label.rule)


def _flat_axis(label: NDArray[Any]) -> int | None:
    """Return the axis of a volume along which it has one slice."""
    return label.shape.index(1) if label.ndim == 3 and 1 in label.shape else None


def _plane(geometry: Geometry, flat: int) -> Geometry:
    """Return the grid of a slice; where it lies in the scanner is not kept."""
    spacing = tuple(each for axis, each in enumerate(geometry.spacing) if axis != flat)
    return replace(Geometry.default(2), spacing=spacing)


def _nothing(root: Path, task: str, structure: int) -> Fault:
    suffix = NIFTI[0]
    return Fault(
        f"holds no label of structure {structure} of {task}",
        expected=f"{task}/Training/<case>/task{structure:02d}_seg01{suffix} and so on",
        fix=f"name the folder that holds {task}, or another task ({', '.join(TASKS)}) or structure",
        file=str(root),
    )
