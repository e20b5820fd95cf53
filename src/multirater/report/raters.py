"""Each rater in numbers and words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.fuse.rater_table import rater_table, rater_table_of_tasks
from multirater.metrics import case_interval
from multirater.report.tally import CaseTally
from multirater.types import Dataset
from multirater.words import confusion_words, offset_words


@dataclass(frozen=True)
class Figure:
    """A number with its interval; NaN where there is none."""

    value: float
    low: float = float("nan")
    high: float = float("nan")


@dataclass(frozen=True, eq=False)
class RaterFacts:
    """What a report says of one rater.

    Attributes:
        name: of the rater.
        labels: cases labelled.
        judged: cases of these that could be compared with the reference.
        skill: mean share of each class that is called right.
        score: mean Dice with the reference; for class labels the share of right answers.
        recalls: share called right, by class.
        specificity: share of what is not foreground that is left alone; masks of two classes only.
        offset: how far outside the reference the outlines run, over all classes.
        offsets: the same by class index.
        unit: of the offsets: `px` or `mm`.
        missed: cases with something to draw of which the rater drew nothing.
        invented: cases with nothing to draw in which the rater drew something.
        cm: (true, observed), rows sum to one; NaN rows for classes that did not occur.
        confusion: the most frequent confusion in words.
    """

    name: str
    labels: int
    judged: int
    skill: Figure
    score: Figure
    recalls: tuple[Figure, ...]
    specificity: Figure
    offset: Figure
    offsets: dict[int, Figure]
    unit: str
    missed: int
    invented: int
    cm: NDArray[np.float64]
    confusion: str

    @property
    def tends(self) -> str:
        """Over- or under-drawing in words."""
        ends = (self.offset.value, self.offset.low, self.offset.high)
        return offset_words(*ends, self.unit, self.missed, self.judged)


def describe_raters(
    dataset: Dataset,
    tallies: Sequence[CaseTally],
    *,
    seed: int = 0,
    table: pd.DataFrame | None = None,
) -> list[RaterFacts]:
    """Describe every rater, with intervals from drawing cases again.

    Args:
        dataset: with its classes settled.
        tallies: of its cases, in order.
        seed: of the draws.
        table: what a fusion has said of them already (`raters.csv`), which is said again.
    """
    assert dataset.classes is not None
    names = dataset.classes.names
    if not dataset.raters:
        return []
    counts = np.stack([each.counts for each in tallies])
    is_mask = dataset.kind == "masks"
    known = {f"cm[{true},{observed}]" for true in names for observed in names} | {"skill"}
    if table is not None and known <= set(table.columns):
        pass
    elif is_mask:
        table = rater_table(counts.astype(float), dataset.raters, names, seed=seed)
    else:
        table = rater_table_of_tasks(counts.sum(0).astype(float), dataset.raters, names)
    return [
        _describe(number, dataset, tallies, counts[:, number], table.iloc[number], seed)
        for number in range(len(dataset.raters))
    ]


def _describe(
    number: int,
    dataset: Dataset,
    tallies: Sequence[CaseTally],
    counts: NDArray[Any],
    row: pd.Series[Any],
    seed: int,
) -> RaterFacts:
    assert dataset.classes is not None
    rater, names = dataset.raters[number], dataset.classes.names
    is_mask = dataset.kind == "masks"
    total = counts.sum(0)
    there, drawn = counts[:, 1:].sum((1, 2)) > 0, counts[:, :, 1:].sum((1, 2)) > 0
    judged = counts.sum((1, 2)) > 0
    expected = np.nan_to_num(_matrix(row, names)) * total.sum(1, keepdims=True)
    return RaterFacts(
        name=rater,
        labels=sum(rater in case.labels for case in dataset),
        judged=int(judged.sum()),
        skill=_figure(row, "skill"),
        score=_mean([float(t.score[number]) for t in tallies], seed),
        recalls=tuple(_figure(row, f"cm[{name},{name}]") for name in names),
        specificity=_figure(row, "specificity"),
        offset=_mean([_mean_of_classes(t.offset[number]) for t in tallies], seed),
        offsets=_offsets(number, tallies, len(names), seed),
        unit="mm" if any(each.in_millimetres for each in tallies) else "px",
        missed=int((judged & there & ~drawn).sum()) if is_mask else 0,
        invented=int((judged & ~there & drawn).sum()) if is_mask else 0,
        cm=_matrix(row, names),
        confusion=confusion_words(expected, names, is_mask=is_mask),
    )


def _matrix(row: pd.Series[Any], names: Sequence[str]) -> NDArray[np.float64]:
    """Return the confusion matrix of a row of `raters.csv`, (true, observed)."""
    return np.array([[float(row[f"cm[{t},{o}]"]) for o in names] for t in names])


def _offsets(
    number: int, tallies: Sequence[CaseTally], n_classes: int, seed: int
) -> dict[int, Figure]:
    found = {
        k: _mean([float(t.offset[number, k]) for t in tallies], seed) for k in range(n_classes)
    }
    return {k: figure for k, figure in found.items() if not np.isnan(figure.value)}


def _mean_of_classes(offsets: NDArray[np.float64]) -> float:
    known = offsets[~np.isnan(offsets)]
    return float(known.mean()) if known.size else float("nan")


def _figure(row: pd.Series[Any], name: str) -> Figure:
    if name not in row.index:
        return Figure(float("nan"))
    return Figure(float(row[name]), float(row[f"{name}_low"]), float(row[f"{name}_high"]))


def _mean(values: Sequence[float], seed: int) -> Figure:
    """Mean over the cases where the value is known; an interval needs two."""
    known = [value for value in values if not np.isnan(value)]
    if not known:
        return Figure(float("nan"))
    found = case_interval(float, known, n_resamples=500, seed=seed)
    if len(known) == 1:
        return Figure(found.value)
    return Figure(found.value, found.low, found.high)
