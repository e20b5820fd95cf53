"""Some pixels of some cases: what raters drew there, what their heads say, what the image shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from multirater.types import MISSING


@dataclass(frozen=True, eq=False)
class Pixels:
    """Pixels that raters are judged by.

    Attributes:
        predicted: probabilities of what each rater would draw, (n_raters, n_pixels, n_classes).
        labels: what they drew, (n_raters, n_pixels), -1 where missing.
        case: number of the case of each pixel, (n_pixels,). All cases of a patient count as one:
            what is learned from some of them is no surprise in the others.
        features: that the network sees at each pixel, (n_pixels, n_features).
        truth: probability of each class by the network's truth, (n_pixels, n_classes).
        filters: responses of fixed filters there, (n_pixels, n_filters).
    """

    predicted: NDArray[np.float64]
    labels: NDArray[np.int64]
    case: NDArray[np.int64]
    features: NDArray[np.float32]
    truth: NDArray[np.float64]
    filters: NDArray[np.float32]

    @staticmethod
    def of_one_case(predicted: NDArray[np.float64], labels: NDArray[np.int64]) -> Pixels:
        """Return pixels of a single case, without features and filters."""
        nothing = np.zeros((labels.shape[1], 0), np.float32)
        case, truth = np.zeros(len(nothing), np.int64), predicted.mean(0)
        return Pixels(predicted, labels, case, nothing, truth, nothing)

    @staticmethod
    def joined(parts: Sequence[Pixels]) -> Pixels:
        """Return the pixels of several cases as one."""
        return Pixels(
            np.concatenate([part.predicted for part in parts], axis=1),
            np.concatenate([part.labels for part in parts], axis=1),
            np.concatenate([part.case for part in parts]),
            np.concatenate([part.features for part in parts]),
            np.concatenate([part.truth for part in parts]),
            np.concatenate([part.filters for part in parts]),
        )

    def with_cases_of(self, others: Pixels | None) -> Pixels:
        """Return these pixels and those of other cases as one."""
        if others is None:
            return self
        apart = replace(others, case=others.case + self.case.max() + 1)
        return Pixels.joined([self, apart])

    def cases_of_raters(self) -> NDArray[np.int64]:
        """Count the cases that each rater labelled, (n_raters,)."""
        return np.array([len(np.unique(self.case[own != MISSING])) for own in self.labels])
