"""BraTS 2019: brain tumours on MR of four modalities, with the truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.formats.grid import size_text, steps_of
from multirater.io.formats.images import read_image
from multirater.io.formats.labels import read_label
from multirater.io.importers.recipes.layout import find_nifti, require_folder
from multirater.io.importers.recipes.splits import split_patients
from multirater.io.write import write_dataset
from multirater.types import Case, Classes, Dataset, Geometry, Image, LabelClass, LabelMap, Source

CLASSES = Classes(
    (
        LabelClass("background", "#000000", 0),
        LabelClass("necrotic and non-enhancing core", "#e66100", 1),
        LabelClass("oedema", "#1a85ff", 2),
        LabelClass("enhancing tumour", "#ffc20a", 4),
    )
)
"""With the values of BraTS files; there is no 3."""

MODALITIES = ("flair", "t1", "t1ce", "t2")
"""In the order of the channels."""

Grade = Literal["HGG", "LGG"]
GRADES: tuple[Grade, ...] = ("HGG", "LGG")
SIZE = 192
"""Pixels kept in plane, along y and x (Zhang 2020)."""

SHARES = {"train": 1600, "val": 300, "test": 500}
"""Slices per split in Zhang 2020, split by case."""


def import_brats(
    source: str | Path,
    folder: str | Path,
    *,
    grades: Sequence[Grade] = GRADES,
    seed: int = 0,
    overwrite: bool = False,
) -> Path:
    """Make a data set of BraTS 2019 with known truth and no raters.

    One case per patient: a volume (z, 192, 192) cut from the centre, four channels (FLAIR, T1,
    contrast-enhanced T1, T2). The truth holds class indices 0 to 3, the last for the files' 4. The
    splits `train`, `val` and `test` have the proportion of Zhang 2020, which used HGG only. Train
    with `view="slices"` for axial slices.

    Args:
        source: folder with `HGG/<case>/` and `LGG/<case>/`, each with
            `<case>_{flair,t1,t1ce,t2,seg}.nii.gz` (or `.nii`).
        folder: target.
        grades: which of the two to take; high grade is HGG.
        seed: draws the splits.
        overwrite: replace a data set that is there already.

    Returns:
        The path of the manifest.

    Raises:
        InputError: with every file that is missing, damaged, too small or of undeclared values;
            nothing is written then.

    Example:
        >>> import_brats("MICCAI_BraTS_2019_Data_Training", "brats", grades=["HGG"])
        ... # doctest: +SKIP
    """
    root = Path(source)
    require_folder(root, "the training data of BraTS 2019, with the folders HGG and LGG")
    faults: list[Fault] = []
    found = [case for grade in grades for case in _find_cases(root / grade, faults)]
    if faults:
        raise InputError(faults)
    splits = split_patients((case.name for case in found), SHARES, seed=seed)
    cases = tuple(replace(case, split=splits[case.name]) for case in found)
    dataset = Dataset(cases, (), "masks", CLASSES)
    return write_dataset(dataset, folder, suffix=".nii.gz", overwrite=overwrite)


def _find_cases(folder: Path, faults: list[Fault]) -> list[Case]:
    inside = sorted(path for path in folder.glob("[!.]*") if path.is_dir())
    if not inside:
        faults.append(
            Fault(
                "holds no case" if folder.is_dir() else "does not exist",
                expected=f"{folder.name}/<case>/<case>_flair.nii.gz and so on",
                fix="name the folder that holds HGG and LGG, or take one grade only",
                file=str(folder),
            )
        )
    return [case for path in inside if (case := _case(path, faults)) is not None]


def _case(folder: Path, faults: list[Fault]) -> Case | None:
    name = folder.name
    found = [find_nifti(folder, f"{name}_{each}", faults, case=name) for each in MODALITIES]
    images = tuple(file for file in found if file is not None)
    truth = find_nifti(folder, f"{name}_seg", faults, case=name, rater="(truth)")
    if truth is None or len(images) < len(MODALITIES):
        return None
    return Case(
        name,
        Source(partial(_read_image, images), images),
        truth=Source(partial(_read_truth, truth), (truth,)),
    )


def _read_image(paths: Sequence[Path]) -> Image:
    whole = read_image(paths)
    return Image(*_centre(whole.array, whole.geometry))


def _read_truth(path: Path) -> LabelMap:
    whole = read_label(path, classes=CLASSES)
    return LabelMap(*_centre(whole.array, whole.geometry), whole.rule)


def _centre(array: NDArray[Any], geometry: Geometry) -> tuple[NDArray[Any], Geometry]:
    """Cut (..., z, y, x) to its centre in plane, and keep it where it was in the world."""
    size = array.shape[-2:]
    if geometry.ndim != 3 or min(size) < SIZE:
        raise InputError(
            Fault(
                f"has size {size_text(array.shape[-geometry.ndim :])}",
                expected=f"a volume of at least {SIZE} x {SIZE} pixels in plane",
                fix="check that this is a case of BraTS 2019 (155 x 240 x 240)",
            )
        )
    top, left = ((length - SIZE) // 2 for length in size)
    origin = np.asarray(geometry.origin) + steps_of(geometry) @ [0, top, left]
    cut = array[..., top : top + SIZE, left : left + SIZE]
    return cut, replace(geometry, origin=tuple(origin.tolist()))
