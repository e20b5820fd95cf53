"""What a network says of an image, and bringing it back to the grid of the image."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.training.orientation import Turn
from multirater.training.paged import let_go
from multirater.training.resampling import resize_maps
from multirater.types import Case, Geometry

_ROWS = 64


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a network says of one image.

    Attributes:
        probability: of the truth, float32 (n_classes, *space).
        drawn: probability of what each rater asked for would draw, float32 (n_raters, n_classes,
            *space); None when not asked for or when the method knows nothing of raters.
        confusion: matrices, float32 (n_raters, true, observed, *space); None when there are none.
    """

    probability: NDArray[np.float32]
    drawn: NDArray[np.float32] | None = None
    confusion: NDArray[np.float32] | None = None

    @property
    def label(self) -> NDArray[np.int16]:
        """Most probable class, (*space)."""
        return most_probable(self.probability)

    def rater_label(self, rater: int) -> NDArray[np.int16]:
        """Return what a rater would have drawn, (*space); the truth when nothing else is known."""
        return self.label if self.drawn is None else most_probable(self.drawn[rater])


def most_probable(probability: NDArray[np.float32]) -> NDArray[np.int16]:
    """Return the class (*space) that is most probable of (n_classes, *space), part by part."""
    if probability.ndim == 1:
        return np.asarray(probability.argmax(0), dtype=np.int16)
    label = np.empty(probability.shape[1:], dtype=np.int16)
    for start in range(0, len(label), _ROWS):
        label[start : start + _ROWS] = probability[:, start : start + _ROWS].argmax(0)
        let_go(probability)
    return label


@dataclass(frozen=True, eq=False)
class CasePrediction:
    """A case with its prediction, in the geometry of its image."""

    case: Case
    geometry: Geometry
    prediction: Prediction


def require_numbers(probability: NDArray[np.float32], case: str) -> None:
    """Refuse an answer that is none: of probabilities that are NaN the first class would win."""
    if np.isfinite(probability.max() - probability.min()):  # NaN goes through both
        return
    raise InputError(
        Fault(
            "the network's answer is not a number",
            expected="probabilities",
            fix="look for extreme values in the image, or train again",
            case=case,
        )
    )


def resized(prediction: Prediction, space: tuple[int, ...]) -> Prediction:
    """Bring what was predicted to another size; probabilities stay such."""
    if prediction.probability.shape[1:] == space:
        return prediction
    parts = (prediction.probability, prediction.drawn, prediction.confusion)
    return Prediction(*(None if part is None else _maps_resized(part, space) for part in parts))  # type: ignore[arg-type]


def turned_back(prediction: Prediction, turn: Turn) -> Prediction:
    """Bring what was predicted of a turned volume to the axes that the volume has."""
    if turn.is_nothing:
        return prediction
    parts = (prediction.probability, prediction.drawn, prediction.confusion)
    return Prediction(*(None if part is None else turn.back.of(part) for part in parts))  # type: ignore[arg-type]


def _maps_resized(maps: NDArray[np.float32], space: tuple[int, ...]) -> NDArray[np.float32]:
    """Bring maps (..., *space) to another size, one after the other."""
    n_axes = len(space)
    before = maps.shape[:-n_axes]
    found = np.empty((*before, *space), dtype=np.float32)
    for place in np.ndindex(*before):
        found[place] = resize_maps(maps[place][None], space)[0]
    return found
