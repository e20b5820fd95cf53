"""Some pixels of some cases: what raters drew there, what their heads say, what the image shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from multirater.types import MISSING


@dataclass(frozen=True, eq=False)
class Pixels:
    """Pixels that raters are judged by.

    Attributes:
        predicted: probabilities of what each rater would draw, (n_raters, n_pixels, n_classes).
        labels: what they drew, (n_raters, n_pixels), -1 where missing.
        case: number of the case of each pixel, (n_pixels,).
        features: of the image at each pixel, (n_pixels, n_features).
    """

    predicted: NDArray[np.float64]
    labels: NDArray[np.int64]
    case: NDArray[np.int64]
    features: NDArray[np.float32]

    @staticmethod
    def of_one_case(predicted: NDArray[np.float64], labels: NDArray[np.int64]) -> Pixels:
        """Return pixels of a single case, without features."""
        n = labels.shape[1]
        return Pixels(predicted, labels, np.zeros(n, np.int64), np.zeros((n, 0), np.float32))

    @staticmethod
    def joined(parts: Sequence[Pixels]) -> Pixels:
        """Return the pixels of several cases as one."""
        return Pixels(
            np.concatenate([part.predicted for part in parts], axis=1),
            np.concatenate([part.labels for part in parts], axis=1),
            np.concatenate([part.case for part in parts]),
            np.concatenate([part.features for part in parts]),
        )

    def cases_of_raters(self) -> NDArray[np.int64]:
        """Count the cases that each rater labelled, (n_raters,)."""
        return np.array([len(np.unique(self.case[own != MISSING])) for own in self.labels])
