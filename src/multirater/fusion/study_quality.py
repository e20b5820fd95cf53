"""The quality of each rater of a data set, by the measure of `fuse.quality`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.fuse.answers import answers_from_rows
from multirater.fuse.quality import quality_of_class_labels, quality_of_drawings
from multirater.io.survey import CaseSurvey, Survey


@dataclass(frozen=True, eq=False)
class _Patterns(Iterable[tuple[NDArray[Any], NDArray[Any]]]):
    """Label patterns of cases and pixels that carry them, unpacked one case at a time."""

    cases: list[CaseSurvey]

    def __iter__(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        return ((case.rows, case.counts) for case in self.cases)


def quality_of_study(found: Survey, *, seed: int = 0) -> pd.DataFrame:
    """Return the quality of each rater of a data set, as every result made of it says.

    Args:
        found: the data set, surveyed.
        seed: of the draws behind intervals.

    Returns:
        One row per rater, in the order of the data set, with the `COLUMNS` of `fuse.quality`.
    """
    raters, n_classes = found.dataset.raters, len(found.classes)
    labelled = [case for case in found.cases if len(case.counts)]
    if found.dataset.kind == "masks":
        return quality_of_drawings(_Patterns(labelled), raters, n_classes, seed=seed)
    rows = np.concatenate([case.rows for case in labelled])
    return quality_of_class_labels(answers_from_rows(rows, np.ones(len(rows)), n_classes), raters)
