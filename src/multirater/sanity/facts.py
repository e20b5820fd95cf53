"""A study in arrays: what the checks look at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from multirater.io.survey import CaseSurvey, Survey
from multirater.types import MISSING, Dataset


@dataclass(frozen=True, eq=False)
class StudyFacts:
    """What was counted in all cases.

    Attributes:
        dataset: the study, whose classes are known.
        cases: its cases, surveyed.
        pixels: (n_cases, n_raters, n_classes), pixels of each class; for class labels 0 or 1.
    """

    dataset: Dataset
    cases: tuple[CaseSurvey, ...]
    pixels: NDArray[np.float64]

    @property
    def raters(self) -> tuple[str, ...]:
        """Names, in order."""
        return self.dataset.raters

    @property
    def is_masks(self) -> bool:
        """Whether labels are drawings rather than classes of whole images."""
        return self.dataset.kind == "masks"

    @cached_property
    def labelled(self) -> NDArray[np.bool_]:
        """Who labelled which case, (n_cases, n_raters)."""
        return np.asarray(self.pixels.sum(2) > 0)

    @property
    def n_labels(self) -> NDArray[np.int64]:
        """Cases that each rater labelled, (n_raters,)."""
        return np.asarray(self.labelled.sum(0))

    @cached_property
    def size(self) -> NDArray[np.float64]:
        """Pixels that each rater drew of any class but 0, (n_cases, n_raters)."""
        return np.asarray(self.pixels[:, :, 1:].sum(2))

    def names(self, chosen: NDArray[np.bool_]) -> tuple[str, ...]:
        """Names of the cases that are chosen, (n_cases,)."""
        return tuple(self.cases[place].name for place in np.flatnonzero(chosen))


def study_facts(found: Survey) -> StudyFacts:
    """Count what the checks need; nothing is read again."""
    n_classes = len(found.classes)
    n_raters = len(found.dataset.raters)
    pixels = np.zeros((len(found.cases), n_raters, n_classes))
    for place, case in enumerate(found.cases):
        pixels[place] = class_counts(case, n_classes)
    return StudyFacts(found.dataset, found.cases, pixels)


def class_counts(case: CaseSurvey, n_classes: int) -> NDArray[np.float64]:
    """Pixels per rater and class, (n_raters, n_classes)."""
    rows = case.rows
    n_raters = rows.shape[1]
    pattern, rater = np.nonzero(rows != MISSING)
    cell = rater * n_classes + rows[pattern, rater]
    counts = np.bincount(cell, weights=case.counts[pattern], minlength=n_raters * n_classes)
    return counts.reshape(n_raters, n_classes).astype(np.float64)
