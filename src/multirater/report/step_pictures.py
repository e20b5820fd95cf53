"""Small pictures of what methods with recurrences say, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from multirater.evaluation.predictions import PredictedCase
from multirater.evaluation.soft_scores import shares
from multirater.report.pictures import encode_picture
from multirater.types import Case

if TYPE_CHECKING:
    from multirater.report.contents import Contents

_CASES = 2
"""Shown of each method: those with the most disagreement."""

_MOST_BYTES = 20_000


@dataclass(frozen=True)
class Picture:
    """A picture with its title.

    Attributes:
        title: in words.
        data: WebP in base64.
    """

    title: str
    data: str


@dataclass(frozen=True)
class StepPictures:
    """The steps of one case.

    Attributes:
        method: whose they are.
        name: of the case.
        pictures: probability of foreground after each recurrence, then the share of raters.
    """

    method: str
    name: str
    pictures: tuple[Picture, ...]


def step_pictures(contents: Contents) -> list[StepPictures]:
    """Return pictures of the cases with most disagreement, for every method with recurrences."""
    if not contents.is_masks:
        return []
    found = []
    for result in contents.subject.results:
        opened = contents.opened[result.name].cases
        ordered = [contents.cases[position] for position in contents.order]
        shown = [c for c in ordered if c.name in opened and opened[c.name].recurrences][:_CASES]
        found += [
            StepPictures(result.name, case.name, tuple(_pictures(case, opened[case.name])))
            for case in shown
        ]
    return found


def _pictures(case: Case, predicted: PredictedCase) -> Iterator[Picture]:
    labels = [case.read_label(rater).array for rater in case.labels]
    space = predicted.label.read().array.shape
    for number, file in enumerate(predicted.recurrences):
        probability = predicted.read_probability(file, space)
        yield _picture(f"recurrence {number}", 1 - probability[0])
    if labels:
        yield _picture("share of raters", np.nan_to_num(1 - shares(labels, 1)[0]))


def _picture(title: str, values: NDArray[Any]) -> Picture:
    """Encode values from 0 to 1, (*space); of a volume the middle slice."""
    flat = values if values.ndim == 2 else values[len(values) // 2]
    shades = np.clip(flat * 255, 0, 255).astype(np.uint8)
    return Picture(title, encode_picture(shades, _MOST_BYTES))
