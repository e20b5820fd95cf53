"""What a fusion or a network says of a case, probabilities included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.evaluation.predictions import PredictedCase, open_predictions
from multirater.io import read_image
from multirater.io.suffixes import READABLE, suffix_of
from multirater.types import Classes, Dataset

PROBABILITY = "probability"
"""Folder of class probabilities beside the labels."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """What one method says of one case.

    Attributes:
        predicted: the label, and what is predicted of the raters.
        probability: file of class probabilities, if there is one.
    """

    predicted: PredictedCase
    probability: Path | None = None

    @property
    def n_details(self) -> int:
        """How many kinds of things it says beyond the truth."""
        parts = (self.predicted.confusion, self.predicted.raters, self.probability)
        return sum(bool(part) for part in parts)

    def read_probability(self, space: tuple[int, ...]) -> NDArray[np.floating[Any]] | None:
        """Read class probabilities (n_classes, *space), classes in the reference's order."""
        if self.probability is None:
            return None
        order = list(self.predicted.order)
        array = read_image(self.probability, ndim=len(space)).array
        if array.shape != (len(order), *space):
            raise InputError(
                Fault(
                    f"probabilities of shape {array.shape}",
                    expected=f"(n_classes, *space) = {(len(order), *space)}",
                    fix="fuse or predict again",
                    file=str(self.probability),
                    case=self.predicted.name,
                )
            )
        return np.asarray(array[order])


def open_estimates(
    predictions: Dataset, classes: Classes, raters: Sequence[str]
) -> dict[str, Estimate]:
    """Find what a folder of predictions or of a fusion says of each case, by case.

    Args:
        predictions: data set with one rater, the network or the fusion.
        classes: in whose order labels come.
        raters: names of the raters, to know their folders by.
    """
    files = _by_stem(predictions.folder)
    opened = open_predictions(predictions, None, classes, raters).cases
    return {
        name: Estimate(each, next((files[s] for s in _stems(each) if s in files), None))
        for name, each in opened.items()
    }


def _by_stem(folder: Path | None) -> dict[str, Path]:
    place = None if folder is None else folder / PROBABILITY
    if place is None or not place.is_dir():
        return {}
    return {_stem(path): path for path in sorted(place.iterdir()) if suffix_of(path) in READABLE}


def _stems(predicted: PredictedCase) -> list[str]:
    return [_stem(path) for path in predicted.label.paths]


def _stem(path: Path) -> str:
    return path.name.removesuffix(suffix_of(path))
