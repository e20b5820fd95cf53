"""The ISBI 2015 longitudinal multiple sclerosis lesion challenge: 21 scans, two raters."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.formats.grid import size_text
from multirater.io.formats.images import image_shape
from multirater.io.importers.recipes.layout import find_nifti, require_folder
from multirater.io.importers.recipes.splits import split_patients
from multirater.io.new_folder import new_folder
from multirater.io.tables import manifest
from multirater.io.tables.dataset_tables import write_dataset_tables
from multirater.io.tables.manifest import IMAGE_SEPARATOR, Row
from multirater.progress import track
from multirater.types import Classes, LabelClass

CLASSES = Classes((LabelClass("background", "#000000"), LabelClass("lesion", "#e66100")))
MODALITIES = ("flair", "mprage", "pd", "t2")
"""In the order of the channels."""

N_RATERS = 2
SHARES = {"train": 10, "test": 11}
"""Scans for training and testing in Zhang 2020."""

_FILE = re.compile(rf"(?P<scan>[^.].*_\d+)_(?:(?:{'|'.join(MODALITIES)})_pp|mask\d)\.nii(?:\.gz)?")


def import_ms_lesion(
    source: str | Path,
    folder: str | Path,
    *,
    truth: int | None = None,
    seed: int = 0,
    overwrite: bool = False,
) -> Path:
    """Make a data set of the challenge's training scans, with the drawings of its two raters.

    Nothing is copied: the manifest points to the files. One case per scan, four channels (FLAIR,
    MPRAGE, PD, T2), volumes; train with `view="slices"` for axial slices. The scans of a patient
    are all in one split, `train` or `test`, in about the proportion of Zhang 2020 (10 to 11).

    Args:
        source: the folder `training`, or the one that holds it, with
            `trainingXX/preprocessed/trainingXX_TT_{flair,mprage,pd,t2}_pp.nii` and
            `trainingXX/masks/trainingXX_TT_mask{1,2}.nii`; each may be `.nii.gz`.
        folder: target.
        truth: the rater, 1 or 2, whose drawings are taken for the truth too, such as to simulate
            raters from; nobody's when not given.
        seed: draws the patients to test on.
        overwrite: replace a data set that is there already.

    Returns:
        The path of the manifest.

    Raises:
        InputError: with every file that is missing, damaged or of another size; nothing is written
            then.

    Example:
        >>> import_ms_lesion("isbi-2015/training", "ms")  # doctest: +SKIP
    """
    if truth is not None and not 1 <= truth <= N_RATERS:
        raise InputError(Fault(f"rater {truth} for the truth", expected=f"1 to {N_RATERS}"))
    root = _training_folder(Path(source))
    faults: list[Fault] = []
    scans = _find_scans(root, faults)
    for scan in track(scans, "checking scans", len(scans)):
        faults += _size_faults(scan)
    if faults:
        raise InputError(faults)
    splits = split_patients((scan.patient for scan in scans), SHARES, seed=seed)
    target = Path(folder)
    with new_folder(target, overwrite=overwrite, inputs=[root]) as temporary:
        rows = [row for scan in scans for row in _rows(scan, target, splits[scan.patient], truth)]
        write_dataset_tables(temporary, rows, CLASSES)
    return target / manifest.FILE_NAME


@dataclass(frozen=True)
class _Scan:
    """A scan whose files are all there."""

    name: str
    patient: str
    images: tuple[Path, ...]
    masks: tuple[Path, ...]


def _training_folder(source: Path) -> Path:
    require_folder(
        source, "the folder `training` of the challenge, with training01, training02, ..."
    )
    inner = source / "training"
    return inner if inner.is_dir() else source


def _find_scans(root: Path, faults: list[Fault]) -> list[_Scan]:
    """Find every scan of which there is any file, and what it lacks."""
    found = []
    n_named = 0
    for patient in sorted(path for path in root.iterdir() if path.is_dir()):
        inside = [*patient.glob("preprocessed/*"), *patient.glob("masks/*")]
        names = {match["scan"] for file in inside if (match := _FILE.fullmatch(file.name))}
        n_named += len(names)
        found += [_complete(patient, name, faults) for name in sorted(names)]
    if not n_named:
        raise InputError(
            Fault(
                "holds no scan of the challenge",
                expected="trainingXX/preprocessed/trainingXX_TT_flair_pp.nii and so on",
                fix="name the folder that holds training01, training02, ...",
                file=str(root),
            )
        )
    return [scan for scan in found if scan is not None]


def _complete(patient: Path, name: str, faults: list[Fault]) -> _Scan | None:
    images = [
        find_nifti(patient / "preprocessed", f"{name}_{modality}_pp", faults, case=name)
        for modality in MODALITIES
    ]
    masks = [
        find_nifti(
            patient / "masks", f"{name}_mask{number}", faults, case=name, rater=_rater(number)
        )
        for number in range(1, N_RATERS + 1)
    ]
    there = [tuple(file for file in files if file is not None) for files in (images, masks)]
    if len(there[0]) < len(images) or len(there[1]) < len(masks):
        return None
    return _Scan(name, patient.name, there[0], there[1])


def _rater(number: int) -> str:
    return f"rater {number}"


def _size_faults(scan: _Scan) -> list[Fault]:
    """Compare the headers: modalities lie on one grid, masks have its size."""
    try:
        space, _ = image_shape(scan.images)
        sizes = [image_shape(mask)[0] for mask in scan.masks]
    except InputError as error:
        return list(error.at(case=scan.name).faults)
    return [
        Fault(
            f"label has size {size_text(size)}",
            expected=f"{size_text(space)}, the size of the images",
            fix="unpack the data again",
            file=str(mask),
            case=scan.name,
            rater=_rater(number),
        )
        for number, (mask, size) in enumerate(zip(scan.masks, sizes, strict=True), start=1)
        if size != space
    ]


def _rows(scan: _Scan, target: Path, split: str, truth: int | None) -> list[Row]:
    image = _cell(scan.images, target)
    true = "" if truth is None else _cell([scan.masks[truth - 1]], target)
    return [
        Row(
            scan.name,
            image,
            _rater(number),
            _cell([mask], target),
            true,
            split,
            patient=scan.patient,
        )
        for number, mask in enumerate(scan.masks, start=1)
    ]


def _cell(files: Sequence[Path], target: Path) -> str:
    base = target.resolve()
    relative = (Path(os.path.relpath(file.resolve(), base)).as_posix() for file in files)
    return IMAGE_SEPARATOR.join(relative)
