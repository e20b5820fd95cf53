"""Raters over time: whether somebody learns, or drifts away from the others.

Labels need a date (`when` in the table). Each is scored by the others: of class labels, the chance
that it is right by what everybody else said of the case; of drawings, Dice with the weighted vote
of the others. A label that nobody accompanies has no score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from multirater.acquisition.class_belief import chances_by_others, fit_classes
from multirater.fuse.answers import answers_from_rows
from multirater.fuse.left_out import left_out_vote
from multirater.fuse.pattern_blocks import PatternBlocks
from multirater.fuse.quality import tables_of
from multirater.fuse.weighted_vote import vote_weights
from multirater.io.survey import Survey
from multirater.io.tables.dates import day_of
from multirater.metrics.overlap import overlaps_of_tables
from multirater.types import MISSING

Array: TypeAlias = NDArray[np.float64]
Course: TypeAlias = Literal["learning", "drift", "steady", "unknown"]

MOST_SPANS = 5
FEWEST = 8
"""Scored labels below which nothing is said of a rater."""

_LEVEL = 0.05


@dataclass(frozen=True)
class Span:
    """A part of the time of a study: from, to (days since 1970), and how well a rater did then.

    `value` is the mean score, with a 95% interval; NaN without a scored label.
    """

    begin: float
    end: float
    value: float
    low: float
    high: float
    labels: int


@dataclass(frozen=True)
class Trend:
    """The course of one rater.

    Attributes:
        rater: name.
        spans: parts of the study's time, the same for all raters.
        first: score at the rater's first label, by a straight line through all of them.
        last: the same at the last one.
        change: last minus first, with its 95% interval.
        low: of the change.
        high: of the change.
        course: `learning` or `drift` (downwards) where the change is not chance, judged for all
            raters together (Holm); `unknown` with few labels, or all of one day.
    """

    rater: str
    spans: tuple[Span, ...]
    first: float
    last: float
    change: float
    low: float
    high: float
    course: Course


def rater_trends(found: Survey) -> list[Trend]:
    """Follow the raters of a study over time; nothing where no label has a date.

    Args:
        found: the study, surveyed.
    """
    days = _days(found)
    if not np.isfinite(days).any():
        return []
    scores = _scores(found)
    scored = np.where(np.isfinite(days), scores, np.nan)
    edges = _edges(days[np.isfinite(scored)])
    raters = found.dataset.raters
    fits = [_line(days[:, r], scored[:, r]) for r in range(len(raters))]
    surely = _holm([fit[-1] for fit in fits])
    return [
        Trend(rater, _spans(days[:, r], scored[:, r], edges), *fit[:-1], _course(fit, sure))
        for r, (rater, fit, sure) in enumerate(zip(raters, fits, surely, strict=True))
    ]


def trend_words(trend: Trend) -> str:
    """Say the course of a rater.

    Example:
        >>> trend_words(Trend("anna", (), 0.6, 0.8, 0.2, 0.1, 0.3, "learning"))
        'learns: from 0.60 to 0.80'
    """
    if trend.course == "unknown":
        return "too few labels beside others to tell"
    both = f"from {trend.first:.2f} to {trend.last:.2f}"
    known = {"learning": f"learns: {both}", "drift": f"drifts away: {both}"}
    return known.get(trend.course, f"steady: {both}, which may be chance")


def _days(found: Survey) -> Array:
    """Return when each label was made, (n_cases, n_raters), NaN where nobody said."""
    days = np.full((len(found.cases), len(found.dataset.raters)), np.nan)
    for number, case in enumerate(found.dataset):
        for place, rater in enumerate(found.dataset.raters):
            if rater in case.when and rater in case.labels:
                days[number, place] = day_of(case.when[rater])
    return days


def _scores(found: Survey) -> Array:
    """Return how right each label is by the others, (n_cases, n_raters), NaN without others."""
    n_raters, n_classes = len(found.dataset.raters), len(found.classes)
    scores = np.full((len(found.cases), n_raters), np.nan)
    if found.dataset.kind == "classes":
        rows = np.full(scores.shape, MISSING, dtype=np.int64)
        for number, case in enumerate(found.cases):
            if len(case.counts):
                rows[number] = case.rows[0]
        answers = answers_from_rows(rows, np.ones(len(rows)), n_classes)
        row, rater, said, chances = chances_by_others(answers, fit_classes(answers))
        shared = (rows != MISSING).sum(1)[row] > 1
        right = chances[np.arange(len(said)), said]
        scores[row[shared], rater[shared]] = right[shared]
        return scores
    drawn = [(number, case) for number, case in enumerate(found.cases) if len(case.counts)]
    parts = ((case.rows, case.counts) for _, case in drawn)
    weight = vote_weights(PatternBlocks.of(parts, n_raters, n_classes))
    for number, case in drawn:
        said = case.rows
        others = left_out_vote(said, weight, n_classes)
        tables = tables_of(said, case.counts, others, n_classes)
        scores[number] = overlaps_of_tables(tables, "dice", None, empty=float("nan"))
    return scores


def _edges(days: Array) -> Array:
    """Divide the time so that each part has about as many labels."""
    n_spans = min(MOST_SPANS, len(np.unique(days)))
    return np.unique(np.quantile(days, np.linspace(0, 1, n_spans + 1))) if n_spans else np.empty(0)


def _spans(days: Array, scores: Array, edges: Array) -> tuple[Span, ...]:
    spans = []
    for number, (begin, end) in enumerate(pairwise(edges)):
        last = number == len(edges) - 2
        inside = (days >= begin) & ((days <= end) if last else (days < end)) & np.isfinite(scores)
        values = scores[inside]
        mean = float(values.mean()) if len(values) else float("nan")
        margin = float("nan")
        if len(values) > 1:
            margin = float(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values))
        low, high = max(mean - margin, 0.0), min(mean + margin, 1.0)
        spans.append(Span(float(begin), float(end), mean, low, high, len(values)))
    return tuple(spans)


def _line(days: Array, scores: Array) -> tuple[float, float, float, float, float, float]:
    """Fit a line: score at first and last label, change with interval, p; NaN where unknown."""
    known = np.isfinite(scores) & np.isfinite(days)
    x, y = days[known], scores[known]
    if len(x) < FEWEST or np.ptp(x) <= 0:
        return (float("nan"),) * 6
    fit = stats.linregress(x, y)
    length = float(np.ptp(x))
    margin = float(stats.t.ppf(0.975, len(x) - 2) * fit.stderr) * length
    first, change = float(fit.intercept + fit.slope * x.min()), float(fit.slope) * length
    bounded = float(np.clip(first, 0, 1)), float(np.clip(first + change, 0, 1))
    # Scores that never vary have no error to hold the slope against.
    p = float(fit.pvalue) if np.ptp(y) > 0 else 1.0
    return (*bounded, change, change - margin, change + margin, p)


def _holm(p_values: Sequence[float]) -> list[bool]:
    """Say which changes are not chance, all of them together (Holm's step-down)."""
    known = [place for place, p in enumerate(p_values) if np.isfinite(p)]
    surely = [False] * len(p_values)
    for step, place in enumerate(sorted(known, key=lambda each: p_values[each])):
        if p_values[place] > _LEVEL / (len(known) - step):
            break
        surely[place] = True
    return surely


def _course(fit: tuple[float, float, float, float, float, float], surely: bool) -> Course:
    if not np.isfinite(fit[-1]):
        return "unknown"
    if not surely:
        return "steady"
    return "learning" if fit[2] > 0 else "drift"
