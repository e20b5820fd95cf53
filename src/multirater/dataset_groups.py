"""How far raters agree within and between groups: experts and crowd, persons and tools.

Groups are what columns of the study's `raters.csv` say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater import metrics
from multirater.io.survey import Survey
from multirater.metrics.known import mean_of_known, ratio_or_nan

_MOST_GROUPS = 12
"""Columns with more values than this, such as names, are no groups."""

COLUMNS = ["column", "group a", "group b", "raters", "pairs", "cases"]


def group_columns(raters: Sequence[str], info: Mapping[str, Mapping[str, str]]) -> list[str]:
    """List the columns that put raters into groups: two at least, and one of two raters or more.

    Example:
        >>> said = {"a": {"group": "x", "id": "1"}, "b": {"group": "x", "id": "2"},
        ...         "c": {"group": "y", "id": "3"}}
        >>> group_columns(["a", "b", "c"], said)
        ['group']
    """
    names = dict.fromkeys(name for rater in raters for name in info.get(rater, {}))
    found = []
    for name in names:
        values = [info.get(rater, {}).get(name, "") for rater in raters]
        known = [value for value in values if value]
        if 2 <= len(set(known)) <= _MOST_GROUPS and len(set(known)) < len(known):
            found.append(name)
    return found


def group_agreement(
    found: Survey, scores: NDArray[np.float64] | None, draws: Mapping[str, Any]
) -> pd.DataFrame:
    """Measure agreement within each group and between every two.

    A value is the mean over cases of the mean over pairs of raters: Dice of masks, share of equal
    answers of class labels. `gap` is how much less (negative) raters of two groups agree with each
    other than raters within them, case by case; its interval comes from drawing cases again, as
    that of the value.

    Args:
        found: the study, surveyed.
        scores: Dice (n_cases, n_raters, n_raters) of masks, NaN where unknown; None for classes.
        draws: level, number and seed of the draws.

    Returns:
        One row per column and two groups (equal ones: within), empty where the study has none.
    """
    dataset = found.dataset
    measure = "Dice" if scores is not None else "percent agreement"
    rows: list[dict[str, Any]] = []
    for column in group_columns(dataset.raters, dataset.rater_info):
        said = [dataset.rater_info.get(rater, {}).get(column, "") for rater in dataset.raters]
        names = sorted(set(said) - {""})
        blocks = {
            (a, b): _per_case(found, scores, np.array(said) == a, np.array(said) == b)
            for a, b in combinations_with_replacement(names, 2)
        }
        for (a, b), (values, n_pairs) in blocks.items():
            if not n_pairs:  # a group of one has nothing within
                continue
            estimate = metrics.case_interval(float, values, **draws)
            row: dict[str, Any] = {"column": column, "group a": a, "group b": b}
            row |= {"raters": f"{said.count(a)}" if a == b else f"{said.count(a)}, {said.count(b)}"}
            row |= {"pairs": n_pairs, "cases": int((~np.isnan(values)).sum())}
            row |= {measure: estimate.value, "low": estimate.low, "high": estimate.high}
            if a != b:
                within = np.stack([blocks[a, a][0], blocks[b, b][0]])
                gap = metrics.case_interval(float, values - mean_of_known(within, 0), **draws)
                row |= {"gap": gap.value, "gap_low": gap.low, "gap_high": gap.high}
            rows.append(row)
    ends = [measure, "low", "high", "gap", "gap_low", "gap_high"]
    return pd.DataFrame(rows, columns=[*COLUMNS, *ends])


def _per_case(
    found: Survey,
    scores: NDArray[np.float64] | None,
    a: NDArray[np.bool_],
    b: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], int]:
    """Return the mean over pairs of each case, and how many pairs of raters there are."""
    same = bool((a == b).all())
    n_pairs = int(a.sum() * (a.sum() - 1) // 2 if same else a.sum() * b.sum())
    if scores is None:
        return _equal_answers(found, a, b, same), n_pairs
    pairs = np.outer(a, b)
    if same:
        pairs &= np.triu(np.ones_like(pairs), k=1)
    return mean_of_known(scores[:, pairs], axis=1), n_pairs


def _equal_answers(
    found: Survey, a: NDArray[np.bool_], b: NDArray[np.bool_], same: bool
) -> NDArray[np.float64]:
    """Share of pairs with equal answers, by case: counts of answers say it without the pairs."""
    n_classes = len(found.classes)
    values = np.full(len(found.cases), np.nan)
    for place, case in enumerate(found.cases):
        if not len(case.counts):
            continue
        answers = case.rows[0]
        one = np.bincount(answers[a & (answers >= 0)], minlength=n_classes).astype(float)
        other = np.bincount(answers[b & (answers >= 0)], minlength=n_classes).astype(float)
        equal = one @ (one - 1) / 2 if same else one @ other
        total = one.sum() * (one.sum() - 1) / 2 if same else one.sum() * other.sum()
        values[place] = ratio_or_nan(np.asarray(equal), np.asarray(total))
    return values
