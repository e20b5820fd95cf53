"""What an image shows without any learning: responses of fixed filters at every pixel."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

SCALES = (1.0, 2.0, 4.0)
"""Widths of the filters, in pixels."""


def responses(image: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return, of each channel, intensity, smoothed intensities, their slopes and differences.

    Args:
        image: (channels, *space).

    Returns:
        (n_filters, *space), ten filters per channel.

    Example:
        >>> responses(np.zeros((1, 8, 8), dtype=np.float32)).shape
        (10, 8, 8)
    """
    return np.concatenate([_of_channel(channel) for channel in image]).astype(np.float32)


def _of_channel(channel: NDArray[np.float32]) -> NDArray[np.float32]:
    smoothed = [channel, *(ndimage.gaussian_filter(channel, scale) for scale in SCALES)]
    axes = [axis for axis, size in enumerate(channel.shape) if size > 1]
    slopes = [
        np.sqrt(sum((np.gradient(each, axis=axis) ** 2 for axis in axes), np.zeros_like(each)))
        for each in smoothed[1:]
    ]
    differences = [fine - coarse for fine, coarse in itertools.pairwise(smoothed)]
    return np.stack([*smoothed, *slopes, *differences])
