"""The CT series that outlines were drawn on, found by their SeriesInstanceUID."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from pathlib import Path

import numpy as np

from multirater.errors import Fault, InputError
from multirater.extras import extra
from multirater.io.formats.dicom_series import make_stack, read_header
from multirater.io.formats.grid import geometry_from_steps, steps_of
from multirater.io.formats.guard import reading
from multirater.io.formats.images import read_image
from multirater.io.formats.suffixes import is_dicom_file
from multirater.io.importers.lidc.masks import Crop, extent_of
from multirater.io.importers.lidc.nodules import Nodule
from multirater.parallel import map_parallel
from multirater.types import Image

_POSITION = "ImagePositionPatient"
_TAGS = ["SeriesInstanceUID", _POSITION, "Rows"]


@dataclass(frozen=True)
class CtSlice:
    """One file of a series and the height of its slice, z in mm."""

    path: Path
    z: float


def index_series(
    folder: Path, wanted: Container[str], *, workers: int = 1
) -> dict[str, tuple[CtSlice, ...]]:
    """Find the slices of the wanted series in a folder and its subfolders, in any layout.

    Args:
        folder: with DICOM files, known by suffix or content; others are passed over.
        wanted: SeriesInstanceUIDs.
        workers: number of processes that read headers.
    """
    if not folder.is_dir():
        raise InputError(
            Fault(
                "is not a folder" if folder.exists() else "does not exist",
                expected="a folder with DICOM series",
                fix="name the folder of the CT scans",
                file=str(folder),
            )
        )
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.name[0] != ".")
    look = partial(_slice_at, wanted=wanted)
    found: dict[str, list[CtSlice]] = {}
    for hit in map_parallel(look, files, label="looking for CT series", workers=workers):
        if hit is not None:
            series, ct_slice = hit
            found.setdefault(series, []).append(ct_slice)
    return {series: tuple(slices) for series, slices in found.items()}


def _slice_at(file: Path, wanted: Container[str]) -> tuple[str, CtSlice] | None:
    """Return series and height of a file of a wanted series; None for all other files."""
    if not is_dicom_file(file):
        return None
    with extra():
        import pydicom
    try:
        with reading(file, "DICOM"):
            header = pydicom.dcmread(file, stop_before_pixels=True, specific_tags=_TAGS)
            series, position = str(header.get("SeriesInstanceUID", "")), header.get(_POSITION)
            if series in wanted and position and "Rows" in header:
                return series, CtSlice(file, float(position[2]))
    except InputError:
        # Of no series that can be known; if it was a slice, the gap it leaves is found later.
        return None
    return None


def crop_ct(slices: Sequence[CtSlice], nodule: Nodule, margin_mm: float) -> tuple[Crop, Image]:
    """Read the part of a series around a nodule: Hounsfield units as (1, z, y, x).

    Only the slices that are needed are read. The margin ends where the series ends.

    Raises:
        InputError: a slice is damaged, doubled or missing.
    """
    extent = extent_of(nodule)
    low, high = extent.heights[0] - margin_mm, extent.heights[1] + margin_mm
    near = [each.path for each in slices if low - 1e-3 <= each.z <= high + 1e-3]
    if not near:
        raise InputError(
            Fault(
                f"has no slice from z = {low:g} to {high:g} mm",
                expected="the slices with the outlines",
                fix="get the missing slices of the series",
                file=str(slices[0].path.parent),
            )
        )
    stack = make_stack(near[0].parent, {path: read_header(path) for path in near})
    _, *pixel = stack.geometry.spacing
    bounds = [
        (max(first - ceil(margin_mm / mm), 0), min(last + ceil(margin_mm / mm) + 1, size))
        for (first, last), mm, size in zip(
            (extent.rows, extent.columns), pixel, stack.space[1:], strict=True
        )
    ]
    (top, bottom), (left, right) = bounds
    steps = steps_of(stack.geometry)
    origin = np.asarray(stack.geometry.origin) + steps @ [0, top, left]
    heights = np.array([float(header.ImagePositionPatient[2]) for header in stack.headers])
    geometry = geometry_from_steps(steps, origin)
    crop = Crop(heights, (top, left), (bottom - top, right - left), geometry)
    pixels = [read_image(path, ndim=3).array[..., top:bottom, left:right] for path in stack.paths]
    return crop, Image(np.concatenate(pixels, axis=1), geometry)
