"""A label map as the connected pieces of its classes, which tools call objects or instances."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray


def pieces(label: NDArray[np.int16]) -> Iterator[tuple[int, NDArray[np.bool_]]]:
    """Yield each class but the background with the mask of each of its connected pieces.

    Example:
        >>> [(index, mask.sum()) for index, mask in pieces(np.array([[1, 0, 1], [1, 0, 2]]))]
        [(1, np.int64(2)), (1, np.int64(1)), (2, np.int64(1))]
    """
    from scipy import ndimage

    for index in np.unique(label[label > 0]).tolist():
        numbered, n_pieces = ndimage.label(label == index)
        for number in range(1, n_pieces + 1):
            yield index, numbered == number
