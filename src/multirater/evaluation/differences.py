"""Which of two predictions is better, case by case on the cases both cover."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd

from multirater.evaluation.result import Evaluation
from multirater.metrics import case_interval

_NO_MEASURE = ("split", "raters", "group")
"""Columns of cases that are facts rather than scores."""


def paired_differences(
    evaluations: Mapping[str, Evaluation],
    *,
    level: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare every two predictions by the differences of their scores on the same cases.

    Cases vary more than methods do: the interval of a paired difference is often far narrower than
    those of the two means, and tells apart what they do not.

    Args:
        evaluations: by method, against the same reference.
        level: of the intervals.
        n_resamples: how many times cases are drawn again.
        seed: same seed, same intervals.

    Returns:
        One row per `method a`, `method b` and `measure` (over all classes): means over the common
        cases, `difference` (a minus b) with `low` and `high`, `n_cases`, and on how many of them a
        is higher or lower. A case that one of the two has no score for, such as an empty pair, is
        left out; with one case there is no interval.

    Example:
        >>> import numpy as np
        >>> from multirater import dataset_from_arrays, evaluate
        >>> truth = np.array([[[0, 1, 1]], [[0, 0, 1]]])
        >>> data = dataset_from_arrays(truth[:, None], truths=truth, raters=["anna"])
        >>> one = evaluate(dataset_from_arrays(truth[:, None], raters=["net"]), data)
        >>> other = evaluate(dataset_from_arrays(truth[::-1][:, None], raters=["net"]), data)
        >>> found = paired_differences({"one": one, "other": other})
        >>> round(float(found.loc[("one", "other", "Dice"), "difference"]), 3)
        0.333
    """
    rows = []
    for (a, one), (b, other) in combinations(evaluations.items(), 2):
        for measure in one.cases.columns:
            if measure in _NO_MEASURE or "[" in measure or measure not in other.cases:
                continue
            both = pd.concat([one.cases[measure], other.cases[measure]], axis=1, join="inner")
            values = both.dropna().to_numpy(dtype=np.float64)
            if not len(values):
                continue
            gap = values[:, 0] - values[:, 1]
            found = case_interval(float, gap, level=level, n_resamples=n_resamples, seed=seed)
            ends = (found.low, found.high) if len(gap) > 1 else (np.nan, np.nan)
            better = (int((gap > 0).sum()), int((gap < 0).sum()))
            rows.append((a, b, measure, *values.mean(0), found.value, *ends, len(gap), *better))
    index = ["method a", "method b", "measure"]
    numbers = ["mean a", "mean b", "difference", "low", "high", "n_cases", "a higher", "a lower"]
    return pd.DataFrame(rows, columns=[*index, *numbers]).set_index(index)
