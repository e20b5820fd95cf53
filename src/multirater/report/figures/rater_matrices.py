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
from multirater.metrics import confusion_counts
from multirater.report.reference import Reference
from multirater.types import Case


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
    table = pd.read_csv(path, dtype={"rater": str}, keep_default_na=False, na_values=[""])
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
    cases = [case for case in found.dataset if case.labels]
    counts = [each for case in cases if (each := _counts(case, found, reference)) is not None]
    if reference.kind == "none" or not counts:
        return None
    raters, names, source = found.dataset.raters, found.classes.names, f"against {reference.name}"
    stacked = np.stack(counts)
    if found.dataset.kind == "classes":
        return RaterMatrices(rater_table_of_tasks(stacked.sum(0), raters, names), source)
    return RaterMatrices(rater_table(stacked, raters, names), source)


def _counts(case: Case, found: Survey, reference: Reference) -> NDArray[np.float64] | None:
    """Count pixels (n_raters, true, observed) of one case."""
    labels = case.read_labels(found.dataset.raters).array
    true = reference.read(case, labels)
    if true is None:
        return None
    n_classes = len(found.classes)
    return np.stack([confusion_counts(true, label, n_classes) for label in labels]).astype(float)
