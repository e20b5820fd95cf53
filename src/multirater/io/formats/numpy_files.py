"""NPY and NPZ.

An NPZ file written here holds `array` (channels first), `axes` (such as `CZYX`), `spacing`,
`origin` and `direction`. An NPY file, or an NPZ file of one array from elsewhere, says nothing
about its axes: `axes.channel_axis` states the rule. One axis is a vector of features: an image
without space whose entries are its channels. Pickled objects are never loaded.
"""

from __future__ import annotations

import zipfile
from io import BytesIO
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.formats.axes import channel_axis, channels_first
from multirater.io.formats.claims import plain_member, require_room
from multirater.io.formats.grid import (
    GridShape,
    fit_image,
    fit_ndim,
    geometry_from_json,
    is_default,
)
from multirater.io.formats.guard import cannot_hold, reading
from multirater.io.formats.suffixes import suffix_of
from multirater.types import Geometry, Image

_OURS = {"array", "axes", "spacing", "origin", "direction"}

_SMALL = 4096
"""Bytes of an array that says where an image lies: nine numbers at most."""

_LONGEST_HEADER = 2**16
"""Bytes to look for a header in; numpy refuses those of more than ten thousand."""


def read(path: Path, ndim: int | None, *, as_labels: bool = False) -> Image:
    """Read an NPY or NPZ file as (channels, *space)."""
    if suffix_of(path) == ".npz":
        return _read_npz(path, ndim, as_labels=as_labels)
    with reading(path, "NPY"), path.open("rb") as stream:
        array = read_array(stream, path.stat().st_size)
        return _without_axes(array, ndim, as_labels=as_labels)


def shape(path: Path, ndim: int | None) -> GridShape:
    """Return size and geometry from the header alone."""
    if suffix_of(path) == ".npz":
        return _npz_shape(path, ndim)
    with reading(path, "NPY"), path.open("rb") as stream:
        return _shape_without_axes(_header(stream)[0], ndim)


def write(image: Image, path: Path) -> None:
    """Write NPY, where nothing is lost by it, or NPZ, which holds every image."""
    if suffix_of(path) == ".npz":
        _write_npz(image, path)
        return
    if image.array.ndim == 1:
        np.save(path, image.array, allow_pickle=False)
        return
    if not is_default(image.geometry):
        raise cannot_hold("spacing, origin or direction", "NPY", (".npz", ".nii.gz", ".nrrd"))
    np.save(path, _layout_that_reads_back(image.array), allow_pickle=False)


def _layout_that_reads_back(array: NDArray[Any]) -> NDArray[Any]:
    """Drop a single channel where the rule for nameless axes brings the same image back."""
    ndim = array.ndim - 1
    if array.shape[0] == 1 and channel_axis(array.shape[1:]) is None:
        return np.squeeze(array, 0)
    if channel_axis(array.shape) != 0 or (ndim == 2 and array.shape[0] > 4):
        raise cannot_hold(f"which of the axes {array.shape} is the channels", "NPY", (".npz",))
    return array


def _without_axes(array: NDArray[Any], ndim: int | None, *, as_labels: bool) -> Image:
    if array.ndim == 1 and ndim is None and not as_labels:
        return Image(array, Geometry.default(0))
    pixels = channels_first(array, ndim)
    return fit_image(pixels, Geometry.default(pixels.ndim - 1), ndim)


def _shape_without_axes(whole: tuple[int, ...], ndim: int | None) -> GridShape:
    if len(whole) == 1 and ndim is None:
        return (), Geometry.default(0)
    axis = channel_axis(whole, ndim)
    space = whole if axis is None else whole[:axis] + whole[axis + 1 :]
    return fit_ndim(space, Geometry.default(len(space)), ndim)


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any], int]:
    """Return size, type of value and where values begin; longer headers are refused by numpy."""
    start = BytesIO(stream.read(_LONGEST_HEADER))
    version = npy.read_magic(start)
    header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    try:
        whole, _, kind = header(start)
    except MemoryError:  # so Python's parser says that something is nested too deeply
        raise ValueError("its header cannot be understood") from None
    if min(whole, default=0) < 0:
        raise ValueError(f"it has sizes {list(whole)}")
    if kind.hasobject or not kind.itemsize:
        raise ValueError(f"it holds values of type {kind}")
    return whole, kind, start.tell()


def _read_npz(path: Path, ndim: int | None, *, as_labels: bool) -> Image:
    with reading(path, "NPZ"), np.load(path, allow_pickle=False) as archive:
        if set(archive.files) == _OURS:
            return fit_image(_member(path, "array"), _stored_geometry(path), ndim)
        array = _member(path, _only_key(archive.files))
        return _without_axes(array, ndim, as_labels=as_labels)


def _member(path: Path, key: str, most: int | None = None) -> NDArray[Any]:
    """Read an array of an archive to its end, so that its checksum is checked.

    Args:
        path: the archive.
        key: name of the array.
        most: bytes that it may have; as many as there is room for when not given.
    """
    with zipfile.ZipFile(path) as files:
        member = plain_member(files, f"{key}.npy")
        require_room(member.file_size, path)
        if most is not None and member.file_size > most:
            raise ValueError(f"its {key} has {member.file_size} bytes, {most} at most are read")
        with files.open(member) as stream:
            content = stream.read(member.file_size + 1)
    return read_array(BytesIO(content), len(content))


def read_array(stream: IO[bytes], n_stored: int) -> NDArray[Any]:
    """Read an array whose header does not claim more than there is."""
    whole, kind, start = _header(stream)
    n_bytes, n_there = prod(whole) * kind.itemsize, n_stored - start
    if n_bytes > n_there:
        raise ValueError(f"it is truncated: {n_there} of {n_bytes} bytes")
    stream.seek(0)
    return npy.read_array(stream, allow_pickle=False)


def _npz_shape(path: Path, ndim: int | None) -> GridShape:
    with reading(path, "NPZ"), np.load(path, allow_pickle=False) as archive:
        ours = set(archive.files) == _OURS
        key = "array" if ours else _only_key(archive.files)
        with (
            zipfile.ZipFile(path) as files,
            files.open(plain_member(files, f"{key}.npy")) as stream,
        ):
            whole = _header(stream)[0]
        if ours:
            return fit_ndim(whole[1:], _stored_geometry(path), ndim)
        return _shape_without_axes(whole, ndim)


def _only_key(keys: list[str]) -> str:
    if len(keys) == 1:
        return keys[0]
    raise InputError(
        Fault(
            f"holds {len(keys)} arrays: {', '.join(sorted(keys)) or 'none'}",
            expected="one array",
            fix="save the array you mean alone: numpy.savez_compressed(path, array=...)",
        )
    )


def _stored_geometry(path: Path) -> Geometry:
    parts = ("spacing", "origin", "direction")
    return geometry_from_json({part: _member(path, part, _SMALL).tolist() for part in parts})


def _write_npz(image: Image, path: Path) -> None:
    with path.open("wb") as stream:  # an open file keeps numpy from changing the name
        np.savez_compressed(
            stream,
            array=image.array,
            axes=np.array("CZYX" if image.geometry.ndim == 3 else "CYX"),
            spacing=np.asarray(image.geometry.spacing, dtype=np.float64),
            origin=np.asarray(image.geometry.origin, dtype=np.float64),
            direction=np.asarray(image.geometry.direction, dtype=np.float64),
        )
