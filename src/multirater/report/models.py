"""How good fusions and networks are: one evaluation each, and the curves of runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from multirater.evaluation import Evaluation, evaluate
from multirater.evaluation.recurrences import recurrence_scores
from multirater.report.raters import Figure
from multirater.report.subject import Result, Subject

_MEASURES = {
    "Dice": "Dice",
    "accuracy": "accuracy",
    "Dice with majority vote": "Dice with majority vote",
    "accuracy with majority vote": "accuracy with majority vote",
    "Dice with raters": "Dice with raters",
    "soft Dice with mean of raters": "soft Dice with mean of raters",
    "IoU": "IoU",
    "mIoU": "mIoU",
    "energy distance (Dice)": "GED (1-Dice)",
    "CM RMSE": "CM RMSE",
    "global CM RMSE": "global CM RMSE",
    "consensus Pearson": "consensus r",
}
"""Measures of an evaluation that the methods table shows, and what it calls them."""

LOWER_IS_BETTER = ("GED (1-Dice)", "CM RMSE", "global CM RMSE")


@dataclass(frozen=True, eq=False)
class Measured:
    """A fusion or a network, measured.

    Attributes:
        name: of the result.
        kind: `fusion` or `predictions`.
        n_cases: compared.
        figures: by measure, as the page calls them.
        groups: Dice by consensus group: name, range in words, cases, figure.
        consensus: (real, predicted) consensus level of each case.
        recurrences: by rater and soft measure, Dice after each recurrence; empty without any.
    """

    name: str
    kind: str
    n_cases: int
    figures: dict[str, Figure]
    groups: tuple[tuple[str, str, int, Figure], ...]
    consensus: tuple[tuple[float, float], ...]
    recurrences: dict[str, list[float]] = field(default_factory=dict)


def measure_results(subject: Subject, *, workers: int = 1) -> list[Measured]:
    """Evaluate every fusion and prediction against what is known of its cases.

    Args:
        subject: of the report.
        workers: number of processes.

    Returns:
        One entry per result that could be compared with anything.
    """
    measured = []
    for result in subject.results:
        if not _is_comparable(result, subject):
            continue
        found = evaluate(result.dataset, subject.dataset, n_resamples=500, workers=workers)
        table = recurrence_scores(result.dataset, subject.dataset)
        steps = {str(name): [float(v) for v in table[name]] for name in table}
        measured.append(replace(_measured(result, found), recurrences=steps))
    return measured


def columns_of(measured: Sequence[Measured]) -> list[str]:
    """List the measures that any result has, in the order of importance."""
    return [name for name in _MEASURES.values() if any(name in each.figures for each in measured)]


def _is_comparable(result: Result, subject: Subject) -> bool:
    named = {case.name for case in result.dataset}
    return any(
        case.name in named and (case.truth is not None or case.labels) for case in subject.dataset
    )


def _measured(result: Result, found: Evaluation) -> Measured:
    figures = {
        shown: _figure(found, measure)
        for measure, shown in _MEASURES.items()
        if (measure, "all") in found.scores.index
    }
    known = {name: each for name, each in figures.items() if not math.isnan(each.value)}
    return Measured(
        result.name, result.kind, len(found.cases), known, _groups(found), _consensus(found)
    )


def _figure(found: Evaluation, measure: str) -> Figure:
    row = cast(Any, found.scores.loc[(measure, "all")])
    return Figure(float(row["value"]), float(row["low"]), float(row["high"]))


def _groups(found: Evaluation) -> tuple[tuple[str, str, int, Figure], ...]:
    measure = next((name for name in found.groups.columns if str(name).startswith("Dice")), None)
    if measure is None:
        return ()
    rows = []
    for name, row in found.groups.iterrows():
        if row["n_cases"] and name != "unknown":
            figure = Figure(float(row[measure]), float(row["low"]), float(row["high"]))
            span = f"{row['from']:.2f} to {row['to']:.2f}"
            rows.append((str(name), span, int(row["n_cases"]), figure))
    return tuple(rows)


def _consensus(found: Evaluation) -> tuple[tuple[float, float], ...]:
    columns = ["consensus", "predicted consensus"]
    if not set(columns) <= set(found.cases.columns):
        return ()
    known = found.cases[columns].dropna()
    return tuple((float(real), float(guess)) for real, guess in known.to_numpy())
