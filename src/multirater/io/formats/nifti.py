"""NIfTI (.nii, .nii.gz) by nibabel.

NIfTI stores (x, y, z, t, v) in a right-anterior-superior world; here arrays are (channels, z, y, x)
in LPS. A fourth axis holds channels, and so does a fifth (vectors, as ITK writes them). Where a
file states no world at all (both form codes zero), its voxel sizes are used and the rest is the
default.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
from nibabel.imageglobals import logger
from nibabel.openers import ImageOpener
from numpy.lib.recfunctions import structured_to_unstructured
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.formats.claims import require_room, unpacked_gzip
from multirater.io.formats.grid import (
    GridShape,
    fit_image,
    fit_ndim,
    geometry_from_steps,
    lifted,
    size_text,
    steps_of,
)
from multirater.io.formats.guard import cannot_hold, reading
from multirater.io.formats.nifti_start import require_sound_start
from multirater.types import Geometry, Image

_INTEGERS = tuple(f"{kind}{size}" for kind in ("int", "uint") for size in (8, 16, 32, 64))
_HOLDS = (*_INTEGERS, "float32", "float64")
_TO_LPS = np.diag([-1.0, -1.0, 1.0])
_MILLIMETRES = {"meter": 1000.0, "micron": 0.001}
_AFTER_PIXELS = 4096
_LARGEST_AXIS = 32767  # of the first version of the format


def read(path: Path, ndim: int | None, *, as_labels: bool = False) -> Image:
    """Read a NIfTI file as (channels, *space); a scale in the header is applied."""
    with reading(path, "NIfTI"):
        file = _whole(path, _load(path))
        space = _space(file.shape)
        values = np.asanyarray(file.dataobj)
        if values.dtype.names:  # RGB and RGBA
            values = structured_to_unstructured(values)
        array = values.T.reshape(-1, *space)  # (x, y, z, channels) becomes (channels, z, y, x)
        return fit_image(array, _geometry(file, len(space), path), ndim)


def shape(path: Path, ndim: int | None) -> GridShape:
    """Return size and geometry from the header alone."""
    with reading(path, "NIfTI"):
        file = _load(path)
        space = _space(file.shape)
        return fit_ndim(space, _geometry(file, len(space), path), ndim)


def write(image: Image, path: Path) -> None:
    """Write NIfTI: channels along the fourth axis, in 2-D along the fifth as ITK does."""
    if image.array.dtype.name not in _HOLDS:
        raise cannot_hold(f"values of type {image.array.dtype}", "NIfTI", (".npz", ".tif"))
    values = _on_nifti_axes(image.array)
    version_2 = max(values.shape) > _LARGEST_AXIS
    affine = _affine(image.geometry)
    kind = nibabel.Nifti2Image if version_2 else nibabel.Nifti1Image
    file = kind(values, affine, dtype=values.dtype)
    file.header.set_xyzt_units("mm")
    if values.ndim == 5:
        file.header.set_intent("vector")
    file.set_sform(affine, code=1)
    # A quaternion cannot hold a shear; readers then take the other form.
    file.set_qform(affine, code=1 if _is_perpendicular(affine[:3, :3]) else 0)
    nibabel.save(file, path)


@contextmanager
def _quietly() -> Iterator[None]:
    """Keep nibabel from saying what it corrects; without handlers Python would say it for it."""
    was, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = was


def _load(path: Path) -> Any:
    require_sound_start(path)
    with _quietly():  # what it corrects is looked at below
        file = nibabel.load(path, mmap=False)
    if not isinstance(file, nibabel.Nifti1Pair):
        raise ValueError(f"it is {type(file).__name__}")
    return file


def _whole(path: Path, header: Any) -> Any:
    """Return a file whose claims were checked; of a packed one the checksum, which nibabel skips.

    Args:
        path: the file.
        header: as nibabel opened it, of which no pixel was read.
    """
    proxy = header.dataobj
    n_bytes = prod(header.shape) * proxy.dtype.itemsize
    require_room(n_bytes, path)
    with path.open("rb") as stream:
        is_packed = stream.read(2) == b"\x1f\x8b"
        stream.seek(0)
        if not is_packed:
            return header
        # After the pixels a little may follow; of other lengths the header is wrong.
        content = unpacked_gzip(stream, proxy.offset + n_bytes + _AFTER_PIXELS)
    with _quietly():
        return type(header).from_bytes(content)


def _space(stored: tuple[int, ...]) -> tuple[int, ...]:
    """Return the spatial size, array order, of a file of this (x, y, z, t, v) size."""
    x, y, z, t, v, *rest = (*stored, *(1,) * (7 - len(stored)))
    if len(stored) < 2 or max(rest) > 1 or (t > 1 and v > 1) or 0 in stored:
        raise InputError(
            Fault(
                f"has size {size_text(stored)}",
                expected="2 or 3 axes of space and at most one of channels",
                fix="save one image per file",
            )
        )
    is_flat = len(stored) == 2 or (len(stored) == 5 and z == 1)
    return (y, x) if is_flat else (z, y, x)


def _geometry(file: Any, ndim: int, path: Path) -> Geometry:
    scale = _MILLIMETRES.get(file.header.get_xyzt_units()[0], 1.0)
    if not file.header["sform_code"]:  # which alone says all, and goes before the sizes
        _require_sizes(path, file.header, ndim)
    if not file.header["sform_code"] and not file.header["qform_code"]:
        sizes = np.asarray(file.header.get_zooms()[:ndim], dtype=float)[::-1] * scale
        return geometry_from_steps(np.eye(ndim)[::-1] * sizes, np.zeros(ndim))
    affine = file.affine * scale
    steps = (_TO_LPS @ affine[:3, :3])[:, ::-1]
    if ndim == 2:  # the step to the next slice, which there is not, may be anything
        normal = np.cross(steps[:, 2], steps[:, 1])
        steps[:, 0] = normal / (np.linalg.norm(normal) or 1.0)
    geometry = geometry_from_steps(steps, _TO_LPS @ affine[:3, 3])
    return fit_ndim((1, 1, 1), geometry, 2)[1] if ndim == 2 else geometry


def _require_sizes(path: Path, header: Any, ndim: int) -> None:
    """Refuse voxel sizes of zero, which nibabel takes for one, and below, which it turns over."""
    with ImageOpener(path) as stream:
        stored = type(header).from_fileobj(stream, check=False)["pixdim"][1 : ndim + 1]
    if not (stored > 0).all():
        raise InputError(
            Fault(
                f"has voxels of {' x '.join(f'{side:g}' for side in stored)} mm",
                expected="a spacing above 0 along every axis",
                fix="correct the spacing in the file's header",
            )
        )


def _on_nifti_axes(array: NDArray[Any]) -> NDArray[Any]:
    if array.shape[0] == 1:
        return np.transpose(array[0])
    stored: NDArray[Any] = array.T
    return stored if stored.ndim == 4 else stored[:, :, np.newaxis, np.newaxis, :]


def _affine(geometry: Geometry) -> NDArray[np.float64]:
    solid = lifted(geometry) if geometry.ndim == 2 else geometry
    affine = np.eye(4)
    affine[:3, :3] = _TO_LPS @ steps_of(solid)[:, ::-1]
    affine[:3, 3] = _TO_LPS @ np.asarray(solid.origin)
    return affine


def _is_perpendicular(steps: NDArray[np.float64]) -> bool:
    units = steps / np.linalg.norm(steps, axis=0)
    return bool(np.allclose(units.T @ units, np.eye(3), atol=1e-5))
