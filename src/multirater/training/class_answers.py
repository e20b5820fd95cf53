"""Class labels as a long table of positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from multirater.types import MISSING, Case

Positions: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ClassAnswers:
    """Class labels as a long table: positions of case, rater and class, each (n_answers,)."""

    case: Positions
    rater: Positions
    label: Positions


def answers_of(cases: Sequence[Case], raters: Sequence[str]) -> ClassAnswers:
    """List the labels that raters gave; those of raters not asked for are left out."""
    place = {rater: position for position, rater in enumerate(raters)}
    rows = [
        (number, place[rater], int(case.read_label(rater).array))
        for number, case in enumerate(cases)
        for rater in case.labels
        if rater in place
    ]
    given = [row for row in rows if row[2] != MISSING]
    return ClassAnswers(*np.array(given, dtype=np.int64).reshape(-1, 3).T)
