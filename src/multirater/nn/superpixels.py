"""Superpixels: parts of an image that are alike, their colours and their neighbours, 2-D or 3-D.

Plain arrays, for graph cuts over superpixels instead of pixels.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from multirater.extras import extra

Colours: TypeAlias = NDArray[np.float64]
Segments: TypeAlias = NDArray[np.int64]

_PIXELS_PER_SEGMENT = 12
"""Superpixels are about this large: small enough that thin structures are not joined."""


def channels_last(image: NDArray[Any]) -> Colours:
    """Return an image (channels, *space) with channels last, each from 0 to 1.

    Example:
        >>> channels_last(np.array([[[2.0, 4.0], [3.0, 2.0]]]))[..., 0].tolist()
        [[0.0, 1.0], [0.5, 0.0]]
    """
    values = np.moveaxis(image.astype(np.float64), 0, -1)
    space = tuple(range(values.ndim - 1))
    low, width = values.min(space), np.ptp(values, axis=space)
    return np.asarray((values - low) / np.where(width > 0, width, 1.0))


def superpixels(colours: Colours) -> Segments:
    """Return the number of the superpixel, from 0, that each pixel is part of, (*space).

    Args:
        colours: from `channels_last`, (*space, channels).
    """
    with extra():
        from skimage.segmentation import slic
    n_pixels = colours[..., 0].size
    return np.asarray(
        slic(
            colours,
            n_segments=max(2, n_pixels // _PIXELS_PER_SEGMENT),
            compactness=0.05,
            start_label=0,
            channel_axis=-1,
        )
    )


def sums(values: NDArray[Any], segments: Segments) -> NDArray[np.float64]:
    """Return sums over each superpixel, (n_superpixels, channels).

    Args:
        values: (*space, channels).
        segments: (*space).

    Example:
        >>> sums(np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 1])).ravel().tolist()
        [1.0, 6.0]
    """
    n_found = int(segments.max()) + 1
    each = [
        np.bincount(segments.ravel(), channel.ravel(), minlength=n_found)
        for channel in np.moveaxis(values, -1, 0)
    ]
    return np.stack(each, axis=-1)


def mean_colours(colours: Colours, segments: Segments) -> Colours:
    """Return the mean colour of each superpixel, (n_superpixels, channels)."""
    return sums(colours, segments) / np.maximum(np.bincount(segments.ravel()), 1)[:, None]


def borders(
    segments: Segments, colours: Colours
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return which superpixels meet.

    Args:
        segments: (*space).
        colours: mean of each superpixel, (n_superpixels, channels).

    Returns:
        pairs (n, 2), the smaller number first; how many pixels meet at their border, (n,); and how
        far their colours are apart, (n,).

    Example:
        >>> pairs, length, apart = borders(np.array([[0, 1], [0, 1]]), np.array([[0.0], [0.5]]))
        >>> pairs.tolist(), length.tolist(), apart.tolist()
        ([[0, 1]], [2], [0.5])
    """
    pairs = np.concatenate(
        [
            np.stack([np.delete(segments, -1, axis).ravel(), np.delete(segments, 0, axis).ravel()])
            for axis in range(segments.ndim)
        ],
        axis=1,
    ).T
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1)
    met, length = np.unique(pairs, axis=0, return_counts=True)
    apart = np.linalg.norm(colours[met[:, 0]] - colours[met[:, 1]], axis=1)
    return met, length, apart
