"""Masks that tools keep inside of their JSON: a PNG in letters, perhaps packed once more."""

from __future__ import annotations

import base64
import io
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.formats.claims import require_png_checksums

_ROOM = 4
"""How many times as many pixels as its image a mask may have: what juts out is cut."""

_SMALL = 2**16
"""Pixels that a mask may have whatever its image."""


_DAMAGED = (OSError, ValueError, TypeError, SyntaxError, zlib.error)


def stored_mask(text: Any, space: tuple[int, ...], *, is_packed: bool = False) -> NDArray[np.bool_]:
    """Return the mask (height, width) in a PNG that is written in base 64.

    Args:
        text: the letters.
        space: (height, width) of the image that it belongs to.
        is_packed: whether the PNG was packed by zlib before.

    Returns:
        Where grey values are above 0, or pictures of several channels not transparent.

    Raises:
        InputError: it is damaged, or much larger than the image.
    """
    from PIL import Image as Pillow

    most = max(_ROOM * space[0] * space[1], _SMALL)
    try:
        content = base64.b64decode(text, validate=True)
        # A PNG of noise is little larger than its pixels, of four channels here.
        stream = io.BytesIO(_unpacked(content, 8 * most) if is_packed else content)
        require_png_checksums(stream)
        stream.seek(0)
        with Pillow.open(stream, formats=["PNG"]) as picture:
            if picture.width * picture.height > most:
                raise ValueError(f"it has {picture.width} x {picture.height} pixels")
            is_clear = "transparency" in picture.info
            if picture.mode in ("1", "L", "I", "I;16") or (picture.mode == "P" and not is_clear):
                return np.asarray(picture) > 0
            if picture.mode in ("P", "LA", "RGBA"):
                return np.asarray(picture.convert("RGBA"))[..., -1] > 0
            raise ValueError(f"it is a picture of mode {picture.mode}")
    except (*_DAMAGED, Pillow.DecompressionBombError) as error:
        raise InputError(
            Fault(
                f"has a mask that cannot be used: {error}",
                expected="a whole PNG, black and white or with opacity, no larger than the image",
                fix="draw it again, or export again",
            )
        ) from None


def _unpacked(content: bytes, most: int) -> bytes:
    unpack = zlib.decompressobj()
    found = unpack.decompress(content, most)
    if unpack.unconsumed_tail or not unpack.eof:
        raise ValueError("it is cut off, or unpacks to more than an image of this size")
    return found
