"""A channel of opacity (alpha) that is full everywhere, and so says nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def without_full_opacity(array: NDArray[Any]) -> NDArray[Any]:
    """Drop the last of two or four channels (channels, *space) if it is full everywhere.

    An opacity that is not full, of one pixel even, stays: it tells something.

    Example:
        >>> without_full_opacity(np.array([[[7, 9]], [[255, 255]]], np.uint8)).tolist()
        [[[7, 9]]]
    """
    if len(array) not in (2, 4) or array.dtype not in (np.uint8, np.uint16):
        return array
    is_full = (array[-1] == np.iinfo(array.dtype).max).all()
    return array[:-1] if is_full else array
