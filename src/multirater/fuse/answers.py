"""What the raters said, as weighted sparse rows: the one form every fusion method works on.

A row is a task of a table, or a pattern that many pixels share. Dense images become a few dozen
weighted rows, long tables one row per task, and the same EM runs on both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from multirater.types import MISSING

_BLOCK = 1 << 17
"""Probabilities (rows times classes) worked on at a time: few enough to stay in the cache, and
memory does not grow with the number of tasks."""

_SMALL = 1 << 18
"""Up to this many multiplications per step a dense matrix is quicker than a sparse one, and BLAS
keeps to one thread."""


class Block(NamedTuple):
    """Consecutive rows of answers, which share the memory of the whole.

    Attributes:
        rows: which.
        matrix: their part of the matrix, sparse, or dense when small.
        transposed: the same across; making it anew would take longer than using it.
        columns: (n_rows, n_answers), the columns of each row's answers, where all rows have the
            same number of them; else None.
    """

    rows: slice
    matrix: Any
    transposed: Any
    columns: NDArray[np.int32] | None


@dataclass(frozen=True, eq=False)
class Answers:
    """Rows of answers.

    Attributes:
        matrix: (n_rows, n_raters * n_classes); entry (j, r * n_classes + o) counts how often rater
            r said o of row j: 0 or 1, unless a rater answered twice.
        weight: (n_rows,), how many items share the row; 0 for a row without answer or gold label.
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

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """All rows, a few at a time."""
        if math.prod(self.matrix.shape) * self.n_classes <= _SMALL:
            dense = self.matrix.toarray()
            return (Block(slice(0, len(self)), dense, dense.T, None),)
        step = max(_BLOCK // self.n_classes, 1)
        starts = range(0, len(self), step)
        return tuple(self._block(start, min(start + step, len(self))) for start in starts)

    def _block(self, start: int, stop: int) -> Block:
        pointer = self.matrix.indptr[start : stop + 1]
        here = slice(pointer[0], pointer[-1])
        arrays = (self.matrix.data[here], self.matrix.indices[here], pointer - pointer[0])
        shape = (stop - start, self.matrix.shape[1])
        matrix = sparse.csr_matrix(arrays, shape=shape, copy=False)
        n_answers = pointer[1] - pointer[0]
        alike = n_answers > 0 and np.all(np.diff(pointer) == n_answers) and np.all(arrays[0] == 1)
        columns = arrays[1].reshape(-1, n_answers) if alike else None
        return Block(slice(start, stop), matrix, matrix.T, columns)

    @cached_property
    def is_plain(self) -> bool:
        """Whether nobody answered twice, and nothing is known but the answers."""
        return self.gold is None and self.row_prior is None and bool(np.all(self.matrix.data == 1))

    @cached_property
    def most_answers(self) -> float:
        """Largest number of answers a row has."""
        return float(self.matrix.sum(1).max()) if len(self) else 0.0

    def class_frequency(self) -> NDArray[np.float64]:
        """Return the share of each class among all answers, (n_classes,); sums to one."""
        return as_shares(self.class_totals())

    def class_totals(self) -> NDArray[np.float64]:
        """Return how many items were given each class, over all raters, (n_classes,)."""
        per_column = self.matrix.T @ self.weight
        return np.asarray(per_column.reshape(self.n_raters, self.n_classes).sum(0))


def as_shares(total: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return numbers as shares of their sum; equal ones where all are zero."""
    if total.sum() == 0:
        return np.full(len(total), 1 / len(total))
    return np.asarray(total / total.sum())


def answers_from_rows(
    rows: NDArray[np.integer[Any]],
    weight: NDArray[Any],
    n_classes: int,
    *,
    gold: NDArray[np.int64] | None = None,
    row_prior: NDArray[np.float64] | None = None,
) -> Answers:
    """Build answers from dense rows (n_rows, n_raters), -1 where a rater is missing."""
    n_rows, n_raters = rows.shape
    said = rows != MISSING
    column = (rows + np.arange(n_raters) * n_classes)[said].astype(np.int32)
    matrix = _sparse(column, said.sum(1), (n_rows, n_raters * n_classes))
    counting = _where_known(np.asarray(weight, dtype=float), matrix, gold)
    return Answers(matrix, counting, n_raters, n_classes, gold, row_prior)


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
    size = (n_tasks, n_raters * n_classes)
    if np.all(task[1:] >= task[:-1]):
        matrix = _sparse(column, np.bincount(task, minlength=n_tasks), size)
    else:
        matrix = sparse.coo_matrix((np.ones(len(task)), (task, column)), shape=size).tocsr()
    counting = _where_known(np.ones(n_tasks), matrix, gold)
    return Answers(matrix, counting, n_raters, n_classes, gold)


def _sparse(
    column: NDArray[np.int32], n_answers: NDArray[np.integer], shape: tuple[int, int]
) -> sparse.csr_matrix:
    """Build a sparse matrix of ones from the columns of each row, row after row."""
    pointer = np.zeros(len(n_answers) + 1, dtype=np.int32 if len(column) < 1 << 31 else np.int64)
    np.cumsum(n_answers, out=pointer[1:])
    return sparse.csr_matrix((np.ones(len(column)), column, pointer), shape=shape, copy=False)


def _where_known(
    weight: NDArray[np.float64], matrix: sparse.csr_matrix, gold: NDArray[np.int64] | None
) -> NDArray[np.float64]:
    """Let rows about which nothing is known weigh nothing: they would only slow the prior down."""
    unknown = np.diff(matrix.indptr) == 0
    if gold is not None:
        unknown &= gold == MISSING
    return np.where(unknown, 0.0, weight)
