"""Pixels of a label file on which nothing was drawn: transparent ones, and those of a stated value.

They become -1 in every channel, which whatever decodes the file understands as *not labelled*.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.formats.opacity import without_full_opacity
from multirater.types import MISSING


def without_opacity(array: NDArray[Any], *, may_be_transparent: bool) -> tuple[NDArray[Any], bool]:
    """Drop a last channel of opacity, and tell whether it made pixels -1.

    Args:
        array: values (channels, *space).
        may_be_transparent: whether pixels without opacity are -1 in the result. Else, and in files
            with at most one channel set per pixel, which are channels of classes, a last channel
            is opacity only if it is full everywhere.

    Raises:
        InputError: pixels are neither opaque nor transparent.
    """
    if len(array) not in (2, 4) or array.dtype not in (np.uint8, np.uint16):
        return array, False
    visible = without_full_opacity(array)
    if visible is not array:
        return visible, False
    *colours, opacity = array
    full = np.iinfo(array.dtype).max
    are_classes = np.any(colours) and ((array != 0).sum(0) <= 1).all()
    if not may_be_transparent or are_classes:
        return array, False
    n_half = int(((opacity != 0) & (opacity != full)).sum())
    if n_half:
        raise InputError(
            Fault(
                f"{n_half} pixels are half transparent",
                expected="pixels that are opaque where something was drawn, else transparent",
                fix="draw without soft edges (anti-aliasing), or export without transparency",
            )
        )
    return np.where(opacity == 0, MISSING, array[:-1].astype(np.int64)), True


def holds(array: NDArray[Any], stated: int) -> NDArray[np.bool_]:
    """Tell which pixels (*space) of an array (channels, *space) hold a value.

    A value means the same in all channels; in colours beyond 255 it is red, green and blue, as in
    0xrrggbb.

    Example:
        >>> holds(np.array([[[0, 18]], [[0, 52]], [[0, 86]]]), 0x123456)
        array([[False,  True]])
    """
    colour = [stated] * len(array)
    if len(array) == 3 and stated > 255 and array.max(initial=0) <= 255:
        colour = [stated >> 16, stated >> 8 & 255, stated & 255]
    same = [values == part for values, part in zip(array, colour, strict=True)]
    return np.asarray(np.logical_and.reduce(same))
