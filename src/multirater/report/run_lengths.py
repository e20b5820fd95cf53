"""Maps of few distinct values as text: run lengths, deflated, in base64.

A page decodes them with what every browser has: base64, `DecompressionStream` and a short loop.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray


def encode_runs(values: NDArray[Any]) -> str:
    """Encode whole numbers, zero or more, in C order.

    Every run becomes two numbers, its value and its length less one, each in groups of seven bits,
    lowest first, with the eighth bit set where more follow (LEB128).

    Example:
        >>> decode_runs(encode_runs(np.array([[0, 0], [0, 300]]))).tolist()
        [0, 0, 0, 300]
    """
    flat = values.ravel()
    starts = np.flatnonzero(np.concatenate(([True], flat[1:] != flat[:-1]))[: flat.size])
    lengths = np.diff(starts, append=flat.size) - 1
    numbers = np.empty(2 * len(starts), dtype=np.int64)
    numbers[0::2], numbers[1::2] = flat[starts], lengths
    return base64.b64encode(zlib.compress(_leb128(numbers), 9)).decode("ascii")


def decode_runs(text: str) -> NDArray[np.int64]:
    """Decode what `encode_runs` made, as a flat array."""
    data = np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype=np.uint8)
    numbers, value, shift = [], 0, 0
    for byte in data.tolist():
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(value)
            value, shift = 0, 0
    pairs = np.array(numbers, dtype=np.int64).reshape(-1, 2)
    return np.repeat(pairs[:, 0], pairs[:, 1] + 1)


def _leb128(numbers: NDArray[np.int64]) -> bytes:
    parts = []
    rest = numbers.copy()
    going = np.ones(len(numbers), dtype=bool)
    while going.any():
        more = rest >= 128
        parts.append(np.where(going, (rest & 127) | (more << 7), -1))
        rest >>= 7
        going &= more
    if not parts:
        return b""
    laid_out = np.stack(parts, axis=1).ravel()
    return laid_out[laid_out >= 0].astype(np.uint8).tobytes()
