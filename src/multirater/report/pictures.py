"""Images as small pictures a browser shows: WebP, within a given number of bytes."""

from __future__ import annotations

import base64
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow

_QUALITIES = {90: 1.0, 80: 0.65, 68: 0.48, 55: 0.39, 42: 0.31, 30: 0.22}
"""Of WebP, best first, and about how large a picture gets by them."""

_TIGHT = 0.25
"""Bytes per pixel below which the best quality is not likely to fit."""

_LOSSLESS_PIXELS = 256 * 256
_MOST_CHANNELS = 4
_LARGEST_SIDE = 2048


def as_shades(array: NDArray[Any]) -> list[NDArray[np.uint8]]:
    """Turn an image (channels, *space) into what is shown of it, 8 bits each.

    Three channels of bytes are one colour picture (*space, 3); any other channels (modalities) are
    pictures in grey, the first four. Bytes stay as they are; other numbers are spread between
    their 0.5th and 99.5th percentile.
    """
    if array.dtype == np.uint8 and len(array) == 3:
        return [np.moveaxis(array, 0, -1)]
    return [_spread(channel) for channel in array[:_MOST_CHANNELS]]


def _spread(channel: NDArray[Any]) -> NDArray[np.uint8]:
    if channel.dtype == np.uint8:
        return np.asarray(channel)
    if channel.dtype == np.bool_:
        return channel.astype(np.uint8) * np.uint8(255)
    values = channel.astype(np.float32)
    finite = values[np.isfinite(values)]
    if not finite.size:
        return np.zeros(channel.shape, dtype=np.uint8)
    # A sample is enough to find percentiles by, and much faster for volumes.
    low, high = np.percentile(finite[:: max(finite.size // 200_000, 1)], [0.5, 99.5])
    if high <= low:
        low, high = float(finite.min()), float(finite.max()) or 1.0
    scaled = (np.nan_to_num(values, nan=low) - low) / max(high - low, 1e-12)
    return np.asarray(np.clip(scaled, 0, 1) * 255).astype(np.uint8)


def encode_picture(shades: NDArray[np.uint8], most_bytes: int) -> str:
    """Encode a picture (height, width[, 3]) as base64 WebP of at most so many bytes.

    Small pictures are kept without loss where they fit; others lose quality first, then size.

    Args:
        shades: grey or colour.
        most_bytes: of the WebP file, before base64.
    """
    picture = Pillow.fromarray(shades)
    if max(picture.size) > _LARGEST_SIDE:
        picture.thumbnail((_LARGEST_SIDE, _LARGEST_SIDE))
    if picture.width * picture.height <= _LOSSLESS_PIXELS:
        data = _webp(picture, lossless=True)
        if len(data) <= most_bytes:
            return _text(data)
    while True:
        data = _fitting(picture, most_bytes)
        if len(data) <= most_bytes or min(picture.size) < 64:
            return _text(data)
        picture = picture.resize((picture.width * 2 // 3, picture.height * 2 // 3))


def _fitting(picture: Pillow.Image, most_bytes: int) -> bytes:
    """Encode by the best quality that fits, or the least: one try tells the size of the others."""
    is_tight = most_bytes < _TIGHT * picture.width * picture.height
    first = 68 if is_tight else 90
    tried = {first: _webp(picture, quality=first)}
    whole = len(tried[first]) / _QUALITIES[first]
    for quality, size in _QUALITIES.items():
        if size * whole > most_bytes and quality not in tried and quality != min(_QUALITIES):
            continue
        data = tried.get(quality) or _webp(picture, quality=quality)
        if len(data) <= most_bytes:
            return data
    return data


def _webp(picture: Pillow.Image, **options: Any) -> bytes:
    stream = BytesIO()
    picture.save(stream, "WEBP", method=0, **options)  # slower methods hardly save room
    return stream.getvalue()


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
