"""One pass over the cases: how each rater compares with the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import InputError
from multirater.io.formats.grid import is_default
from multirater.io.survey import CaseSurvey, Survey
from multirater.metrics import confusion_counts, outline_offsets, pairwise_scores, percent_agreement
from multirater.metrics.overlap import overlap_of_counts
from multirater.parallel import map_parallel
from multirater.report.reference import Reference
from multirater.types import Case

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
    job = partial(
        _tally, reference=reference, raters=found.dataset.raters, n_classes=len(found.classes)
    )
    pairs = list(zip(found.dataset.cases, found.cases, strict=True))
    return list(map_parallel(job, pairs, label="comparing raters", workers=workers))


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
    labels = case.read_labels(raters).array
    try:
        true = reference.read(case, labels)
    except InputError as error:
        raise error.at(case=case.name) from None
    if true is None or true.shape != labels.shape[1:]:
        return CaseTally(counts, score, offset, disagreement, in_mm)
    for number, rater in enumerate(raters):
        if rater in case.labels:
            counts[number] = confusion_counts(true, labels[number], n_classes)
            score[number] = _score(counts[number], labels.ndim > 1)
    if labels.ndim > 1:
        spacing = geometry.spacing if in_mm and geometry is not None else None
        for k in range(1, n_classes):
            offset[:, k] = outline_offsets(true, labels, foreground=k, spacing=spacing)
    return CaseTally(counts, score, offset, disagreement, in_mm)


def case_disagreement(case: CaseSurvey) -> float:
    """How far the raters of a case are apart, 0 to 1.

    For masks one minus the mean Dice of every two raters; for class labels the share of pairs of
    raters who disagree. NaN with fewer than two raters.
    """
    if not len(case.rows):
        return float("nan")
    if not case.space:
        return 1 - percent_agreement(case.rows.T, weights=case.counts)
    present = (case.rows >= 0).any(0)
    if present.sum() < 2:
        return float("nan")
    scores = pairwise_scores(case.rows[:, present].T, weights=case.counts)
    above = scores[np.triu_indices(len(scores), k=1)]
    known = above[~np.isnan(above)]
    return float(1 - known.mean()) if known.size else float("nan")


def _score(counts: NDArray[Any], is_mask: bool) -> float:
    if is_mask:
        return overlap_of_counts(counts, "dice", None, empty=float("nan"))
    return float(np.trace(counts)) if counts.any() else float("nan")
