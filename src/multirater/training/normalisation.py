"""How the intensities of an image become what a network sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from multirater.training.paged import Room, in_memory, let_go

_PART_PIXELS = 2**22

NormalisationKind = Literal["case", "study"]


@dataclass(frozen=True)
class Normalisation:
    """How to bring intensities to about zero mean and unit variance.

    Attributes:
        kind: `case`, each channel of each case by its own mean and deviation, for images whose
            intensities have no unit; `study`, all cases by the same numbers, where a value means
            the same in all of them: Hounsfield units, colours.
        mean: per channel, of the study.
        deviation: per channel, of the study.
        low: per channel, what lower values are raised to; empty for nothing.
        high: per channel, what higher values are lowered to; empty for nothing.
    """

    kind: NormalisationKind = "case"
    mean: tuple[float, ...] = ()
    deviation: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


OWN = Normalisation()
"""Each channel of each case by itself."""


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
            values[number, rows] = (part - mean) / max(deviation, 1e-6)
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
