"""DICOM images in: a series of slices, or a single file.

Pixels come from GDCM (by SimpleITK), with rescale slope and intercept applied slice by slice and
palettes turned into colours; MONOCHROME1 is inverted, so that larger is brighter. Labels come from
pydicom as stored. A file with one frame is a 2-D image unless `ndim` says 3; a folder is a volume.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.extras import extra
from multirater.io.formats.dicom_frames import require_honest_frames
from multirater.io.formats.dicom_series import (
    Stack,
    find_headers,
    functional_group,
    is_segmentation,
    make_stack,
)
from multirater.io.formats.grid import GridShape, fit_image, fit_ndim
from multirater.io.formats.guard import reading
from multirater.types import Image

with extra():
    import pydicom


def read(path: Path, ndim: int | None, *, as_labels: bool = False) -> Image:
    """Read a DICOM file, or a folder with one series, as (channels, *space)."""
    headers = find_headers(path)
    segmentation = _find_segmentation(path, headers, as_labels)
    if segmentation is not None:
        return _read_segmentation(segmentation, ndim)
    stack = make_stack(path, headers)
    parts = zip(stack.paths, stack.headers, strict=True)
    frames = _together([_frames(file, header, as_labels) for file, header in parts], stack.paths)
    if len(stack.paths) == 1:
        frames = frames[list(stack.frames)]
    with reading(path, "DICOM"):
        return fit_image(np.moveaxis(frames, -1, 0), stack.geometry, _ndim(stack, path, ndim))


def shape(path: Path, ndim: int | None) -> GridShape:
    """Return size and geometry from the headers alone; of DICOM-SEG, from the frames."""
    headers = find_headers(path)
    segmentation = _find_segmentation(path, headers, as_labels=False)
    if segmentation is not None:
        image = _read_segmentation(segmentation, ndim)
        return image.space, image.geometry
    stack = make_stack(path, headers)
    with reading(path, "DICOM"):
        return fit_ndim(stack.space, stack.geometry, _ndim(stack, path, ndim))


def _ndim(stack: Stack, path: Path, ndim: int | None) -> int | None:
    return 2 if ndim is None and stack.is_flat and path.is_file() else ndim


def _find_segmentation(path: Path, headers: dict[Path, Any], as_labels: bool) -> Path | None:
    """Return the DICOM-SEG file that `path` stands for, if it does.

    A folder stands for the segmentation in it when labels are wanted or nothing else is there.
    """
    found = [file for file, header in headers.items() if is_segmentation(header)]
    if not found or (len(found) < len(headers) and not as_labels):
        return None
    if len(found) > 1:
        raise InputError(
            Fault(
                f"holds {len(found)} segmentations: {', '.join(file.name for file in found)}",
                expected="one",
                fix="name the one file",
                file=str(path),
            )
        )
    return found[0]


def _read_segmentation(path: Path, ndim: int | None) -> Image:
    from multirater.io.formats.dicom_seg import read_dicom_seg

    image = read_dicom_seg(path)
    with reading(path, "DICOM-SEG"):
        return fit_image(image.array, image.geometry, ndim)


def _frames(path: Path, header: Any, as_labels: bool) -> NDArray[Any]:
    """Return the frames of a file as (frames, y, x, channels)."""
    with reading(path, "DICOM"):
        require_honest_frames(path, header)
        if as_labels:
            values = _stored(path, header)
        else:
            values = _rescaled(path)
            _require_one_rescale(header)
            _require_no_table(header)
        n_frames = int(header.get("NumberOfFrames") or 1)
        return values.reshape(n_frames, int(header.Rows), int(header.Columns), -1)


def _together(frames: Sequence[NDArray[Any]], paths: Sequence[Path]) -> NDArray[Any]:
    """Return the frames of all files as one; grey slices and those of palettes are no volume."""
    for found, path in zip(frames, paths, strict=True):
        if found.shape[-1] != frames[0].shape[-1]:
            raise InputError(
                Fault(
                    f"slice {path.name} has {found.shape[-1]} values at each pixel, not "
                    f"{frames[0].shape[-1]}",
                    expected=f"slices that are all like {paths[0].name}",
                    fix="keep only the slices of one stack in the folder",
                    file=str(path.parent),
                )
            )
    return np.concatenate(frames)


def _stored(path: Path, header: Any) -> NDArray[Any]:
    """Return pixels as stored, whose bits must be the lowest ones, as pydicom takes for granted."""
    n_bits, highest = (int(header.get(name, 0)) for name in ("BitsStored", "HighBit"))
    if highest != n_bits - 1 and "HighBit" in header:
        raise ValueError(f"it stores {n_bits} bits of which the highest is bit {highest}")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*excess padding")
        warnings.filterwarnings("error", "The decoded RLE segment")  # damage, cut off in silence
        values: NDArray[Any] = pydicom.dcmread(path, force=True).pixel_array
    return values


def _rescaled(path: Path) -> NDArray[Any]:
    import SimpleITK as sitk  # noqa: N813

    from multirater.io.formats.itk import quiet

    with quiet():
        file = sitk.ReadImage(str(path), imageIO="GDCMImageIO")
    values: NDArray[Any] = sitk.GetArrayFromImage(file)
    return values


def _require_no_table(header: Any) -> None:
    """Refuse a table in the place of slope and intercept, which GDCM does not apply."""
    if header.get("ModalityLUTSequence"):
        raise InputError(
            Fault(
                "a table that turns stored values into units (Modality LUT)",
                expected="a rescale slope and intercept, or neither",
                fix="convert the file to NIfTI or NRRD by a program that applies the table",
            )
        )


def _require_one_rescale(header: Any) -> None:
    """Refuse frames with scales of their own, of which GDCM would apply the first to all."""
    scales = set()
    for frame in range(int(header.get("NumberOfFrames") or 1)):
        group = functional_group(header, frame, "PixelValueTransformationSequence")
        if group is not None:
            scales.add((float(group.RescaleSlope), float(group.RescaleIntercept)))
    if len(scales) > 1:
        raise InputError(
            Fault(
                f"scales its frames in {len(scales)} ways",
                expected="one rescale slope and intercept",
                fix="convert the file to NIfTI or NRRD first",
            )
        )
