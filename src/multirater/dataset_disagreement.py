"""How far the raters of a case are apart: one number, the same in `info`, page and figures."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from multirater.io.survey import CaseSurvey, Survey
from multirater.metrics import pairwise_scores
from multirater.metrics.known import mean_of_known, ratio_or_nan
from multirater.types import MISSING


def disagreements(found: Survey) -> NDArray[np.float64]:
    """Return the disagreement of every case, (n_cases,), 0 to 1; NaN with fewer than two raters.

    Of drawings it is one minus the mean Dice of every two raters, so that the size of the object
    has no say; two empty drawings are alike. Of class labels it is the share of pairs of raters who
    chose different classes.

    Args:
        found: a study, surveyed.

    Example:
        >>> from multirater.io import dataset_from_arrays, survey
        >>> drawn = np.zeros((2, 2, 4, 4), dtype=int)
        >>> drawn[:, :, 1:3, 1:3] = 1
        >>> drawn[0, 1, 2, 1:3] = 0
        >>> disagreements(survey(dataset_from_arrays(drawn))).round(3).tolist()
        [0.333, 0.0]
    """
    if found.dataset.kind == "masks":
        return np.array([case_disagreement(case) for case in found.cases])
    said = [
        case.rows[0] if len(case.counts) else np.empty(0, dtype=np.int64) for case in found.cases
    ]
    of_case = np.repeat(np.arange(len(said)), [len(each) for each in said])
    answers = np.concatenate(said)
    known = answers != MISSING
    n_classes = len(found.classes)
    cell = of_case[known] * n_classes + answers[known]
    counts = np.bincount(cell, minlength=len(said) * n_classes).reshape(len(said), n_classes)
    n_raters = counts.sum(1)
    alike = (counts * (counts - 1)).sum(1)
    return np.asarray(1 - ratio_or_nan(alike, n_raters * (n_raters - 1)))


def case_disagreement(case: CaseSurvey) -> float:
    """Return the disagreement of a case that raters drew on; NaN with fewer than two of them."""
    rows = case.rows
    drawn = (rows != MISSING).any(0) if len(rows) else np.zeros(0, dtype=bool)
    if drawn.sum() < 2:
        return float("nan")
    scores = pairwise_scores(rows[:, drawn].T, weights=case.counts)
    return 1 - float(mean_of_known(scores[np.triu_indices(len(scores), k=1)], 0))
