"""Arrays in unnamed files, for images and maps that are larger than memory should hold.

They are read and written like any other. Pages that were touched stay in memory until they are let
go; what is in them stays in the file, which goes with the array.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Sequence
from tempfile import TemporaryFile
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Room: TypeAlias = Callable[[Sequence[int]], NDArray[np.float32]]
"""Makes an array of a shape."""


def in_memory(shape: Sequence[int]) -> NDArray[np.float32]:
    """Return an array whose values are still to be written."""
    return np.empty(tuple(shape), dtype=np.float32)


def in_file(shape: Sequence[int]) -> NDArray[np.float32]:
    """Return an array of zeros in a file."""
    with TemporaryFile() as file:
        return np.memmap(file, dtype=np.float32, mode="w+", shape=tuple(shape))


def let_go(array: NDArray[Any]) -> None:
    """Give back the memory of an array in a file; of any other array, do nothing.

    Example:
        >>> array = in_file((2, 3))
        >>> array[1] = 7
        >>> let_go(array)
        >>> array.tolist()
        [[0.0, 0.0, 0.0], [7.0, 7.0, 7.0]]
    """
    pages = getattr(array, "_mmap", None)
    if pages is not None and hasattr(mmap, "MADV_DONTNEED"):
        pages.madvise(mmap.MADV_DONTNEED)
