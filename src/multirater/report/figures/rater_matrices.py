"""What is known of each rater: from `raters.csv`, or counted from the labels of a data set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.fuse.rater_table import rater_table, rater_table_of_tasks
from multirater.io.survey import Survey
from multirater.io.tables.result_table import read_result_table
from multirater.metrics import confusion_counts
from multirater.report.reference import Reference, vote
from multirater.types import MISSING, Case


@dataclass(frozen=True, eq=False)
class RaterMatrices:
    """Each rater in numbers.

    Attributes:
        table: one row per rater, with the columns of `raters.csv`.
        source: where it comes from, in words.
    """

    table: pd.DataFrame
    source: str

    @property
    def raters(self) -> tuple[str, ...]:
        """Names."""
        return tuple(map(str, self.table.index))

    @property
    def _columns(self) -> list[str]:
        return [c for c in self.table.columns if c.startswith("cm[") and c.endswith("]")]

    @property
    def classes(self) -> tuple[str, ...]:
        """Names, from the diagonal `cm[a,a]`; any of them may hold a comma."""
        n_classes = math.isqrt(len(self._columns))
        inner = [name[3:-1] for name in self._columns[:: n_classes + 1]]
        return tuple(text[: len(text) // 2] for text in inner)

    @property
    def cm(self) -> NDArray[np.float64]:
        """Matrices (n_raters, true, observed); NaN where a class never occurred."""
        n_classes = math.isqrt(len(self._columns))
        values = self.table[self._columns].to_numpy(dtype=np.float64)
        return values.reshape(-1, n_classes, n_classes)


def read_matrices(path: Path, source: str) -> RaterMatrices:
    """Read a `raters.csv`.

    Args:
        path: of the file.
        source: where it comes from, in words.
    """
    table = read_result_table(path)
    found = [name for name in table.columns if name.startswith("cm[") and name.endswith("]")]
    if not {"rater", "skill"} <= set(table.columns) or math.isqrt(len(found)) ** 2 != len(found):
        raise InputError(
            Fault(
                f"has columns {', '.join(table.columns[:6])}, ...",
                expected="rater, skill, and cm[true,observed] for every two classes",
                fix="fuse or train again",
                file=str(path),
            )
        )
    return RaterMatrices(table.set_index("rater"), source)


def count_matrices(found: Survey, reference: Reference) -> RaterMatrices | None:
    """Compare raters with what they can be measured against.

    Args:
        found: survey of a data set.
        reference: truth, fused labels or majority.

    Returns:
        None when there is nothing to compare with.
    """
    if reference.kind == "none":
        return None
    raters, names, source = found.dataset.raters, found.classes.names, f"against {reference.name}"
    if reference.table is not None and "skill" in reference.table:
        return RaterMatrices(reference.table, source)
    if found.dataset.kind == "classes":
        counts = _count_answers(found, reference)
        return RaterMatrices(rater_table_of_tasks(counts, raters, names), source)
    cases = [case for case in found.dataset if case.labels]
    known = [each for case in cases if (each := _count_pixels(case, found, reference)) is not None]
    return RaterMatrices(rater_table(np.stack(known), raters, names), source) if known else None


def _count_pixels(case: Case, found: Survey, reference: Reference) -> NDArray[np.float64] | None:
    """Count pixels (n_raters, true, observed) of one case."""
    raters, n_classes = found.dataset.raters, len(found.classes)
    true = reference.read(case, case.read_labels().array)
    if true is None:
        return None
    counts = np.zeros((len(raters), n_classes, n_classes))
    for rater in case.labels:
        label = case.read_label(rater).array
        counts[raters.index(rater)] = confusion_counts(true, label, n_classes)
    return counts


def _count_answers(found: Survey, reference: Reference) -> NDArray[np.float64]:
    """Count tasks (n_raters, true, observed), all cases at once: there may be very many."""
    labelled = [
        (case, part.rows[0])
        for case, part in zip(found.dataset, found.cases, strict=True)
        if len(part.rows)
    ]
    answers = np.stack([row for _, row in labelled], axis=1)
    if reference.kind == "vote":
        true = vote(answers, len(found.classes))
    else:
        read = [reference.read(case, row) for case, row in labelled]
        true = np.array([MISSING if each is None else each for each in read], dtype=np.int16)
    return np.stack([confusion_counts(true, each, len(found.classes)) for each in answers])
