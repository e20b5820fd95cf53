"""Which axis of an array that says nothing about its axes holds the channels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.formats.grid import size_text

MAX_CHANNELS = 4
"""An outer axis up to this size is taken for channels."""


def channel_axis(shape: tuple[int, ...], ndim: int | None = None) -> int | None:
    """Return the channel axis of an array of this shape, None when there is one channel.

    The rule for arrays without names of axes: (H, W) is an image; of three axes, the first holds
    the channels if it has at most four entries, else the last if it has, else the array is a
    volume; of four axes, one holds the channels by the same test, the first in case of doubt.
    `ndim` overrides it: 2 or 3 spatial axes, and channels on the axis that is left.

    Example:
        >>> channel_axis((3, 64, 64)), channel_axis((64, 64, 3)), channel_axis((30, 64, 64))
        (0, 2, None)
        >>> channel_axis((3, 64, 64), ndim=3), channel_axis((7, 64, 64), ndim=2)
        (None, 0)
    """
    n_axes = len(shape)
    if n_axes not in (2, 3, 4):
        raise InputError(
            Fault(
                f"holds an array of {n_axes} axes ({size_text(shape)})",
                expected="2 to 4 axes: (H, W), (Z, H, W), with or without channels",
                fix="save one image per file",
            )
        )
    if n_axes == 2 or (n_axes == 3 and ndim == 3):
        return None
    if shape[0] <= MAX_CHANNELS:
        return 0
    if shape[-1] <= MAX_CHANNELS:
        return n_axes - 1
    if n_axes == 3 and ndim != 2:
        return None
    return n_axes - 1 if ndim is not None and shape[-1] < shape[0] else 0


def channels_first(array: NDArray[Any], ndim: int | None = None) -> NDArray[Any]:
    """Return the array as (channels, *space) by the rule of `channel_axis`."""
    axis = channel_axis(array.shape, ndim)
    return array[np.newaxis] if axis is None else np.moveaxis(array, axis, 0)
