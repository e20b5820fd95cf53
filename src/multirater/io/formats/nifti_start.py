"""What lies before the pixels of a NIfTI file: header and extensions, before nibabel takes them.

nibabel takes an extension of any length that it claims, and unpacks whatever lies before
the pixels.
"""

from __future__ import annotations

import struct
from math import isinf
from pathlib import Path
from typing import IO, Any

from nibabel.nifti1 import Nifti1Header
from nibabel.nifti2 import Nifti2Header
from nibabel.openers import ImageOpener

_LONGEST = 2**26
"""Bytes before the pixels: extensions are texts."""


def require_sound_start(path: Path) -> None:
    """Refuse pixels that begin far into the file, extensions that reach beyond, endless scales.

    Raises:
        ValueError: with what is wrong.
    """
    with ImageOpener(path) as stream:
        start = stream.read(Nifti2Header.sizeof_hdr)
        headers = [kind for kind in (Nifti1Header, Nifti2Header) if _is_of(kind, start)]
        if not headers:
            raise ValueError("it has no NIfTI header")
        for kind in headers:
            header = kind(start[: kind.sizeof_hdr], check=False)
            _require_scale(header)
            _require_short(header, stream)


def _is_of(kind: Any, start: bytes) -> bool:
    """Whether a file begins with a header of this version, by the word that marks it."""
    place = 344 if kind is Nifti1Header else 4
    marks = (kind.single_magic[:3], kind.pair_magic[:3])
    return len(start) >= kind.sizeof_hdr and start[place : place + 3] in marks


def _require_scale(header: Any) -> None:
    """Refuse a scale without end, which nibabel takes for none; NaN and 0 do mean none."""
    for name in ("scl_slope", "scl_inter"):
        if isinf(header[name]):
            raise ValueError(f"{name} is {header[name]}, its pixels are no numbers")


def _require_short(header: Any, stream: IO[bytes]) -> None:
    end = float(header["vox_offset"])
    if not 0 <= end <= _LONGEST:
        raise ValueError(f"its pixels begin at byte {end:.0f}, {_LONGEST} at most are read")
    place = header.sizeof_hdr
    stream.seek(place)
    has_extensions = stream.read(4)[:1] not in (b"", b"\0")
    place += 4
    while has_extensions and place + 16 <= end:
        claim = stream.read(8)
        n_bytes = struct.unpack(f"{header.endianness}i", claim[:4])[0] if len(claim) == 8 else 0
        place += n_bytes
        if n_bytes < 8 or place > end:
            raise ValueError(f"it has an extension of {n_bytes} bytes, {end:.0f} bytes in all")
        stream.seek(place)
