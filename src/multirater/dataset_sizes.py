"""Areas and volumes of what raters drew: every two raters, and each against the truth."""

from __future__ import annotations

import math
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.io.formats.grid import size_unit
from multirater.io.survey import CaseSurvey, Survey
from multirater.metrics.bland_altman import bland_altman
from multirater.metrics.rater_columns import row_words
from multirater.sanity.facts import class_counts
from multirater.types import MISSING

TRUTH = "(truth)"
"""Stands for the truth where a rater is named."""

_MOST_PAIRS = 5000
"""More pairs of raters are not compared."""


def compare_sizes(found: Survey, *, level: float = 0.95) -> pd.DataFrame:
    """Compare how much raters draw, by Bland and Altman.

    A mask that is empty has size 0 and counts; a missing one does not, and of an image that one of
    two raters labelled in parts only the pixels count that both did. Against the truth such an
    image is left out. Where some cases have millimetres and others do not, all are in pixels.

    Args:
        found: a study of masks, surveyed.
        level: of the intervals.

    Returns:
        One row per two raters, or rater and truth, and class (`all` is everything but class 0):
        cases, mean sizes, bias (a minus b) and limits of agreement with intervals, and the unit.
    """
    names = row_words(found.classes.names)
    wanted = {"all": slice(1, None)}
    if len(names) > 2:
        wanted |= {name: slice(k, k + 1) for k, name in enumerate(names) if k > 0}
    sizes, is_part, scale, unit = _sizes(found)
    raters = [*found.dataset.raters, TRUTH]
    pairs = list(combinations(range(len(raters)), 2))
    shared = ~np.isnan(sizes[:, :, 0])
    pairs = [(a, b) for a, b in pairs if (shared[:, a] & shared[:, b]).any()][:_MOST_PAIRS]
    rows = []
    for a, b in pairs:
        both = np.flatnonzero(shared[:, a] & shared[:, b])
        drawn = sizes[both][:, [a, b]]
        for place in np.flatnonzero(is_part[both, a] | is_part[both, b]):
            drawn[place] = _where_both(found.cases[both[place]], a, b, len(names))
            drawn[place] *= scale[both[place]]
        drawn = drawn[drawn.any((1, 2))]
        for label, classes in wanted.items() if len(drawn) else ():
            one, other = drawn[:, :, classes].sum(2).T
            found_ = asdict(bland_altman(one, other, level=level))
            row: dict[str, Any] = {"rater a": raters[a], "rater b": raters[b], "class": label}
            row |= {"cases": found_.pop("n"), "mean a": one.mean(), "mean b": other.mean()}
            rows.append(row | found_ | {"unit": unit})
    ends = [f"{name}{end}" for name in ("lower", "upper") for end in ("", "_low", "_high")]
    first = ["rater a", "rater b", "class", "cases", "mean a", "mean b"]
    return pd.DataFrame(
        rows, columns=[*first, "bias", "bias_low", "bias_high", "sd", *ends, "unit"]
    )


def _where_both(case: CaseSurvey, a: int, b: int, n_classes: int) -> NDArray[np.float64]:
    """Pixels of each class by two raters (2, n_classes) where both labelled; none by the truth."""
    counts = np.zeros((2, n_classes))
    if b == case.rows.shape[1]:
        return counts
    pair = case.rows[:, [a, b]]
    both = (pair != MISSING).all(1)
    for place, said in enumerate(pair[both].T):
        counts[place] = np.bincount(said, case.counts[both], n_classes)
    return counts


def _sizes(
    found: Survey,
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64], str]:
    """Sizes (n_cases, raters and truth, n_classes), NaN where not labelled, and what they are of.

    Returns:
        The sizes; whether somebody labelled a part of a case alone, (n_cases, raters and truth);
        the size of a pixel, (n_cases,); and its unit.
    """
    n_classes, n_raters = len(found.classes), len(found.dataset.raters)
    pixels = np.full((len(found.cases), n_raters + 1, n_classes), np.nan)
    is_part = np.zeros(pixels.shape[:2], dtype=bool)
    units = []
    for place, case in enumerate(found.cases):
        counts = class_counts(case, n_classes)
        pixels[place, :n_raters] = np.where(counts.sum(1, keepdims=True) > 0, counts, np.nan)
        n_pixels = math.prod(case.space)
        is_part[place, :n_raters] = counts.sum(1) < n_pixels
        if case.drawn is not None and case.drawn.truth_counts is not None:
            known = case.drawn.truth_counts
            pixels[place, n_raters] = np.pad(known, (0, n_classes - len(known)))
            is_part[place, n_raters] = known.sum() < n_pixels
        units.append(size_unit(case.geometry, case.space))
    kinds = {unit for (_, unit), case in zip(units, found.cases, strict=True) if case.space}
    if len(kinds) != 1:
        return pixels, is_part, np.ones(len(pixels)), "px"
    scale = np.array([size for size, _ in units])
    return pixels * scale[:, None, None], is_part, scale, kinds.pop()
