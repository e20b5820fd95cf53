"""Each rater in numbers and words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.fuse.rater_table import rater_table, rater_table_of_tasks
from multirater.metrics import case_interval
from multirater.metrics.known import mean_of_known
from multirater.metrics.rater_columns import column_words, matrix_columns
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


def count_raters(
    dataset: Dataset,
    tallies: Sequence[CaseTally],
    *,
    seed: int = 0,
    table: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return what is known of the raters' errors, one row each, with the columns of `raters.csv`.

    Args:
        dataset: with its classes settled.
        tallies: of its cases, in order.
        seed: of the draws behind intervals.
        table: what a fusion has said of them already, which is said again where it is complete.
    """
    assert dataset.classes is not None
    names = dataset.classes.names
    known = {*matrix_columns(names), "skill"}
    if table is not None and known <= set(table.columns):
        return table
    if dataset.kind == "masks":
        counts = np.stack([each.counts for each in tallies]).astype(float)
        return rater_table(counts, dataset.raters, names, seed=seed)
    total = np.sum([each.counts for each in tallies], axis=0, dtype=float)
    return rater_table_of_tasks(total, dataset.raters, names)


def describe_raters(
    dataset: Dataset, tallies: Sequence[CaseTally], table: pd.DataFrame, *, seed: int = 0
) -> list[RaterFacts]:
    """Describe every rater, with intervals from drawing cases again.

    Args:
        dataset: with its classes settled.
        tallies: of its cases, in order.
        table: of `count_raters`.
        seed: of the draws.
    """
    assert dataset.classes is not None
    names, is_mask = dataset.classes.names, dataset.kind == "masks"
    if not dataset.raters:
        return []
    counts = np.stack([each.counts for each in tallies])
    n_labels = Counter(rater for case in dataset for rater in case.labels)
    score = np.stack([each.score for each in tallies])
    offset = np.stack([each.offset for each in tallies]) if is_mask else None
    unit = "mm" if any(each.in_millimetres for each in tallies) else "px"
    return [
        _describe(
            _Measured(
                rater,
                n_labels[rater],
                counts[:, number],
                score[:, number],
                None if offset is None else offset[:, number],
                unit,
            ),
            table.iloc[number],
            names,
            seed,
        )
        for number, rater in enumerate(dataset.raters)
    ]


@dataclass(frozen=True, eq=False)
class _Measured:
    """One rater over all cases: as `CaseTally`, with the cases in front; offsets of masks only."""

    name: str
    labels: int
    counts: NDArray[Any]
    score: NDArray[np.float64]
    offset: NDArray[np.float64] | None
    unit: str


def _describe(
    measured: _Measured, row: pd.Series[Any], names: Sequence[str], seed: int
) -> RaterFacts:
    counts, offset = measured.counts, measured.offset
    is_mask = offset is not None
    total = counts.sum(0, dtype=np.int64)
    there, drawn = counts[:, 1:].any((1, 2)), counts[:, :, 1:].any((1, 2))
    judged = counts.any((1, 2))
    expected = np.nan_to_num(_matrix(row, names)) * total.sum(1, keepdims=True)
    by_class = {} if offset is None else dict(enumerate(_mean(each, seed) for each in offset.T))
    return RaterFacts(
        name=measured.name,
        labels=measured.labels,
        judged=int(judged.sum()),
        skill=_figure(row, "skill"),
        score=_mean(measured.score, seed),
        recalls=tuple(_figure(row, f"cm[{word},{word}]") for word in column_words(names)),
        specificity=_figure(row, "specificity"),
        offset=Figure(float("nan")) if offset is None else _mean(mean_of_known(offset, 1), seed),
        offsets={k: figure for k, figure in by_class.items() if not np.isnan(figure.value)},
        unit=measured.unit,
        missed=int((judged & there & ~drawn).sum()) if is_mask else 0,
        invented=int((judged & ~there & drawn).sum()) if is_mask else 0,
        cm=_matrix(row, names),
        confusion=confusion_words(expected, names, is_mask=is_mask),
    )


def _matrix(row: pd.Series[Any], names: Sequence[str]) -> NDArray[np.float64]:
    """Return the confusion matrix of a row of `raters.csv`, (true, observed)."""
    values = row[matrix_columns(names)].to_numpy(dtype=np.float64)
    return values.reshape(len(names), len(names))


def _figure(row: pd.Series[Any], name: str) -> Figure:
    if name not in row.index:
        return Figure(float("nan"))
    return Figure(float(row[name]), float(row[f"{name}_low"]), float(row[f"{name}_high"]))


def _mean(values: NDArray[np.float64], seed: int) -> Figure:
    """Mean over the cases where the value is known; an interval needs two."""
    known = values[~np.isnan(values)]
    if not len(known):
        return Figure(float("nan"))
    found = case_interval(float, known, n_resamples=500, seed=seed)
    if len(known) == 1:
        return Figure(found.value)
    return Figure(found.value, found.low, found.high)
