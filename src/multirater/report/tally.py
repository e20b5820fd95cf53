"""One pass over the cases: how each rater compares with the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.dataset_disagreement import case_disagreement, disagreements
from multirater.errors import InputError
from multirater.io.formats.grid import is_default
from multirater.io.survey import CaseSurvey, Survey
from multirater.metrics import confusion_counts, outline_offsets
from multirater.metrics.overlap import overlap_of_counts
from multirater.parallel import map_parallel
from multirater.patterns import encode_patterns
from multirater.report.reference import Reference
from multirater.types import MISSING, Case

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CaseTally:
    """How the raters of one case compare with the reference.

    Attributes:
        counts: pixels (n_raters, true, observed); zero for raters who did not label the case.
        score: (n_raters,), Dice, or 1 and 0 for right and wrong class labels; NaN where unknown,
            and where neither rater nor reference drew anything.
        offset: (n_raters, n_classes), how far outside the reference outlines are drawn, in pixels
            or millimetres; NaN where there is no outline.
        disagreement: among the raters, 0 to 1; NaN with fewer than two.
        in_millimetres: unit of `offset`.
    """

    counts: NDArray[Any]
    score: Array
    offset: Array
    disagreement: float
    in_millimetres: bool


def tally_cases(found: Survey, reference: Reference, *, workers: int = 1) -> list[CaseTally]:
    """Compare every rater with the reference, case by case.

    Args:
        found: the data set, surveyed.
        reference: what to compare with.
        workers: number of processes.

    Returns:
        One tally per case, in the order of the data set.
    """
    if found.dataset.kind == "classes":
        return _tally_answers(found, reference)
    job = partial(
        _tally, reference=reference, raters=found.dataset.raters, n_classes=len(found.classes)
    )
    pairs = list(zip(found.dataset.cases, found.cases, strict=True))
    return list(map_parallel(job, pairs, label="comparing raters", workers=workers))


def _tally_answers(found: Survey, reference: Reference) -> list[CaseTally]:
    """Compare class labels all at once: there may be very many cases, and few answers of each."""
    n_raters, n_classes = len(found.dataset.raters), len(found.classes)
    answers = answers_of(found)
    true = reference.read_classes(found.dataset.cases, answers)
    known = (answers != MISSING) & (true != MISSING)[:, None]
    counts = np.zeros((*answers.shape, n_classes, n_classes), dtype=np.int8)
    case, rater = np.nonzero(known)
    counts[case, rater, true[case], answers[case, rater]] = 1
    score = np.where(known, answers == true[:, None], np.nan)
    no_outline = np.full((n_raters, n_classes), np.nan)
    return [
        CaseTally(table, right, no_outline, float(apart), False)
        for table, right, apart in zip(counts, score, disagreements(found), strict=True)
    ]


def answers_of(found: Survey) -> NDArray[np.int64]:
    """Return the class labels of a study, (n_cases, n_raters), -1 where missing."""
    nobody = np.full((1, len(found.dataset.raters)), MISSING)
    return np.concatenate([case.rows if len(case.counts) else nobody for case in found.cases])


def _tally(
    pair: tuple[Case, CaseSurvey], reference: Reference, raters: Sequence[str], n_classes: int
) -> CaseTally:
    case, surveyed = pair
    n_raters = len(raters)
    counts = np.zeros((n_raters, n_classes, n_classes), dtype=np.int64)
    score, offset = np.full(n_raters, np.nan), np.full((n_raters, n_classes), np.nan)
    geometry = surveyed.geometry
    in_mm = geometry is not None and geometry.ndim > 0 and not is_default(geometry)
    disagreement = case_disagreement(surveyed)
    if not case.labels or reference.kind == "none":
        return CaseTally(counts, score, offset, disagreement, in_mm)
    present = [number for number, rater in enumerate(raters) if rater in case.labels]
    labels = case.read_labels([raters[number] for number in present]).array
    try:
        true = reference.read(case, labels)
    except InputError as error:
        raise error.at(case=case.name) from None
    if true is None or true.shape != labels.shape[1:]:
        return CaseTally(counts, score, offset, disagreement, in_mm)
    found = encode_patterns([true, *labels])
    for number, drawn in zip(present, found.rows.T[1:], strict=True):
        table = confusion_counts(found.rows[:, 0], drawn, n_classes, weights=found.counts)
        counts[number] = table
        score[number] = overlap_of_counts(table, "dice", None, empty=float("nan"))
    spacing = geometry.spacing if in_mm and geometry is not None else None
    for k in range(1, n_classes):
        offset[present, k] = outline_offsets(true, labels, foreground=k, spacing=spacing)
    return CaseTally(counts, score, offset, disagreement, in_mm)
