"""NRRD (.nrrd, .nhdr in) and MetaImage (.mha, .mhd) by SimpleITK.

The components of a vector image are its channels, and so is a fourth axis. An `.mhd` file is
written whole, header and data in one file as in `.mha`, so that it cannot be left with half of its
parts; ITK reads both alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.extras import extra
from multirater.io.formats.grid import (
    GridShape,
    fit_image,
    fit_ndim,
    geometry_from_steps,
    size_text,
)
from multirater.io.formats.guard import cannot_hold, reading
from multirater.io.formats.itk_headers import require_honest, require_honest_header
from multirater.io.formats.suffixes import suffix_of
from multirater.types import Geometry, Image

with extra():
    import SimpleITK as sitk  # noqa: N813

_INTEGERS = tuple(f"{kind}{size}" for kind in ("int", "uint") for size in (8, 16, 32, 64))
_HOLDS = (*_INTEGERS, "float32", "float64")


@contextmanager
def quiet() -> Iterator[None]:
    """Keep ITK's own warnings off the terminal; faults are told as errors."""
    before = sitk.ProcessObject.GetGlobalWarningDisplay()
    sitk.ProcessObject.SetGlobalWarningDisplay(False)
    try:
        yield
    finally:
        sitk.ProcessObject.SetGlobalWarningDisplay(before)


def read(path: Path, ndim: int | None, *, as_labels: bool = False) -> Image:
    """Read an NRRD or MetaImage file as (channels, *space)."""
    with reading(path, _kind(path)), quiet():
        require_honest(path, is_nrrd=_kind(path) == "NRRD")
        file = sitk.ReadImage(str(path), imageIO=_reader(path))
        space, geometry = _grid(file)
        values = sitk.GetArrayFromImage(file)
        if file.GetNumberOfComponentsPerPixel() > 1:
            values = np.moveaxis(values, -1, 0)
        return fit_image(values.reshape(-1, *space), geometry, ndim)


def shape(path: Path, ndim: int | None) -> GridShape:
    """Return size and geometry from the header alone."""
    with reading(path, _kind(path)), quiet():
        require_honest_header(path, is_nrrd=_kind(path) == "NRRD")
        header = sitk.ImageFileReader()
        header.SetImageIO(_reader(path))
        header.SetFileName(str(path))
        header.ReadImageInformation()
        return fit_ndim(*_grid(header), ndim)


def write(image: Image, path: Path) -> None:
    """Write NRRD or MetaImage, compressed."""
    if image.array.dtype.name not in _HOLDS:
        raise cannot_hold(f"values of type {image.array.dtype}", _kind(path), (".npz", ".tif"))
    whole = path.with_suffix(".mha") if suffix_of(path) == ".mhd" else path
    try:
        with quiet():
            sitk.WriteImage(as_itk(image), str(whole), useCompression=True)
        whole.replace(path)
    finally:
        if whole != path:
            whole.unlink(missing_ok=True)


def as_itk(image: Image) -> Any:
    """Return the image as a SimpleITK image, a vector image if it has several channels."""
    several = image.array.shape[0] > 1
    values = np.moveaxis(image.array, 0, -1) if several else image.array[0]
    file = sitk.GetImageFromArray(np.ascontiguousarray(values), isVector=several)
    file.SetSpacing(image.geometry.spacing[::-1])
    file.SetOrigin(image.geometry.origin)
    file.SetDirection(np.asarray(image.geometry.direction)[:, ::-1].ravel().tolist())
    return file


def _kind(path: Path) -> str:
    return "NRRD" if suffix_of(path) in (".nrrd", ".nhdr") else "MetaImage"


def _reader(path: Path) -> str:
    """Name ITK's reader, which would otherwise take any format it finds inside."""
    return "NrrdImageIO" if _kind(path) == "NRRD" else "MetaImageIO"


def _grid(file: Any) -> GridShape:
    """Return the grid of a SimpleITK image or of the header of one; a fourth axis is no space."""
    size, n_axes = file.GetSize(), file.GetDimension()
    if n_axes not in (2, 3, 4) or 0 in size:
        raise InputError(
            Fault(
                f"has size {size_text(size)}",
                expected="2 or 3 axes of space and at most one of channels",
                fix="save one image per file",
            )
        )
    ndim = min(n_axes, 3)
    directions = np.asarray(file.GetDirection(), dtype=float).reshape(n_axes, n_axes)
    steps: NDArray[np.float64] = directions[:ndim, :ndim] * np.asarray(file.GetSpacing()[:ndim])
    geometry: Geometry = geometry_from_steps(steps[:, ::-1], file.GetOrigin()[:ndim])
    return size[:ndim][::-1], geometry
