"""PNG in and out; JPEG, PPM, PGM, BMP and GIF in, by Pillow.

Sample values are taken as stored: 1-bit grey gives False and True, 2-bit 0 to 3, 4-bit 0 to 15. A
palette gives its colours when read as an image; when read as labels, that of a PNG gives its
indices, that of a BMP or GIF, whose order is the encoder's whim, its greys or colours. The
orientation tag of a JPEG is ignored, because masks are drawn on the stored pixels. Printing
resolutions (dots per inch) are no pixel spacing and are ignored too. A geometry that is not the
default travels in a text chunk of the PNG, as JSON. An opacity (alpha) that is full everywhere is
no channel of an image, unless it was written here as one, which another chunk says.
"""

from __future__ import annotations

import json
import os
from io import BytesIO
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow
from PIL import UnidentifiedImageError
from PIL.PngImagePlugin import PngInfo

from multirater.errors import Fault, InputError
from multirater.extras import extra
from multirater.io.formats.claims import require_png_checksums, require_room
from multirater.io.formats.grid import (
    GridShape,
    fit_image,
    fit_ndim,
    geometry_from_json,
    geometry_to_json,
    is_default,
)
from multirater.io.formats.guard import cannot_hold, reading
from multirater.io.formats.opacity import without_full_opacity
from multirater.types import Geometry, Image

_GEOMETRY_KEY = "multirater-geometry"
_CHANNELS_KEY = "multirater-channels"
_KINDS = ("PNG", "JPEG", "PPM", "BMP", "GIF")
"""What Pillow may open; by the second also MPO, JPEG with several pictures."""

_WHAT = "PNG, JPEG, PPM, PGM, BMP or GIF"

_BYTE = 255

_SMALL = 2**20
"""Bytes up to which a file is read at once."""

_BMP_RUNS, _MOST_IN_RUNS = (1, 2), 200
"""Compressions of BMP by runs, and pixels for each byte of them: a run has 255 in two bytes."""

_MOST_SCANS = 100
"""Passes over a JPEG, each of which adds detail; usual are ten."""

_GREY, _PALETTE = 0, 3  # colour types of the PNG header
_INSTEAD = (".tif", ".npz", ".nii.gz", ".nrrd", ".mha")


def read(path: Path, ndim: int | None, *, as_labels: bool = False) -> Image:
    """Read a PNG or JPEG file as (channels, H, W)."""
    with reading(path, _WHAT), _stream(path) as stream, _opened(stream) as picture:
        _require_still(picture)
        depth, colour = _png_depth(stream)
        if picture.format == "PNG":
            place = stream.tell()
            require_png_checksums(stream)
            stream.seek(place)  # where Pillow left it
        require_room(prod(picture.size) * len(picture.getbands()), path)
        _require_quick(picture, stream)
        geometry = _geometry(picture)
        if depth == 16 and colour not in (_GREY, _PALETTE):
            pixels = _deep_colours(path)
        else:
            pixels = _stored(picture, depth if colour == _GREY else 8, as_labels)
        channels = pixels[np.newaxis] if pixels.ndim == 2 else np.moveaxis(pixels, -1, 0)
        if _has_opacity(picture) and not as_labels:
            channels = without_full_opacity(channels)
        return fit_image(channels, geometry, ndim)


def shape(path: Path, ndim: int | None) -> GridShape:
    """Return size and geometry from the header alone."""
    with reading(path, _WHAT), _opened(path) as picture:
        _require_still(picture)
        return fit_ndim(picture.size[::-1], _geometry(picture), ndim)


def write(image: Image, path: Path) -> None:
    """Write a PNG file: 8-bit with 1 to 4 channels, 16-bit or 1-bit grey."""
    array = image.array
    n_channels = array.shape[0]
    if image.geometry.ndim != 2:
        raise cannot_hold("a 3-D image", "PNG", (".nii.gz", ".nrrd", ".mha", ".tif", ".npz"))
    if array.dtype not in (np.uint8, np.uint16, np.bool_):
        raise cannot_hold(f"values of type {array.dtype}", "PNG", _INSTEAD)
    if n_channels > (4 if array.dtype == np.uint8 else 1):
        raise cannot_hold(f"{n_channels} channels of type {array.dtype}", "PNG", _INSTEAD)
    pixels = array[0] if n_channels == 1 else np.ascontiguousarray(np.moveaxis(array, 0, -1))
    text = PngInfo()
    if not is_default(image.geometry):
        text.add_text(_GEOMETRY_KEY, json.dumps(geometry_to_json(image.geometry)))
    if len(without_full_opacity(array)) < n_channels:  # it would be taken for opacity
        text.add_text(_CHANNELS_KEY, str(n_channels))
    Pillow.fromarray(pixels).save(path, format="PNG", pnginfo=text)


def _stream(path: Path) -> IO[bytes]:
    """Open a file; a small one is in memory then, however often it is gone through."""
    stream = open(path, "rb")  # noqa: PTH123, SIM115, faster than by pathlib
    if os.fstat(stream.fileno()).st_size >= _SMALL:
        return stream
    with stream:
        return BytesIO(stream.read())


def _opened(file: Path | IO[bytes]) -> Pillow.Image:
    try:
        return Pillow.open(file, formats=_KINDS)
    except UnidentifiedImageError:
        raise InputError(
            Fault(
                "cannot be read: the file is damaged, or not what its name says",
                expected=f"a whole {_WHAT} file",
                fix="copy or export the file again, or give it the suffix of what it really is",
            )
        ) from None


def _require_still(picture: Pillow.Image) -> None:
    if picture.format in ("PNG", "GIF") and getattr(picture, "n_frames", 1) > 1:
        raise InputError(
            Fault("is an animation", expected="one picture", fix="save one frame per file")
        )


def _require_quick(picture: Pillow.Image, stream: IO[bytes]) -> None:
    """Refuse what takes a few bytes and minutes: lines of a BMP left out, scans of a JPEG."""
    place = stream.tell()
    stream.seek(0)
    content = stream.read() if picture.format in ("BMP", "JPEG", "MPO") else b""
    stream.seek(place)
    is_runs = picture.format == "BMP" and picture.info.get("compression") in _BMP_RUNS
    if is_runs and prod(picture.size) > max(_MOST_IN_RUNS * len(content), _SMALL):
        raise ValueError(f"it claims {prod(picture.size)} pixels in {len(content)} bytes")
    if content.startswith(b"\xff\xd8") and content.count(b"\xff\xda") > _MOST_SCANS:
        raise ValueError(f"it has more than {_MOST_SCANS} scans")


def _geometry(picture: Pillow.Image) -> Geometry:
    text = picture.info.get(_GEOMETRY_KEY)
    return Geometry.default(2) if text is None else geometry_from_json(json.loads(text))


def _has_opacity(picture: Pillow.Image) -> bool:
    """Whether a last channel is opacity: that of CMYK is none, nor is what was written here."""
    is_clear = "A" in picture.getbands() or "transparency" in picture.info
    return is_clear and _CHANNELS_KEY not in picture.info


def _png_depth(stream: IO[bytes]) -> tuple[int, int]:
    """Return bits per sample and colour type of a PNG; (8, -1) for anything else."""
    place = stream.tell()
    stream.seek(0)
    start = stream.read(26)
    stream.seek(place)
    return (start[24], start[25]) if start.startswith(b"\x89PNG") else (8, -1)


def _stored(picture: Pillow.Image, grey_depth: int, as_labels: bool) -> NDArray[Any]:
    highest = _highest(picture)  # known before the pixels are loaded, and forgotten then
    if highest is not None and highest > _BYTE and picture.mode == "RGB":
        raise InputError(
            Fault(
                f"colours from 0 to {highest} in a PPM, of which 8 bits would be read",
                expected="colours from 0 to 255, or another format",
                fix="convert the picture to PNG or TIFF of 16 bits",
            )
        )
    picture.load()
    if picture.mode == "P" and not (as_labels and picture.format == "PNG"):
        clear = "transparency" in picture.info and not as_labels
        picture = picture.convert("RGBA" if clear else "RGB")
    pixels = np.array(picture)
    if picture.mode == "I":  # 16 bits, from PGM
        pixels = pixels.astype(np.uint16)
    if highest is not None:
        full = np.iinfo(pixels.dtype).max
        return np.asarray(np.rint(pixels * (highest / full)).astype(pixels.dtype))
    # Pillow stretches 2- and 4-bit grey to 0..255.
    return pixels // {2: 85, 4: 17}[grey_depth] if grey_depth in (2, 4) else pixels


def _highest(picture: Pillow.Image) -> int | None:
    """Return the largest value a PPM or PGM may hold, to which Pillow stretches the others."""
    tiles: Any = getattr(picture, "tile", None)
    if picture.format != "PPM" or not tiles:
        return None
    arguments = tiles[0].args
    told = arguments[1] if isinstance(arguments, tuple) and len(arguments) > 1 else None
    return told if isinstance(told, int) and told > 0 else None


def _deep_colours(path: Path) -> NDArray[Any]:
    """Read 16-bit colours by ITK, because Pillow cuts them to 8 bits."""
    with extra():
        import SimpleITK as sitk  # noqa: N813

    array: NDArray[Any] = sitk.GetArrayFromImage(sitk.ReadImage(str(path), imageIO="PNGImageIO"))
    return array
