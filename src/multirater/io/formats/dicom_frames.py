"""The packed frames of DICOM files, before a decoder takes room for what they claim.

A frame in JPEG, JPEG-LS or JPEG 2000 states its own size, which decoders believe: a few bytes
within an image of 8 x 8 pixels may claim 60 000 x 60 000.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from multirater.io.formats.grid import size_text

_JPEG, _JPEG_2000 = b"\xff\xd8", b"\xff\x4f\xff\x51"
_NO_FRAME = (0xC4, 0xC8, 0xCC)
"""Markers among those of frames (C0 to CF) that are not."""


def require_honest_frames(path: Path, header: Any) -> None:
    """Refuse packed frames of another size than the header's.

    Raises:
        ValueError: a frame says otherwise, or frames cannot be found.
    """
    meta = getattr(header, "file_meta", None)
    syntax = None if meta is None else meta.get("TransferSyntaxUID")
    if syntax is None or not syntax.is_encapsulated:
        return
    import pydicom
    from pydicom.encaps import generate_frames

    content = pydicom.dcmread(path, force=True, specific_tags=["PixelData"])
    n_frames = int(header.get("NumberOfFrames") or 1)
    meant = (int(header.Rows), int(header.Columns))
    for frame in generate_frames(content.PixelData, number_of_frames=n_frames):
        found = frame_size(frame)
        if found is not None and found != meant:
            raise ValueError(f"it has a frame of {size_text(found)}, and claims {size_text(meant)}")


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
