"""How the intensities of an image become what a network sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

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


def normalise(image: NDArray[Any], how: Normalisation = OWN) -> NDArray[np.float32]:
    """Return an image (channels, *space) as the network sees it; a flat channel becomes zero.

    A vector of features, which has no space to take a mean over, stays as it is.

    Example:
        >>> ct = Normalisation("study", (40.0,), (100.0,), (-160.0,), (240.0,))
        >>> normalise(np.array([[[-1000, 40, 3000]]]), ct).tolist()
        [[[-2.0, 0.0, 2.0]]]
    """
    values = image.astype(np.float32)
    if values.ndim == 1:
        return values
    for number, channel in enumerate(values):  # one by one: no second copy of a large image
        if how.kind == "case":
            channel -= channel.mean(dtype=np.float64)
            deviation = float(np.sqrt(np.square(channel).mean(dtype=np.float64)))
        else:
            if how.low:
                np.clip(channel, how.low[number], how.high[number], out=channel)
            channel -= how.mean[number]
            deviation = how.deviation[number]
        channel /= max(deviation, 1e-6)
    return values
