"""Areas and volumes: how much was predicted, against how much there is and how much raters drew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.evaluation.case_scores import ALL, TRUTH, CaseScores
from multirater.metrics import bland_altman


def size_table(
    found: Sequence[CaseScores], classes: Sequence[str], *, level: float = 0.95
) -> pd.DataFrame:
    """Compare sizes by Bland and Altman.

    Args:
        found: what was measured on the cases.
        classes: names by index.
        level: of the intervals.

    Returns:
        One row per truth or rater, and class (`all` is everything but class 0); empty for class
        labels. In pixels where some cases have millimetres and others do not.
    """
    whom = dict.fromkeys(who for case in found for who in case.sizes)
    wanted = {ALL: slice(1, None)}
    if len(classes) > 2:
        wanted |= {name: slice(k, k + 1) for k, name in enumerate(classes) if k > 0}
    units = {case.unit[1] for case in found}
    in_pixels = len(units) > 1
    rows = []
    for who in sorted(whom, key=lambda name: name != TRUTH):
        both = [case for case in found if who in case.sizes and case.sizes[who].any()]
        for label, part in wanted.items() if both else ():
            one, other = (_sizes(both, who, place, part, in_pixels) for place in (0, 1))
            numbers = asdict(bland_altman(one, other, level=level))
            row: dict[str, Any] = {"against": who, "class": label, "n_cases": numbers.pop("n")}
            row |= {"mean predicted": one.mean(), "mean": other.mean(), **numbers}
            rows.append(row | {"unit": "px" if in_pixels else min(units)})
    return pd.DataFrame(rows)


def _sizes(
    cases: Sequence[CaseScores], who: str, place: int, part: slice, in_pixels: bool
) -> NDArray[np.float64]:
    return np.array(
        [case.sizes[who][place, part].sum() * (1 if in_pixels else case.unit[0]) for case in cases],
        dtype=np.float64,
    )
