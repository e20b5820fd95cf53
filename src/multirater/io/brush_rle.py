"""The run lengths in which Label Studio keeps brush strokes: four equal bytes per pixel.

The format is that of the package rle-pack of thi.ng: 32 bits of length, 5 of word size less one,
four times 4 of the sizes of counts less one; then runs (1, which size, count less one, value) and
stretches of single values (0, which size, count less one, values). Label Studio's own converter is
the peer of tests and not a dependency: docs/tools/label-studio.md says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError

_CHANNELS = 4
_COUNT_SIZES = (3, 4, 8, 16)
"""Bits of the counts that are written; files may have others."""


def decode_brush(rle: Any, space: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return the painted pixels (height, width).

    Args:
        rle: bytes as whole numbers.
        space: (height, width) of the image.

    Raises:
        InputError: it is cut off, or of another size.

    Example:
        >>> decode_brush(encode_brush(np.eye(2)), (2, 2)).tolist()
        [[True, False], [False, True]]
    """
    n_values = space[0] * space[1] * _CHANNELS
    try:
        stream = _Bits(np.asarray(rle, dtype=np.uint8))
        n_told = stream.read(32)
        if n_told != n_values:
            raise _unusable(f"RLE of {n_told / _CHANNELS:g} pixels", space)
        word = stream.read(5) + 1
        sizes = [stream.read(4) + 1 for _ in range(4)]
        values = np.empty(n_values, dtype=np.uint32)
        done = 0
        while done < n_values:
            is_run = stream.read(1)
            end = done + 1 + stream.read(sizes[stream.read(2)])
            if end > n_values:
                raise _unusable("RLE that goes on after the last pixel", space)
            values[done:end] = stream.read(word) if is_run else stream.words(word, end - done)
            done = end
    except (EOFError, ValueError, TypeError, OverflowError):
        raise _unusable("RLE that is cut off, or no RLE", space) from None
    return np.asarray(values.reshape(*space, _CHANNELS)[..., -1] > 0)


def encode_brush(mask: NDArray[Any]) -> list[int]:
    """Return a mask (height, width) as Label Studio keeps it.

    Example:
        >>> len(encode_brush(np.zeros((2, 2))))
        9
    """
    values = np.repeat(np.asarray(mask, dtype=bool).ravel(), _CHANNELS)
    edges = np.flatnonzero(np.diff(values)) + 1
    starts = [0, *edges.tolist()]
    bits = [f"{values.size:032b}", f"{8 - 1:05b}", *(f"{size - 1:04b}" for size in _COUNT_SIZES)]
    for start, end in zip(starts, [*edges.tolist(), values.size], strict=True):
        bits += _runs(end - start, 255 if values[start] else 0)
    packed = np.packbits(np.frombuffer("".join(bits).encode(), dtype=np.uint8) - ord("0"))
    return [int(byte) for byte in packed]


def _runs(length: int, value: int) -> list[str]:
    """Return the bits of equal values, in as many runs as the largest count needs."""
    largest = 1 << _COUNT_SIZES[-1]
    parts = [largest] * (length // largest) + ([length % largest] if length % largest else [])
    bits = []
    for part in parts:
        which = next(i for i, size in enumerate(_COUNT_SIZES) if part <= 1 << size)
        bits.append(f"1{which:02b}{part - 1:0{_COUNT_SIZES[which]}b}{value:08b}")
    return bits


class _Bits:
    """Bits that are read one number after the other."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self.bytes = data.tobytes()
        self.place = 0

    def read(self, n_bits: int) -> int:
        start, end = self.place, self.place + n_bits
        if end > 8 * len(self.bytes):
            raise EOFError
        self.place = end
        window = int.from_bytes(self.bytes[start // 8 : (end + 7) // 8], "big")
        return (window >> (-end % 8)) & ((1 << n_bits) - 1)

    def words(self, n_bits: int, n_words: int) -> Sequence[int]:
        return [self.read(n_bits) for _ in range(n_words)]


def _unusable(found: str, space: tuple[int, ...]) -> InputError:
    return InputError(
        Fault(
            f"is an {found}",
            expected=f"{space[0] * space[1]} pixels, {space[1]} x {space[0]} (width x height)",
            fix="export again, or give the image that was drawn on",
        )
    )
