"""LIDC-IDRI as in Zhang 2020: slices of 180 x 180 pixels of 1 mm around the nodules."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError, MultiraterWarning
from multirater.io.case_files import folders_of
from multirater.io.formats.images import write_image
from multirater.io.formats.labels import write_label
from multirater.io.importers.lidc.importing import CLASSES
from multirater.io.importers.lidc.nodules import patient_of
from multirater.io.importers.recipes.slice_grid import grid_around, resample_image, resample_labels
from multirater.io.importers.recipes.splits import split_patients
from multirater.io.naming import file_names
from multirater.io.new_folder import new_folder
from multirater.io.read import read_dataset
from multirater.io.tables import manifest
from multirater.io.tables.dataset_tables import write_dataset_tables
from multirater.io.tables.manifest import Row
from multirater.parallel import map_parallel
from multirater.progress import say
from multirater.types import MISSING, Case, Geometry, Image, LabelMap, Labels

SIZE = 180
"""Pixels of a slice along y and x."""

SPACING_MM = 1.0
AIR = -1000
"""Hounsfield units where the CT at hand ends."""

SHARES = {"train": 722, "val": 144, "test": 144}
"""Patients per split in Zhang 2020."""


def import_lidc_crops(
    source: str | Path,
    folder: str | Path,
    *,
    isotropic: bool = False,
    seed: int = 0,
    overwrite: bool = False,
    workers: int = 1,
) -> Path:
    """Cut the nodules of LIDC-IDRI into axial slices of 180 x 180 mm, one case per slice.

    Every slice that at least one reader drew on becomes a case; a reader who drew the nodule on
    other slices only has an empty mask there. The middle of the nodule is the middle of its slices.
    Where the CT at hand ends, the image is air and nothing is labelled. Splits are by patient, in
    the proportion of Zhang 2020.

    Args:
        source: a data set that `import_lidc` made with `ct`; nodules without image are left out.
            A `margin_mm` of 90 there covers the slices; with less, they are padded.
        folder: target.
        isotropic: resample to 1 mm between slices too; else only in plane, as in the paper.
        seed: draws the splits.
        overwrite: replace a data set that is there already.
        workers: number of processes.

    Returns:
        The path of the manifest.

    Raises:
        InputError: with every file that cannot be used, or because no nodule has an image; nothing
            is written then.

    Example:
        >>> import_lidc_crops("lidc", "lidc-crops")  # doctest: +SKIP
    """
    dataset = read_dataset(source)
    cases = _with_image(dataset.cases, source)
    patients = {case.name: patient_of(case.name) for case in cases}
    splits = split_patients(patients.values(), SHARES, seed=seed)
    names, raters = file_names(patients), file_names(dataset.raters)
    jobs = [
        _Job(case, names[case.name], raters, splits[patient], patient)
        for case, patient in zip(cases, patients.values(), strict=True)
    ]
    target = Path(folder)
    with new_folder(target, overwrite=overwrite, inputs=folders_of(dataset)) as temporary:
        write = partial(_write_nodule, folder=temporary, isotropic=isotropic)
        written = list(map_parallel(write, jobs, label="cutting nodules", workers=workers))
        _require_slices(written, source)
        rows = [row for each in written for row in each.rows]
        write_dataset_tables(temporary, rows, CLASSES)
    _report(written)
    return target / manifest.FILE_NAME


def _with_image(cases: Sequence[Case], source: str | Path) -> list[Case]:
    kept = [case for case in cases if case.image is not None and case.labels]
    say(f"{len(kept)} of {len(cases)} nodules have an image")
    if not kept:
        raise InputError(
            Fault(
                f"none of {len(cases)} cases has an image and a label",
                expected="nodules with their CT",
                fix="run `multirater import lidc` again with --ct, the folder of the CT series",
                file=str(source),
            )
        )
    return kept


@dataclass(frozen=True)
class _Job:
    case: Case
    file_name: str
    rater_folders: Mapping[str, str]
    split: str
    patient: str


@dataclass(frozen=True)
class _Written:
    """What was written of a nodule, or why nothing was."""

    rows: tuple[Row, ...] = ()
    is_padded: bool = False
    faults: tuple[Fault, ...] = ()


def _write_nodule(job: _Job, folder: Path, isotropic: bool) -> _Written:
    try:
        image, labels = _read(job.case)
    except InputError as error:
        return _Written(faults=error.at(case=job.case.name).faults)
    grid = grid_around(labels, size=SIZE, spacing_mm=SPACING_MM, isotropic=isotropic)
    if grid is None:
        return _Written()
    ct = np.rint(resample_image(image, grid, outside=AIR)).astype(np.int16)
    drawn = resample_labels(labels, grid)
    rows: list[Row] = []
    for index in np.flatnonzero((drawn > 0).any(axis=(0, 2, 3))).tolist():
        masks = dict(zip(labels.raters, drawn[:, index], strict=True))
        rows += _write_slice(job, index + 1, folder, ct[index], masks, grid.plane(index))
    return _Written(tuple(rows), is_padded=bool((drawn == MISSING).any()))


def _read(case: Case) -> tuple[Image, Labels]:
    image, labels = case.read_image(), case.read_labels()
    assert image is not None  # cases without were left out
    if image.geometry.ndim == 3 and len(image.array) == 1:
        return image, labels
    raise InputError(
        Fault(
            f"has {len(image.array)} channels and {image.geometry.ndim} axes of space",
            expected="a CT volume of one channel, as `multirater import lidc` writes it",
            fix="name the data set of `multirater import lidc`",
        )
    )


def _write_slice(
    job: _Job,
    number: int,
    folder: Path,
    ct: NDArray[np.int16],
    masks: Mapping[str, NDArray[np.int16]],
    geometry: Geometry,
) -> list[Row]:
    """Write image (y, x) and masks of a slice, and return its rows."""
    end = f"-slice-{number:03d}"
    file = f"{job.file_name}{end}.nii.gz"
    image_cell = f"images/{file}"
    write_image(Image(ct[None], geometry), folder / image_cell)
    rows = []
    for rater, mask in masks.items():
        cell = f"raters/{job.rater_folders[rater]}/{file}"
        write_label(LabelMap(mask, geometry), folder / cell, classes=CLASSES)
        name = f"{job.case.name}{end}"
        row = Row(name, image_cell, rater, cell, split=job.split, patient=job.patient)
        rows.append(row)
    return rows


def _require_slices(written: Sequence[_Written], source: str | Path) -> None:
    faults = [fault for each in written for fault in each.faults]
    if not faults and not any(each.rows for each in written):
        faults.append(
            Fault("no reader drew anything", expected="at least one nodule", file=str(source))
        )
    if faults:
        raise InputError(faults)


def _report(written: Sequence[_Written]) -> None:
    padded = sum(each.is_padded for each in written)
    if padded:
        warnings.warn(
            f"the images of {padded} of {len(written)} nodules do not cover {SIZE} x {SIZE} mm; "
            "beyond them slices are air and unlabelled. With margin_mm=90, `import_lidc` leaves "
            "only the ends of the scan",
            MultiraterWarning,
            stacklevel=3,
        )
