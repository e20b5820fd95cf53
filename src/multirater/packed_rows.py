"""Label patterns held in little memory: in small numbers, and deflated where they are many.

With many raters hardly two pixels carry the same pattern, and the patterns of a study would take
more than its masks.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WORTH_PACKING = 1 << 15
"""Bytes from which on rows are deflated."""


@dataclass(frozen=True, eq=False, slots=True)
class PackedRows:
    """Rows of labels (n_rows, n_raters), unpacked when asked for.

    Attributes:
        data: the rows themselves, or deflated, rater by rater.
        shape: of the rows.
        dtype: of the rows, the smallest that holds them.
    """

    data: NDArray[Any] | bytes
    shape: tuple[int, int]
    dtype: np.dtype[Any]

    def unpack(self) -> NDArray[np.signedinteger[Any]]:
        """Return the rows."""
        if not isinstance(self.data, bytes):
            return self.data
        across = np.frombuffer(zlib.decompress(self.data), dtype=self.dtype)
        return np.ascontiguousarray(across.reshape(self.shape[::-1]).T)


def pack_rows(rows: NDArray[np.integer[Any]]) -> PackedRows:
    """Hold rows (n_rows, n_raters) of class indices, -1 where missing, in little memory.

    Example:
        >>> held = pack_rows(np.array([[0, 1], [-1, 2]]))
        >>> held.dtype.name, held.unpack().tolist()
        ('int8', [[0, 1], [-1, 2]])
    """
    small = rows.astype(np.min_scalar_type(-1 - max(int(rows.max(initial=0)), 0)))
    n_rows, n_raters = small.shape
    if small.nbytes < _WORTH_PACKING:
        return PackedRows(small, (n_rows, n_raters), small.dtype)
    deflated = zlib.compress(np.ascontiguousarray(small.T).tobytes(), level=1)
    return PackedRows(deflated, (n_rows, n_raters), small.dtype)
