"""What is known of each rater: one row each, with the columns of `raters.csv`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.tables.result_table import read_result_table
from multirater.metrics.rater_columns import class_of_word


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
        return tuple(class_of_word(text[: len(text) // 2]) for text in inner)

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
