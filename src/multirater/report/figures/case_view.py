"""What figures show of one case: plain arrays of one plane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.formats.grid import size_text
from multirater.report.figures.cutout import Cutout, choose_plane
from multirater.report.figures.method_case import MethodCase
from multirater.types import Case, Image

Plane2D = NDArray[np.int16]
"""Class indices (rows, columns), -1 where not labelled."""


@dataclass(frozen=True, eq=False)
class CaseView:
    """One plane of a case.

    Attributes:
        name: of the case.
        labels: what each rater drew, class indices (rows, columns).
        estimates: fused or predicted truth, by the name of the method.
        truth: when it is known.
        image: (rows, columns) grey or (rows, columns, 3) colour, 0 to 1; None without image.
        detailed: the method that probability, drawn and confusion come from; empty without one.
        probability: of the classes, (n_classes, rows, columns).
        drawn: what each rater is predicted to draw.
        confusion: maps (true, observed, rows, columns) of each rater.
        recurrences: probability after each recurrence, of methods that have them.
        aspect: height of a pixel in units of its width.
        note: which part of the case this is.
    """

    name: str
    labels: Mapping[str, Plane2D] = field(default_factory=dict)
    estimates: Mapping[str, Plane2D] = field(default_factory=dict)
    truth: Plane2D | None = None
    image: NDArray[np.floating[Any]] | None = None
    detailed: str = ""
    probability: NDArray[np.floating[Any]] | None = None
    drawn: Mapping[str, Plane2D] = field(default_factory=dict)
    confusion: Mapping[str, NDArray[np.floating[Any]]] = field(default_factory=dict)
    recurrences: Sequence[NDArray[np.floating[Any]]] = ()
    aspect: float = 1.0
    note: str = ""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        arrays = [*self.labels.values(), *self.estimates.values(), self.truth, self.image]
        rows, columns = next(each for each in arrays if each is not None).shape[:2]
        return rows, columns

    @property
    def estimate(self) -> Plane2D | None:
        """The estimated truth that goes with the probability, or the first there is."""
        return self.estimates.get(self.detailed, next(iter(self.estimates.values()), None))

    @property
    def highest(self) -> int:
        """Largest class index in any label."""
        arrays = [*self.labels.values(), *self.estimates.values(), *self.drawn.values()]
        arrays += [self.truth] if self.truth is not None else []
        return max((int(each.max(initial=0)) for each in arrays), default=0)


def view_case(case: Case, estimates: Mapping[str, MethodCase]) -> CaseView:
    """Read a case and take the plane worth showing.

    Args:
        case: with image, labels of raters, and truth, as far as there are any.
        estimates: what methods say of the case, by their names. The one that says most is also
            asked for probabilities and for what it predicts of the raters.
    """
    labels = {rater: case.read_label(rater) for rater in case.labels}
    guesses = {name: each.predicted.label.read().array for name, each in estimates.items()}
    truth, image = case.read_truth(), case.read_image()
    known = [*guesses.values(), *([truth.array] if truth is not None else [])]
    drawn = [each.array for each in labels.values()]
    space = next((each.shape for each in (*drawn, *known)), image.space if image else ())
    _require_same_space(space, guesses, case.name)
    plane = choose_plane(
        np.stack(drawn) if drawn else np.zeros((0, *space), np.int16),
        np.stack(known) if known else None,
    )
    geometry = next((each.geometry for each in (*labels.values(), truth, image) if each), None)
    return CaseView(
        case.name,
        {rater: plane.of(each.array) for rater, each in labels.items()},
        {name: plane.of(each) for name, each in guesses.items()},
        None if truth is None else plane.of(truth.array),
        None if image is None else picture(image, plane),
        aspect=1.0 if geometry is None else geometry.spacing[-2] / geometry.spacing[-1],
        note=plane.note,
        **_details(estimates, space, plane),
    )


def _require_same_space(
    space: tuple[int, ...], guesses: Mapping[str, NDArray[Any]], case: str
) -> None:
    for name, guess in guesses.items():
        if guess.shape != space:
            raise InputError(
                Fault(
                    f"{name} gives it size {size_text(guess.shape)}",
                    expected=f"{size_text(space)}, the size of the raters' labels",
                    fix="fuse or predict the images that the labels were drawn on",
                    case=case,
                )
            )


def _details(
    estimates: Mapping[str, MethodCase], space: tuple[int, ...], plane: Cutout
) -> dict[str, Any]:
    """Read what the most talkative method says beyond the truth; the first one among equals."""
    if not estimates:
        return {}
    name = max(estimates, key=lambda method: estimates[method].n_details)
    predicted = estimates[name].predicted
    probability = estimates[name].read_probability(space)
    return {
        "detailed": name,
        "probability": None if probability is None else plane.of(probability),
        "drawn": {rater: plane.of(each.read().array) for rater, each in predicted.raters.items()},
        "confusion": {
            rater: plane.of(predicted.read_confusion(rater, space)) for rater in predicted.confusion
        },
        "recurrences": [
            plane.of(predicted.read_probability(file, space)) for file in predicted.recurrences
        ],
    }


def picture(image: Image, plane: Cutout) -> NDArray[np.floating[Any]]:
    """Return an image for the eye, 0 to 1: three channels as colour, else the first as grey.

    The darkest and the brightest hundredth of grey values are clipped, because single bright
    pixels would leave the rest dark.
    """
    shown = plane.of(image.array)
    if len(shown) == 3 and shown.dtype == np.uint8:
        return np.asarray(np.moveaxis(shown, 0, -1) / 255)
    grey = np.nan_to_num(shown[0].astype(float))
    low, high = np.percentile(grey, [1, 99])
    if low == high:
        low, high = grey.min(), grey.max()
    return np.asarray(np.clip((grey - low) / (high - low or 1), 0, 1))
