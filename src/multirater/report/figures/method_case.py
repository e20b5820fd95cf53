"""What a fusion or a network says of a case, probabilities included."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.evaluation.predictions import PredictedCase


@dataclass(frozen=True, eq=False)
class MethodCase:
    """What one method says of one case.

    Attributes:
        predicted: the label, and what is predicted of the raters.
    """

    predicted: PredictedCase

    @property
    def n_details(self) -> int:
        """How many kinds of things it says beyond the truth."""
        said = self.predicted
        parts = (said.confusion, said.raters, said.soft, said.recurrences)
        return sum(bool(part) for part in parts)

    def read_probability(self, space: tuple[int, ...]) -> NDArray[np.floating[Any]] | None:
        """Read class probabilities (n_classes, *space), classes in the reference's order."""
        file = self.predicted.soft
        return None if file is None else self.predicted.read_probability(file, space)
