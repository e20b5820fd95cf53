"""The frames of DICOM files, before a decoder takes room for what they claim.

Decoders fill up what is missing and leave out what is too much, in silence. A frame in JPEG,
JPEG-LS or JPEG 2000 states its own size, which decoders believe: a few bytes within an image of
8 x 8 pixels may claim 60 000 x 60 000.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from multirater.io.formats.grid import size_text

_JPEG, _JPEG_2000 = b"\xff\xd8", b"\xff\x4f\xff\x51"
_PIXELS = ("PixelData", "FloatPixelData", "DoubleFloatPixelData")
_PADDING = 16
"""Bits that may follow the last frame, which ends at a byte of even number."""

_NO_FRAME = (0xC4, 0xC8, 0xCC)
"""Markers among those of frames (C0 to CF) that are not."""


def require_honest_frames(path: Path, header: Any) -> None:
    """Refuse frames of another size or number than the header's.

    Raises:
        ValueError: a frame says otherwise, frames cannot be found, or there are more or fewer.
    """
    import pydicom

    content = pydicom.dcmread(path, force=True, specific_tags=[*_PIXELS])
    pixels = next((content[name].value for name in _PIXELS if name in content), b"")
    meta = getattr(header, "file_meta", None)
    syntax = None if meta is None else meta.get("TransferSyntaxUID")
    if syntax is None or not syntax.is_encapsulated:
        _require_plain(len(pixels), header)
    else:
        _require_packed(pixels, header)


def _require_plain(n_bytes: int, header: Any) -> None:
    n_frames = int(header.get("NumberOfFrames") or 1)
    one = bits_of_frame(header)
    least = -(-n_frames * one // 8)
    if n_bytes < least:
        raise ValueError(f"it is truncated: its pixels have {n_bytes} of {least} bytes")
    if 8 * n_bytes - n_frames * one >= max(one, _PADDING):
        raise ValueError(f"it claims {n_frames} frames, and its pixels have room for more")


def _require_packed(pixels: bytes, header: Any) -> None:
    from pydicom.encaps import generate_frames

    n_frames = int(header.get("NumberOfFrames") or 1)
    meant = (int(header.Rows), int(header.Columns))
    for frame in generate_frames(pixels, number_of_frames=n_frames):
        found = frame_size(frame)
        if found is not None and found != meant:
            raise ValueError(f"it has a frame of {size_text(found)}, and claims {size_text(meant)}")


def bits_of_frame(header: Any) -> int:
    """Return how many bits the pixels of one frame take, unpacked."""
    depth = int(header.get("BitsAllocated") or 8) * int(header.get("SamplesPerPixel") or 1)
    if "422" in str(header.get("PhotometricInterpretation", "")):
        depth = depth * 2 // 3  # two pixels share a colour
    return int(header.Rows) * int(header.Columns) * depth


def frame_size(frame: bytes) -> tuple[int, int] | None:
    """Return rows and columns that a packed frame states; None if it does not.

    Example:
        >>> frame_size(bytes.fromhex("ffd8 ffc0 000b 08 0010 0020 01 011100"))
        (16, 32)
    """
    if frame.startswith(_JPEG):
        return _jpeg_size(frame)
    place = frame.find(_JPEG_2000)
    if place < 0:
        return None
    columns, rows, left, top = struct.unpack_from(">4I", frame, place + 8)
    return rows - top, columns - left


def _jpeg_size(frame: bytes) -> tuple[int, int] | None:
    place = 2
    while place + 9 <= len(frame):
        marker, length = frame[place + 1], int.from_bytes(frame[place + 2 : place + 4], "big")
        if frame[place] != 0xFF or marker == 0xFF:
            place += 1
        elif (0xC0 <= marker <= 0xCF and marker not in _NO_FRAME) or marker == 0xF7:
            rows, columns = struct.unpack_from(">2H", frame, place + 5)
            return rows, columns
        else:
            place += 2 + length
    return None
