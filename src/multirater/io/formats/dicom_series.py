"""Which DICOM files make up one image, in which order, and where their voxels lie.

Only headers are read here, by pydicom.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.extras import extra
from multirater.io.formats.claims import inflated_size, require_room, room_for
from multirater.io.formats.dicom_frames import bits_of_frame
from multirater.io.formats.grid import geometry_from_steps, size_text
from multirater.io.formats.guard import reading
from multirater.io.formats.suffixes import is_dicom_file, is_image_file
from multirater.types import Geometry

SEGMENTATIONS = ("1.2.840.10008.5.1.4.1.1.66.4", "1.2.840.10008.5.1.4.1.1.66.7")
"""The SOP classes of DICOM-SEG: Segmentation Storage, Label Map Segmentation Storage."""

_DEFLATED = "1.2.840.10008.1.2.1.99"
"""Transfer syntax of files that are packed as a whole."""

_COPIES = 3
"""Times that such a file is held while it is read: unpacked, as elements, and as pixels."""

_LEAST_FRAME = 8
"""Bytes that a packed frame takes, if it were empty."""

UNEVEN = 0.1
"""How far a slice may be from its place in an even stack, as a part of the distance of slices."""


@dataclass(frozen=True, eq=False)
class Stack:
    """The slices of one image, from the lowest along their normal to the highest.

    Attributes:
        paths: the files, in the order of the slices; one file if it holds all frames.
        headers: their headers, without pixels.
        frames: for a file of many frames, the frame of each slice.
        space: size (z, y, x).
        geometry: 3-D, in LPS mm.
        is_flat: a single picture, 2-D unless asked otherwise.
    """

    paths: tuple[Path, ...]
    headers: tuple[Any, ...]
    frames: tuple[int, ...]
    space: tuple[int, ...]
    geometry: Geometry
    is_flat: bool


def read_header(path: Path) -> Any:
    """Read the header of a DICOM file, also of one without the preamble of part 10."""
    with extra():
        import pydicom
    with reading(path, "DICOM"):
        _require_small_enough(path)
        header = pydicom.dcmread(path, stop_before_pixels=True, force=True)
        if "SOPClassUID" not in header and "Rows" not in header:
            raise ValueError("it has no DICOM header")
        return header


def _require_small_enough(path: Path) -> None:
    """Refuse a deflated file that unpacks to too much: pydicom would unpack all of it at once."""
    from pydicom.filereader import read_file_meta_info

    with path.open("rb") as stream:
        if stream.read(132)[128:] != b"DICM":
            return
        # `read_partial` would unpack the file before it looks at anything.
        meta = read_file_meta_info(path)
        if str(meta.get("TransferSyntaxUID", "")) != _DEFLATED:
            return
        stream.seek(_start_of_deflated(path))
        require_room(_COPIES * inflated_size(stream, room_for(path) // _COPIES), path)


def is_segmentation(header: Any) -> bool:
    """Whether the header is that of a DICOM-SEG file."""
    return str(header.get("SOPClassUID", "")) in SEGMENTATIONS


def find_headers(path: Path) -> dict[Path, Any]:
    """Return the headers of a file, or of those files in a folder that have pixels."""
    if path.is_file():
        return {path: read_header(path)}
    files = sorted(file for file in path.iterdir() if is_image_file(file) and is_dicom_file(file))
    headers = {file: read_header(file) for file in files}
    return {file: header for file, header in headers.items() if "Rows" in header}


def make_stack(path: Path, headers: dict[Path, Any]) -> Stack:
    """Find the image among the files of `path`, a DICOM file or a folder with one series."""
    images = {file: header for file, header in headers.items() if not is_segmentation(header)}
    with reading(path, "DICOM"):
        _require_one_series(images)
        return _stack_of(images)


def _require_one_series(headers: dict[Path, Any]) -> None:
    series: dict[str, list[Any]] = {}
    for header in headers.values():
        series.setdefault(str(header.get("SeriesInstanceUID", "")), []).append(header)
    if len(series) == 1:
        return
    listed = "; ".join(
        f"{uid} ({group[0].get('SeriesDescription') or 'no description'}, {len(group)} files)"
        for uid, group in series.items()
    )
    raise InputError(
        Fault(
            f"holds {len(series)} DICOM series: {listed or 'none with pixels'}",
            expected="the slices of one series",
            fix="put each series in a folder of its own",
        )
    )


def _stack_of(headers: dict[Path, Any]) -> Stack:
    for path, header in headers.items():
        with reading(path, "DICOM"):
            require_sizes(header, path)
    if any(_n_frames(header) > 1 for header in headers.values()):
        return _frames_of_one_file(headers)
    return _single_frames(headers)


def require_sizes(header: Any, path: Path) -> None:
    """Refuse a file without pixels, with fewer than its header claims, or more than there is room.

    Raises:
        InputError: there are no pixels, or too many.
        ValueError: they are not all there.
    """
    sides = [int(header.get(name) or 0) for name in ("Rows", "Columns")]
    if min(sides) < 1:
        raise InputError(
            Fault(
                f"is a DICOM file without pixels ({header.get('Modality', 'no modality')})",
                expected="an image",
                fix="name the image's file or folder",
            )
        )
    n_bytes = _n_frames(header) * bits_of_frame(header) // 8
    require_room(n_bytes, path)
    syntax = _syntax(header)
    is_packed = syntax is not None and syntax.is_compressed
    least = _n_frames(header) * _LEAST_FRAME if is_packed else n_bytes
    n_there = _unpacked_size(path, syntax, least)
    if n_there < least:
        raise ValueError(f"it is truncated: {n_there} of at least {least} bytes")


def _syntax(header: Any) -> Any:
    """Return how the file is written, None if it does not say."""
    meta = getattr(header, "file_meta", None)
    return None if meta is None else meta.get("TransferSyntaxUID")


def _unpacked_size(path: Path, syntax: Any, most: int) -> int:
    """Return the size of a file; of one that is packed as a whole, what it unpacks to."""
    if syntax != _DEFLATED:
        return path.stat().st_size
    with path.open("rb") as stream:
        stream.seek(_start_of_deflated(path))
        return inflated_size(stream, most)


def _start_of_deflated(path: Path) -> int:
    from pydicom.filereader import read_file_meta_info

    return 144 + int(read_file_meta_info(path).get("FileMetaInformationGroupLength", 0))


def _n_frames(header: Any) -> int:
    n_frames = int(header.get("NumberOfFrames") or 1)
    if n_frames < 1:
        raise ValueError(f"it has {n_frames} frames")
    return n_frames


def _single_frames(headers: dict[Path, Any]) -> Stack:
    paths, planes = list(headers), [_Plane.of(header, header) for header in headers.values()]
    order, geometry = _stacked(planes, [path.name for path in paths])
    first = planes[0]
    return Stack(
        tuple(paths[i] for i in order),
        tuple(headers[paths[i]] for i in order),
        (0,) * len(order),
        (len(order), first.rows, first.columns),
        geometry,
        is_flat=len(order) == 1,
    )


def _frames_of_one_file(headers: dict[Path, Any]) -> Stack:
    if len(headers) > 1:
        raise InputError(
            Fault(
                f"holds {len(headers)} files of one series, some with many frames",
                expected="one file with all frames, or one file per slice",
                fix="name the one file",
            )
        )
    ((path, header),) = headers.items()
    n_frames = _n_frames(header)
    planes = [_Plane.of_frame(header, frame) for frame in range(n_frames)]
    order: Sequence[int] = range(n_frames)
    if any(plane.position is None for plane in planes):
        geometry = _pile(planes[0])
    else:
        order, geometry = _stacked(planes, [f"frame {i + 1}" for i in range(n_frames)])
    space = (n_frames, planes[0].rows, planes[0].columns)
    return Stack((path,), (header,), tuple(order), space, geometry, is_flat=False)


@dataclass(frozen=True, eq=False)
class _Plane:
    """One slice: its size, its spacing (y, x) in mm, and where it lies if that is stated."""

    rows: int
    columns: int
    samples: int
    spacing: tuple[float, float]
    thickness: float
    orientation: NDArray[np.float64]
    position: NDArray[np.float64] | None

    @staticmethod
    def of(header: Any, place: Any, measures: Any = None, turned: Any = None) -> _Plane:
        measures = header if measures is None else measures
        spacing = _first_of(measures, "PixelSpacing", "ImagerPixelSpacing") or (1.0, 1.0)
        if min(float(each) for each in spacing) < 0:
            raise ValueError(f"it has pixels of {spacing[0]} by {spacing[1]} mm")
        thickness = _first_of(measures, "SpacingBetweenSlices", "SliceThickness") or 1.0
        orientation = (header if turned is None else turned).get("ImageOrientationPatient")
        position = place.get("ImagePositionPatient")
        return _Plane(
            int(header.Rows),
            int(header.Columns),
            int(header.get("SamplesPerPixel") or 1),
            (float(spacing[0]), float(spacing[1])),
            abs(float(thickness)) or 1.0,
            np.asarray(orientation or (1, 0, 0, 0, 1, 0), dtype=float),
            None if not position else np.asarray(position, dtype=float),
        )

    @staticmethod
    def of_frame(header: Any, frame: int) -> _Plane:
        def group(name: str) -> Any:
            return functional_group(header, frame, name)

        return _Plane.of(
            header,
            group("PlanePositionSequence") or {},
            group("PixelMeasuresSequence"),
            group("PlaneOrientationSequence"),
        )

    @property
    def normal(self) -> NDArray[np.float64]:
        return np.cross(self.orientation[:3], self.orientation[3:])

    def steps(self, between: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the step vectors of a stack of such slices, `between` apart."""
        down, right = self.orientation[3:] * self.spacing[0], self.orientation[:3] * self.spacing[1]
        return np.stack([between, down, right], axis=1)


def functional_group(header: Any, frame: int, name: str) -> Any:
    """Return what a multi-frame file says of one frame, of all frames, or None."""
    per_frame = header.get("PerFrameFunctionalGroupsSequence")
    shared = header.get("SharedFunctionalGroupsSequence")
    for groups, index in ((per_frame, frame), (shared, 0)):
        if groups and name in groups[index]:
            return groups[index][name].value[0]
    return None


def _first_of(header: Any, *names: str) -> Any:
    return next((header.get(name) for name in names if header.get(name)), None)


def _pile(plane: _Plane) -> Geometry:
    """Frames that say nothing of their place (a film): a pile along the normal."""
    return geometry_from_steps(plane.steps(plane.normal * plane.thickness), np.zeros(3))


def _stacked(planes: Sequence[_Plane], names: Sequence[str]) -> tuple[list[int], Geometry]:
    """Sort slices along their normal; return their order and the geometry of the stack."""
    first = planes[0]
    if len(planes) == 1 and first.position is None:
        return [0], _pile(first)
    for plane, name in zip(planes, names, strict=True):
        _require_like(plane, first, name, names[0])
    positions = np.stack([np.asarray(plane.position) for plane in planes])
    heights = positions @ first.normal
    order = np.argsort(heights, kind="stable").tolist()
    if len(planes) == 1:
        return order, geometry_from_steps(first.steps(first.normal * first.thickness), positions[0])
    between = (positions[order[-1]] - positions[order[0]]) / (len(order) - 1)
    sorted_names = [names[i] for i in order]
    _require_even(heights[order], sorted_names)
    across = positions - np.outer(heights, first.normal)
    _require_straight(across[order], min(first.spacing) / 2, sorted_names)
    return order, geometry_from_steps(first.steps(between), positions[order[0]])


def _require_like(plane: _Plane, first: _Plane, name: str, first_name: str) -> None:
    if plane.position is None:
        found = f"slice {name} does not say where it lies"
    elif (plane.rows, plane.columns) != (first.rows, first.columns):
        found = f"slice {name} has size {size_text((plane.rows, plane.columns))}"
    elif plane.samples != first.samples:
        found = f"slice {name} has {plane.samples} values at each pixel, not {first.samples}"
    elif not np.allclose(plane.orientation, first.orientation, atol=1e-3):
        found = f"slice {name} is turned otherwise: {plane.orientation.tolist()}"
    elif not np.allclose(plane.spacing, first.spacing, rtol=1e-3):
        found = f"slice {name} has pixel spacing {plane.spacing}"
    else:
        return
    raise InputError(
        Fault(
            found,
            expected=f"ImagePositionPatient, and the size, orientation "
            f"{first.orientation.tolist()} and spacing {first.spacing} of {first_name}",
            fix="keep only the slices of one stack in the folder",
        )
    )


def _require_straight(positions: NDArray[np.float64], most: float, names: Sequence[str]) -> None:
    """Refuse slices that lie beside the line of the others, as of a scan in several parts.

    Args:
        positions: from the first slice to the last, without their heights, (n_slices, 3) in mm.
        most: millimetres that a slice may lie beside it.
        names: of the slices.
    """
    line = np.linspace(positions[0], positions[-1], len(positions))
    beside = np.linalg.norm(positions - line, axis=1)
    worst = int(beside.argmax())
    if beside[worst] <= most:
        return
    raise InputError(
        Fault(
            f"slice {names[worst]} lies {beside[worst]:g} mm beside the line from {names[0]} to "
            f"{names[-1]}",
            expected="slices right above each other, or shifted evenly as of a tilted scanner",
            fix="split the series into one volume per folder, or resample the volume",
        )
    )


def _require_even(heights: NDArray[np.float64], names: Sequence[str]) -> None:
    even = np.linspace(heights[0], heights[-1], len(heights))
    gap = (heights[-1] - heights[0]) / (len(heights) - 1)
    gaps = np.diff(heights)
    if gap > 0 and np.abs(heights - even).max() <= UNEVEN * gap:
        return
    doubled = gaps.min() <= UNEVEN * gap
    worst = int(gaps.argmin() if doubled else gaps.argmax())
    raise InputError(
        Fault(
            f"slices {names[worst]} and {names[worst + 1]} are {gaps[worst]:g} mm apart, "
            f"the slices on average {gap:g} mm",
            expected="one slice at each place, evenly spaced",
            fix="split the series into one volume per folder"
            if doubled
            else "add the missing slices, or resample the volume",
        )
    )
