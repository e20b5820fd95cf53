"""What a file claims to be, held against its size and its checksums before it is believed.

A few bytes can claim gigabytes, and a damaged file may still give pixels. Whoever reads a file asks
here for room first, and for the checksums that the format has.
"""

from __future__ import annotations

import bz2
import gzip
import os
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from multirater.errors import Fault, InputError
from multirater.free_memory import free_memory

_SMALL = 2**31
"""Bytes that any file may unpack to."""

_MOST_PACKED = 200
"""How many times its own size a larger file may unpack to: empty masks do, bombs do more."""

_SHARE_OF_FREE = 0.8

_ALWAYS = 2**24
"""Bytes for which nobody is asked: asking takes longer than reading a small mask."""

_STEP = 2**20


def require_room(n_bytes: int, path: Path, *others: Path) -> None:
    """Refuse a file that claims more than it can mean, or than there is memory for.

    Args:
        n_bytes: of the pixels that the file claims to hold, unpacked.
        path: the file.
        others: further files that hold parts of the pixels.

    Raises:
        InputError: before any memory is taken.
    """
    if n_bytes <= min(_ALWAYS, _SMALL):
        return
    budget = room_for(path, *others)
    if n_bytes <= budget:
        return
    raise InputError(
        Fault(
            f"claims to hold {n_bytes / 2**30:.1f} GB, "
            f"in a file of {_stored(path, *others) / 2**20:.2f} MB",
            expected=f"at most {budget / 2**30:.1f} GB here and now",
            fix="export the file again, in parts or uncompressed if it really is that large",
            file=str(path),
        )
    )


def room_for(*paths: Path) -> int:
    """Return how many bytes a file, or the files of one image, may unpack to."""
    free = int(free_memory() * _SHARE_OF_FREE)
    return min(free, max(_SMALL, _MOST_PACKED * _stored(*paths)))


def _stored(*paths: Path) -> int:
    return sum(path.stat().st_size for path in set(paths))


def unpacked_gzip(stream: IO[bytes], most: int) -> bytes:
    """Return what a gzip stream holds, its checksum and length checked.

    Args:
        stream: at the start of the packed data.
        most: bytes that it may hold.

    Raises:
        ValueError: it holds more; OSError, EOFError, zlib.error: it is damaged.
    """
    with gzip.GzipFile(fileobj=stream) as packed:
        return _at_most(packed.read(most + 1), most)


def require_sound(stream: IO[bytes], packing: str, most: int) -> None:
    """Unpack a stream to its end, keeping nothing, so that its checksum is checked.

    Args:
        stream: at the start of the packed data.
        packing: `gzip`, `bzip2` or `zlib`.
        most: bytes that it claims to hold.

    Raises:
        ValueError: it holds more or fewer; OSError, EOFError, zlib.error: it is damaged.
    """
    n_bytes = 0
    for part in {"gzip": _gzip_parts, "bzip2": _bzip2_parts, "zlib": _zlib_parts}[packing](stream):
        n_bytes += len(part)
        if n_bytes > most:
            raise ValueError(f"it unpacks to more than the {most} bytes that its header claims")
    if n_bytes < most:
        raise ValueError(f"it unpacks to {n_bytes} of the {most} bytes that its header claims")


def _gzip_parts(stream: IO[bytes]) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=stream) as packed:
        while part := packed.read(_STEP):
            yield part


def _bzip2_parts(stream: IO[bytes]) -> Iterator[bytes]:
    with bz2.BZ2File(stream) as packed:
        while part := packed.read(_STEP):
            yield part


def _zlib_parts(stream: IO[bytes]) -> Iterator[bytes]:
    unpack = zlib.decompressobj()
    while not unpack.eof:
        part = unpack.unconsumed_tail or stream.read(_STEP)
        if not part:
            raise ValueError("its packed data end too soon")
        yield unpack.decompress(part, _STEP)


def inflated_size(stream: IO[bytes], most: int, *, bits: int = -zlib.MAX_WBITS) -> int:
    """Return how many bytes deflated data hold, counting no further than a step above `most`.

    Args:
        stream: at the start of the packed data.
        most: bytes that are of interest.
        bits: as `zlib.decompressobj` takes them: below 0 for data without zlib's header.
    """
    unpack, n_bytes = zlib.decompressobj(bits), 0
    while not unpack.eof and n_bytes <= most:
        part = unpack.unconsumed_tail or stream.read(_STEP)
        if not part:
            break
        n_bytes += len(unpack.decompress(part, _STEP))
    return n_bytes


def plain_member(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    """Return a member of a zip archive that is unpacked step by step: others have no bound.

    Raises:
        ValueError: it is packed in a rare way; KeyError: there is none of this name.
    """
    member = archive.getinfo(name)
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"its part {name} is packed by neither deflate nor nothing")
    return member


def require_png_checksums(stream: IO[bytes]) -> None:
    """Check the checksum of every chunk of a PNG file, to its end.

    Raises:
        ValueError: a chunk is damaged, or the end is missing.
    """
    size = stream.seek(0, os.SEEK_END)
    stream.seek(8)
    while True:
        start = stream.read(8)
        if len(start) < 8:
            raise ValueError("it is truncated: its end is missing")
        length, kind = int.from_bytes(start[:4], "big"), start[4:]
        content = stream.read(min(length + 4, size))  # the checksum is its end
        if len(content) < length + 4:
            raise ValueError("it is truncated")
        found = zlib.crc32(memoryview(content)[:length], zlib.crc32(kind))
        if found != int.from_bytes(content[length:], "big"):
            name = kind.decode("ascii", errors="replace")
            raise ValueError(f"it is damaged: the checksum of its part {name!r} is wrong")
        if kind == b"IEND":
            return


def _at_most(content: bytes, most: int) -> bytes:
    if len(content) > most:
        raise ValueError(f"it unpacks to more than the {most} bytes that its header claims")
    return content
