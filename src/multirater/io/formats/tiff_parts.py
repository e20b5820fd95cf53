"""The strips or tiles of TIFF pages, before tifffile unpacks them.

tifffile unpacks each of them whole, however much the page has room for, and many may share their
bytes.
"""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Iterator, Sequence
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any

from multirater.errors import Fault, InputError
from multirater.io.formats.claims import inflated_size, require_room, room_for

_LZMA = 34925
_MOST_PACKED = {**dict.fromkeys((8, 32946, 50013), 1032), _LZMA: 2**20}
"""How many times its size a part may unpack to, by the code of its compression: three codes of
deflate, and LZMA. Others unpack to little, or are unpacked by libraries that mind the page."""

_SHARED = 8
"""How many times the size of the file all parts may have: some are shared."""

_STEP = 2**20


def require_parts(series: Any, path: Path) -> None:
    """Refuse pages that claim more pixels or parts than the file can hold, or unpack to more.

    Args:
        series: of tifffile.
        path: the file.

    Raises:
        InputError: before any memory is taken.
        ValueError: the parts cannot be.
    """
    page, one = series.keyframe, series.dtype.itemsize
    n_pixels = series.size * one
    require_room(n_pixels, path)
    n_parts = prod(page.chunked) * len(series.pages)
    if n_parts > path.stat().st_size:
        raise ValueError(f"it claims {n_parts} parts of {len(series.pages)} pages")
    if page.is_tiled:  # tiles may stand out over the edges of a page
        n_pixels = prod(page.chunks) * one * n_parts
        require_room(n_pixels, path)
    parts = list(_parts(series))
    _require_bytes(parts)
    n_packed = sum(n_bytes for _, n_bytes in parts)
    if n_packed > _SHARED * path.stat().st_size + _STEP:
        raise ValueError(f"it claims {n_packed} bytes of packed pixels")
    if n_packed * _MOST_PACKED.get(page.compression, 1) > room_for(path):
        _require_unpacked(series, path, n_pixels + _STEP)


def _require_bytes(parts: Sequence[tuple[int, int]]) -> None:
    """Refuse parts that are not in the file, which tifffile fills with zeros."""
    n_absent = sum(offset == 0 or n_bytes == 0 for offset, n_bytes in parts)
    if n_absent:
        raise InputError(
            Fault(
                f"lacks {n_absent} of the {len(parts)} strips or tiles of its pages",
                expected="pixels everywhere",
                fix="save the file again, not sparse (of GDAL: `-co SPARSE_OK=FALSE`)",
            )
        )


def _parts(series: Any) -> Iterator[tuple[int, int]]:
    """Yield where each part begins and how many bytes it has."""
    for page in series.pages:
        if page is not None:
            yield from zip(page.dataoffsets, page.databytecounts, strict=False)


def _require_unpacked(series: Any, path: Path, most: int) -> None:
    """Unpack all parts, keeping nothing, and refuse them if they hold more than `most` bytes."""
    compression, n_bytes = series.keyframe.compression, 0
    with path.open("rb") as stream:
        for offset, n_packed in _parts(series):
            stream.seek(offset)
            part = BytesIO(stream.read(n_packed))
            if compression == _LZMA:
                n_bytes += _lzma_size(part, most)
            else:
                n_bytes += inflated_size(part, most, bits=zlib.MAX_WBITS)
            if n_bytes > most:
                raise ValueError(f"it unpacks to more than the {most} bytes that its pages hold")


def _lzma_size(part: BytesIO, most: int) -> int:
    n_bytes = 0
    with lzma.open(part) as unpacked:
        while n_bytes <= most and (step := unpacked.read(_STEP)):
            n_bytes += len(step)
    return n_bytes
