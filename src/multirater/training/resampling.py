"""Images and labels on another grid: as many pixels as a spacing asks for, over the same field.

The first pixel's outer edge stays where it is and so does the last one's, so that going there and
back arrives at the grid one came from.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from multirater.errors import Fault, InputError
from multirater.free_memory import free_memory

_USUAL, _FINEST = 2**28, 64
"""Bytes that no grid is refused for, and beyond them how many times more pixels it may have: slices
ten times as thick as their pixels are wide become ten times as many."""

_LINEAR = {1: "linear", 2: "bilinear", 3: "trilinear"}


def resampled_size(
    size: Sequence[int], spacing: Sequence[float], wanted: Sequence[float]
) -> tuple[int, ...]:
    """Return how many pixels a field has at the wanted spacing, per axis.

    Example:
        >>> resampled_size((20, 100), (5.0, 0.5), (5.0, 1.0))
        (20, 50)
    """
    return tuple(
        max(round(have * now / want), 1)
        for have, now, want in zip(size, spacing, wanted, strict=True)
    )


def resize_maps(maps: NDArray[Any], size: Sequence[int]) -> NDArray[np.float32]:
    """Bring images or probabilities (channels, *space) to another size, by interpolation."""
    if tuple(maps.shape[1:]) == tuple(size):
        return maps.astype(np.float32, copy=False)
    _require_room(maps.shape, size)
    values = torch.from_numpy(np.ascontiguousarray(maps, dtype=np.float32))[None]
    pairs = zip(size, maps.shape[1:], strict=True)
    shrinks = len(size) == 2 and any(new < old for new, old in pairs)
    found = functional.interpolate(
        values, size=tuple(size), mode=_LINEAR[len(size)], align_corners=False, antialias=shrinks
    )
    return np.asarray(found[0].numpy())


def _require_room(shape: Sequence[int], size: Sequence[int]) -> None:
    """Refuse a grid so fine that its image would not fit into memory, or says nothing more."""
    n_bytes = 4 * prod((shape[0], *size))
    sensible = max(_USUAL, _FINEST * 4 * prod(shape))
    if n_bytes > max(2**26, min(sensible, 0.8 * free_memory())):
        found, expected = (" x ".join(map(str, each)) for each in (size, shape[1:]))
        raise InputError(
            Fault(
                f"an image of {expected} would become one of {found}: {n_bytes / 1e9:.1f} GB",
                expected=f"at most {_FINEST} times as many pixels, and images that fit into memory",
                fix="look at the spacing of the image, and at that of the run (config.json)",
            )
        )


def resize_labels(labels: NDArray[np.int16], size: Sequence[int]) -> NDArray[np.int16]:
    """Bring labels (n_raters, *space) to another size, each rater's by the nearest pixel."""
    if tuple(labels.shape[1:]) == tuple(size):
        return labels
    found = labels
    for axis, (new, old) in enumerate(zip(size, labels.shape[1:], strict=True), start=1):
        nearest = np.minimum(((np.arange(new) + 0.5) * old / new).astype(np.int64), old - 1)
        found = np.take(found, nearest, axis=axis)
    return found
