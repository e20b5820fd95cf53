"""How the intensities of an image become what a network sees."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.training.config import OWN, Normalisation, NormalisationKind
from multirater.training.paged import Room, in_memory, let_go

_PART_PIXELS = 2**22

__all__ = ["OWN", "Normalisation", "NormalisationKind", "normalise"]


def normalise(
    image: NDArray[Any], how: Normalisation = OWN, room: Room = in_memory
) -> NDArray[np.float32]:
    """Return an image (channels, *space) as the network sees it; a flat channel becomes zero.

    A vector of features, which has no space to take a mean over, stays as it is.

    Args:
        image: of any type.
        how: by its own numbers, or by the study's.
        room: makes the array that is returned; in memory, or in a file.

    Example:
        >>> ct = Normalisation("study", (40.0,), (100.0,), (-160.0,), (240.0,))
        >>> normalise(np.array([[[-1000, 40, 3000]]]), ct).tolist()
        [[[-2.0, 0.0, 2.0]]]
    """
    if image.ndim == 1:
        return image.astype(np.float32)
    values = room(image.shape)
    for number, channel in enumerate(image):
        mean, deviation = _scale(channel, how, number)
        for rows in _some_rows(channel):  # no second copy of a large image
            part = channel[rows].astype(np.float32)
            if how.kind == "study" and how.low:
                np.clip(part, how.low[number], how.high[number], out=part)
            # Of a channel that was flat in the whole study a network has learned nothing.
            values[number, rows] = (part - mean) / max(deviation, 1e-6) if deviation else 0.0
            let_go(values)
    return values


def _scale(channel: NDArray[Any], how: Normalisation, number: int) -> tuple[float, float]:
    if how.kind == "study":
        return how.mean[number], how.deviation[number]
    mean = float(channel.mean(dtype=np.float64))
    squares = (
        np.square(channel[rows].astype(np.float32) - mean).sum(dtype=np.float64)
        for rows in _some_rows(channel)
    )
    return mean, float(np.sqrt(sum(squares) / channel.size))


def _some_rows(channel: NDArray[Any]) -> list[slice]:
    """Cut a channel into parts of bounded size."""
    n_rows = max(_PART_PIXELS * len(channel) // max(channel.size, 1), 1)
    return [slice(start, start + n_rows) for start in range(0, len(channel), n_rows)]
