"""What the raters said, as weighted sparse rows: the one form every fusion method works on.

A row is a task of a table, or a pattern that many pixels share. Dense images become a few dozen
weighted rows, long tables one row per task, and the same EM runs on both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from multirater.types import MISSING

_BLOCK = 1 << 15
"""Rows worked on at a time, so that memory does not grow with the number of tasks."""


@dataclass(frozen=True, eq=False)
class Answers:
    """Rows of answers.

    Attributes:
        matrix: (n_rows, n_raters * n_classes); entry (j, r * n_classes + o) counts how often rater
            r said o of row j: 0 or 1, unless a rater answered twice.
        weight: (n_rows,), how many items share the row.
        n_raters: number of raters.
        n_classes: number of classes.
        gold: (n_rows,), the known class of a row, -1 where unknown; None when none is known.
        row_prior: (n_rows, n_classes), class probabilities before any answer, when they differ
            from row to row.
    """

    matrix: sparse.csr_matrix
    weight: NDArray[np.float64]
    n_raters: int
    n_classes: int
    gold: NDArray[np.int64] | None = None
    row_prior: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.weight)

    def blocks(self) -> Iterator[tuple[slice, sparse.csr_matrix]]:
        """Yield consecutive rows, without copying them."""
        pointer = self.matrix.indptr
        for start in range(0, len(self), _BLOCK):
            stop = min(start + _BLOCK, len(self))
            first, last = pointer[start], pointer[stop]
            arrays = (
                self.matrix.data[first:last],
                self.matrix.indices[first:last],
                pointer[start : stop + 1] - first,
            )
            shape = (stop - start, self.matrix.shape[1])
            yield slice(start, stop), sparse.csr_matrix(arrays, shape=shape, copy=False)

    def class_frequency(self) -> NDArray[np.float64]:
        """Return the share of each class among all answers, (n_classes,); sums to one."""
        total = np.zeros(self.n_classes)
        for rows, block in self.blocks():
            per_column = block.T @ self.weight[rows]
            total += per_column.reshape(self.n_raters, self.n_classes).sum(0)
        if total.sum() == 0:
            return np.full(self.n_classes, 1 / self.n_classes)
        return np.asarray(total / total.sum())


def answers_from_rows(
    rows: NDArray[np.int64],
    weight: NDArray[Any],
    n_classes: int,
    *,
    gold: NDArray[np.int64] | None = None,
    row_prior: NDArray[np.float64] | None = None,
) -> Answers:
    """Build answers from dense rows (n_rows, n_raters), -1 where a rater is missing."""
    n_rows, n_raters = rows.shape
    row, rater = np.nonzero(rows != MISSING)
    column = rater * n_classes + rows[row, rater]
    matrix = sparse.csr_matrix(
        (np.ones(len(row)), (row, column)), shape=(n_rows, n_raters * n_classes)
    )
    return Answers(matrix, np.asarray(weight, dtype=float), n_raters, n_classes, gold, row_prior)


def answers_from_codes(
    task: NDArray[np.int32],
    rater: NDArray[np.int32],
    label: NDArray[np.int32],
    shape: tuple[int, int, int],
    *,
    gold: NDArray[np.int64] | None = None,
) -> Answers:
    """Build answers from a long table of codes; `shape` is (n_tasks, n_raters, n_classes)."""
    n_tasks, n_raters, n_classes = shape
    column = rater * np.int32(n_classes)
    column += label
    matrix = sparse.coo_matrix(
        (np.ones(len(task)), (task, column)), shape=(n_tasks, n_raters * n_classes)
    ).tocsr()
    return Answers(matrix, np.ones(n_tasks), n_raters, n_classes, gold)
