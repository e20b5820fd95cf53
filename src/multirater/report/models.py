"""How good fusions and networks are: one evaluation each, and the curves of runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from multirater.evaluation import Evaluation, paired_differences
from multirater.evaluation.predictions import Predictions
from multirater.evaluation.recurrences import recurrence_scores_opened
from multirater.evaluation.result import Draws
from multirater.evaluation.scoring import evaluate_opened
from multirater.report.raters import Figure
from multirater.report.subject import Result, Subject
from multirater.types import Classes

_MEASURES = {
    "Dice": "Dice",
    "accuracy": "accuracy",
    "Dice with majority vote": "Dice with majority vote",
    "accuracy with majority vote": "accuracy with majority vote",
    "Dice with raters": "Dice with raters",
    "soft Dice with mean of raters": "soft Dice with mean of raters",
    "IoU": "IoU",
    "mIoU": "mIoU",
    "energy distance (Dice)": "energy distance (Dice)",
    "CM RMSE": "CM RMSE",
    "global CM RMSE": "global CM RMSE",
    "consensus Pearson": "consensus Pearson",
}
"""Measures of an evaluation that the methods table shows, and what it calls them."""

_DRAWS = Draws(level=0.95, n_resamples=500, seed=0)

LOWER_IS_BETTER = ("energy distance (Dice)", "CM RMSE", "global CM RMSE")

_HEADLINES = (
    *("Dice", "accuracy", "Dice with majority vote", "accuracy with majority vote"),
    *("Dice with raters", "accuracy with raters"),
)
"""Measures that methods are ranked by: the first that all of them have."""


@dataclass(frozen=True, eq=False)
class Measured:
    """A fusion or a network, measured.

    Attributes:
        name: of the result.
        kind: `fusion` or `predictions`.
        n_cases: compared: those that every result covers, where there are any.
        n_covered: that this result alone could be compared on.
        figures: by measure, as the page calls them.
        groups: Dice by consensus group: name, range in words, cases, figure.
        consensus: (real, predicted) consensus level of each case.
        recurrences: by rater and soft measure, Dice after each recurrence; empty without any.
        behind: how far behind the best of its kind it is, on the same cases: fusions see the
            labels of a case, networks only its image. None for the best itself, for the only one
            of a kind, and where results have no case in common.
        is_best: whether it has the highest headline figure of several of its kind.
        evaluation: everything that was measured, for figures.
    """

    name: str
    kind: str
    n_cases: int
    figures: dict[str, Figure]
    groups: tuple[tuple[str, str, int, Figure], ...]
    consensus: tuple[tuple[float, float], ...]
    recurrences: dict[str, list[float]] = field(default_factory=dict)
    n_covered: int = 0
    behind: Figure | None = None
    is_best: bool = False
    evaluation: Evaluation | None = None


def measure_results(
    subject: Subject, classes: Classes, opened: Mapping[str, Predictions], *, workers: int = 1
) -> list[Measured]:
    """Evaluate every fusion and prediction against what is known of its cases.

    Args:
        subject: of the report.
        classes: of its data set.
        opened: what each result says, by its name.
        workers: number of processes.

    Returns:
        One entry per result that could be compared with anything, all on the cases that every one
        of them covers; each on its own cases where there are none.
    """
    covered = {result.name: _covered(result, subject) for result in subject.results}
    results = [result for result in subject.results if covered[result.name]]
    if not results:
        return []
    common = set.intersection(*(covered[result.name] for result in results))
    dataset = subject.dataset
    if common:
        cases = tuple(case for case in dataset if case.name in common)
        dataset = replace(dataset, cases=cases)
    found = {
        result.name: evaluate_opened(opened[result.name], dataset, classes, _DRAWS, workers=workers)
        for result in results
    }
    behind: dict[str, Figure | None] = {}
    for kind in {result.kind for result in results} if common else ():
        behind |= _behind({r.name: found[r.name] for r in results if r.kind == kind})
    measured = []
    for result in results:
        table = recurrence_scores_opened(opened[result.name], dataset, classes)
        steps = {str(name): [float(v) for v in table[name]] for name in table}
        evaluation = found[result.name]
        each = replace(_measured(result, evaluation), recurrences=steps, evaluation=evaluation)
        gap = behind.get(result.name)
        n_covered = len(covered[result.name])
        is_best = result.name in behind and gap is None
        measured.append(replace(each, n_covered=n_covered, behind=gap, is_best=is_best))
    return measured


def _behind(found: Mapping[str, Evaluation]) -> dict[str, Figure | None]:
    """How far each is behind the best, case by case; None for the best, nothing for one alone."""
    headline = next(
        (m for m in _HEADLINES if all((m, "all") in each.scores.index for each in found.values())),
        None,
    )
    if headline is None or len(found) < 2:
        return {}
    best = max(found, key=lambda name: _figure(found[name], headline).value)
    gaps: dict[str, Figure | None] = {best: None}
    for name in found:
        if name == best:
            continue
        pair = paired_differences({"best": found[best], "other": found[name]})
        of_headline = pair[pair.index.get_level_values("measure") == headline]
        rows = of_headline[["difference", "low", "high"]].to_numpy()
        gaps[name] = Figure(*map(float, rows[0])) if len(rows) else Figure(float("nan"))
    return gaps


def columns_of(measured: Sequence[Measured]) -> list[str]:
    """List the measures that any result has, in the order of importance."""
    return [name for name in _MEASURES.values() if any(name in each.figures for each in measured)]


def _covered(result: Result, subject: Subject) -> set[str]:
    """Names of the cases that a result can be compared on."""
    named = {case.name for case in result.dataset if case.labels}
    known = (case for case in subject.dataset if case.truth is not None or case.labels)
    return {case.name for case in known if case.name in named}


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
