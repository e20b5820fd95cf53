"""TIFF in and out by tifffile; pages in a compression it has no decoder for come from Pillow.

A file written here names its axes and carries its geometry in the description of the first page. Of
other files, axes are taken from OME, ImageJ or tifffile metadata; pages without any are the slices
of a volume. Pixel sizes are used where they are stated as such: OME physical sizes, ImageJ with a
unit, or pixels per centimetre. Dots per inch tell how to print, and are ignored.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import tifffile
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.formats.grid import (
    GridShape,
    fit_image,
    fit_ndim,
    geometry_from_json,
    geometry_to_json,
    size_text,
)
from multirater.io.formats.guard import cannot_hold, reading
from multirater.io.formats.opacity import without_full_opacity
from multirater.io.formats.tiff_directories import walked
from multirater.io.formats.tiff_ome import require_honest_planes
from multirater.io.formats.tiff_parts import require_parts
from multirater.io.formats.tiff_scale import pixel_sizes
from multirater.types import Geometry, Image

_GEOMETRY_KEY = "multirater_geometry"
_COLOURS = 3

_ONE_FILE = {"is_mmstack": False, "is_ndtiff": False, "is_lsm": False}
"""Kinds that tifffile is not to look for: their indices lead to other files, or round the pages."""


def read(path: Path, ndim: int | None, *, as_labels: bool = False) -> Image:
    """Read a TIFF file as (channels, *space).

    A palette gives its colours when read as an image and its indices when read as labels. Images in
    which zero is white are inverted, so that larger is brighter; labels are kept as stored. A last
    sample that the file calls opacity is no channel of an image if it is full everywhere.
    """
    with reading(path, "TIFF"), _open(path) as file:
        series, geometry = _only_series(file), _own_geometry(file)
        axes, sizes = _axes(series, geometry)
        roles = _roles(axes, sizes, ndim)
        _require_own_pages(series, file)
        require_parts(series, path)
        pixels = _pixels(series, path, as_labels=as_labels).reshape(sizes)
        array = _arranged(pixels, roles)
        page = series.keyframe
        if page.photometric == tifffile.PHOTOMETRIC.PALETTE and not (as_labels or file.is_imagej):
            array = _palette_colours(array, page.colormap)
        if _has_opacity(page, roles) and not as_labels:
            array = without_full_opacity(array)
        return fit_image(array, geometry or _foreign_geometry(file, roles), ndim)


def shape(path: Path, ndim: int | None) -> GridShape:
    """Return size and geometry from the headers alone."""
    with reading(path, "TIFF"), _open(path) as file:
        series, geometry = _only_series(file), _own_geometry(file)
        axes, sizes = _axes(series, geometry)
        roles = _roles(axes, sizes, ndim)
        space = tuple(sizes[roles.index(role)] for role in "zyx" if role in roles)
        return fit_ndim(space, geometry or _foreign_geometry(file, roles), ndim)


def write(image: Image, path: Path) -> None:
    """Write TIFF: three 8- or 16-bit channels as colours, other channels as pages."""
    array, axes = image.array, "CZYX" if image.geometry.ndim == 3 else "CYX"
    if array.dtype.itemsize > 8:
        raise cannot_hold(f"values of type {array.dtype}", "TIFF", (".npz",))
    as_colours = array.shape[0] == _COLOURS and array.dtype in (np.uint8, np.uint16)
    if as_colours:
        array, axes = np.moveaxis(array, 0, -1), f"{axes[1:]}S"
    elif array.shape[0] == 1:
        array, axes = np.squeeze(array, 0), axes[1:]
    tifffile.imwrite(
        path,
        np.ascontiguousarray(array),
        photometric="rgb" if as_colours else "minisblack",
        compression=None if array.dtype == np.bool_ else "zlib",
        metadata={"axes": axes, _GEOMETRY_KEY: geometry_to_json(image.geometry)},
    )


@contextmanager
def _open(path: Path) -> Iterator[tifffile.TiffFile]:
    """Open a file, and refuse it if tifffile notes damage, which it works around in silence."""
    notes = _Notes()
    logger = logging.getLogger("tifffile")
    logger.addHandler(notes)
    try:
        directories = walked(path)
        with tifffile.TiffFile(path, **_ONE_FILE) as file:
            if file.is_ome:
                require_honest_planes(file.ome_metadata or "", path, directories)
            yield file
        notes.require_whole()
    finally:
        logger.removeHandler(notes)


class _Notes(logging.Handler):
    """What tifffile had to say while a file was read."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.damage: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if record.levelno >= logging.ERROR or "corrupt" in message or "failed" in message:
            self.damage.append(message)

    def require_whole(self) -> None:
        """Raise if a page or a part of the metadata was unreadable."""
        if self.damage:
            raise ValueError(f"it is truncated or damaged: {self.damage[0].split('> ', 1)[-1]}")


def _only_series(file: tifffile.TiffFile) -> Any:
    whole = [series for series in file.series if not series.keyframe.is_reduced]
    if len(whole) == 1:
        return whole[0]
    sizes = ", ".join(size_text(series.shape) for series in whole[:5]) or "none"
    raise InputError(
        Fault(
            f"holds {len(whole)} images of different kinds: {sizes}",
            expected="one image, or pages of one size and type",
            fix="save the image you mean alone",
        )
    )


def _require_own_pages(series: Any, file: tifffile.TiffFile) -> None:
    """Refuse pages that are nowhere, which tifffile fills with zeros, or all in another file."""
    n_absent = sum(page is None for page in series.pages)
    if n_absent:
        raise ValueError(f"it lacks {n_absent} of the {len(series.pages)} pages that it claims")
    others = [page for page in series.pages if page is not None and page.parent is not file]
    if others and not series.is_multifile:
        raise ValueError(f"its pixels all lie in another file, {others[0].parent.filename}")


def _own_geometry(file: tifffile.TiffFile) -> Geometry | None:
    metadata: Any = file.shaped_metadata or ({},)
    stored = metadata[0].get(_GEOMETRY_KEY)
    return None if stored is None else geometry_from_json(stored)


def _axes(series: Any, own: Geometry | None) -> tuple[str, tuple[int, ...]]:
    """Return letters and sizes of the axes; axes of size one count only where we wrote them."""
    squeeze = own is None
    return series.get_axes(squeeze), tuple(series.get_shape(squeeze))


def _roles(axes: str, sizes: tuple[int, ...], ndim: int | None) -> str:
    """Say for each axis whether it is channels (c), space (z, y, x), or of size one (-)."""
    known = {"X": "x", "Y": "y", "Z": "z", "C": "c", "S": "c"}
    roles = [
        known.get(axis, "-" if size == 1 else "?") for axis, size in zip(axes, sizes, strict=True)
    ]
    nameless = [i for i, role in enumerate(roles) if role == "?" and axes[i] != "T"]
    if len(nameless) == 2 and "z" not in roles:
        roles[nameless.pop(0)] = "c"
    if len(nameless) == 1:
        roles[nameless[0]] = "c" if ndim == 2 or "z" in roles else "z"
    if "?" in roles or "y" not in roles or "x" not in roles:
        raise InputError(
            Fault(
                f"has axes {axes} of size {size_text(sizes)}",
                expected="2 or 3 axes of space (Z)YX, and channels C or S",
                fix="save one time point or one picture per file",
            )
        )
    return "".join(roles)


def _arranged(pixels: NDArray[Any], roles: str) -> NDArray[Any]:
    order = [axis for role in "-czyx" for axis, each in enumerate(roles) if each == role]
    space = [pixels.shape[roles.index(role)] for role in "zyx" if role in roles]
    return pixels.transpose(order).reshape(-1, *space)


def _pixels(series: Any, path: Path, *, as_labels: bool) -> NDArray[Any]:
    """Return pixels as stored; of an image, so that larger is brighter."""
    try:
        pixels: NDArray[Any] = series.asarray()
    except (ValueError, ImportError) as error:
        # What tifffile says of a compression that it cannot decode by itself, by its version.
        known = ("imagecodecs", "not supported", "No module")
        if not any(words in str(error) for words in known):
            raise
        pixels = _decoded_by_pillow(series, path)
    if series.keyframe.photometric == tifffile.PHOTOMETRIC.MINISWHITE and not as_labels:
        return ~pixels if pixels.dtype.kind in "biu" else pixels
    return pixels


def _decoded_by_pillow(series: Any, path: Path) -> NDArray[Any]:
    """Read the pages as stored, by Pillow, which brings libtiff's decoders."""
    from PIL import Image as Pillow

    with Pillow.open(path, formats=("TIFF",)) as picture:
        pages = []
        for page in series.pages:
            picture.seek(page.index)
            if picture.size != (page.imagewidth, page.imagelength):
                raise ValueError(f"its page {page.index} has two sizes")
            pages.append(np.array(picture))
    pixels = np.stack(pages)
    if pixels.dtype != series.dtype or pixels.size != series.size or "SYX" in series.axes:
        raise InputError(
            Fault(
                f"is compressed by {series.keyframe.compression.name}, which cannot be decoded",
                expected="no compression, or deflate",
                fix="save it without compression, or `pip install imagecodecs`",
            )
        )
    if series.keyframe.photometric == tifffile.PHOTOMETRIC.MINISWHITE:
        return ~pixels if pixels.dtype in (np.bool_, np.uint8) else pixels  # Pillow has turned them
    return pixels


def _palette_colours(array: NDArray[Any], colours: NDArray[Any]) -> NDArray[Any]:
    table = (colours >> 8).astype(np.uint8)  # TIFF palettes are 16-bit, their files' colours 8-bit
    return np.concatenate([table[:, channel] for channel in array])


def _has_opacity(page: Any, roles: str) -> bool:
    """Whether the file says that the last channel is opacity."""
    kinds = (tifffile.EXTRASAMPLE.ASSOCALPHA, tifffile.EXTRASAMPLE.UNASSALPHA)
    extra = tuple(page.extrasamples or ())
    return roles.count("c") == 1 and bool(extra) and extra[-1] in kinds


def _foreign_geometry(file: tifffile.TiffFile, roles: str) -> Geometry:
    ndim = 3 if "z" in roles else 2
    z, y, x = pixel_sizes(file)
    default = Geometry.default(ndim)
    return Geometry((z, y, x)[-ndim:], default.origin, default.direction)
