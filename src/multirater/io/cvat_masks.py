"""Masks as CVAT keeps them: counts along the rows of a box, zeros first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError


def decode_mask(
    counts: str, box: tuple[int, int, int, int], space: tuple[int, ...]
) -> NDArray[np.bool_]:
    """Return the pixels (height, width) of a mask.

    Args:
        counts: lengths of runs, by commas; the first is of pixels that are not set.
        box: left, top, width and height.
        space: (height, width) of the image.

    Raises:
        InputError: the counts do not fill the box, or the box lies outside the image.

    Example:
        >>> decode_mask("1, 2, 1", (1, 0, 2, 2), (2, 4)).astype(int)
        array([[0, 0, 1, 0],
               [0, 1, 0, 0]])
    """
    left, top, width, height = box
    try:
        lengths = [int(each) for each in counts.split(",")]
    except ValueError:
        raise _unusable(f"has counts {counts!r:.30}", "whole numbers by commas") from None
    # Whole numbers of any size: those of arrays would wrap round.
    if min(lengths) < 0 or sum(lengths) != width * height:
        raise _unusable(f"has an RLE of {sum(lengths)} pixels", f"{width} x {height}, its box")
    if (
        min(left, top) < 0
        or min(width, height) < 1
        or left + width > space[1]
        or top + height > space[0]
    ):
        raise _unusable(
            f"has a box at {left}, {top} of {width} x {height}",
            f"one within {space[1]} x {space[0]}, the image",
        )
    mask = np.zeros(space, dtype=bool)
    runs = np.repeat(np.arange(len(lengths)) % 2 == 1, lengths)
    mask[top : top + height, left : left + width] = runs.reshape(height, width)
    return mask


def encode_mask(mask: NDArray[Any]) -> dict[str, str]:
    """Return the attributes of a mask that has at least one pixel.

    Example:
        >>> encode_mask(np.array([[0, 0, 1], [0, 1, 0]]))
        {'rle': '1, 2, 1', 'left': '1', 'top': '0', 'width': '2', 'height': '2'}
    """
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    top, left = int(rows[0]), int(columns[0])
    inside = np.asarray(mask[top : rows[-1] + 1, left : columns[-1] + 1], dtype=bool)
    flat = inside.ravel()
    edges = [0, *(np.flatnonzero(np.diff(flat)) + 1).tolist(), flat.size]
    counts = [0] * bool(flat[0]) + np.diff(edges).tolist()
    place = {"left": left, "top": top, "width": inside.shape[1], "height": inside.shape[0]}
    return {"rle": ", ".join(map(str, counts))} | {key: str(n) for key, n in place.items()}


def _unusable(found: str, expected: str) -> InputError:
    return InputError(Fault(found, expected=expected, fix="export again"))
