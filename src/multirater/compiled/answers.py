"""The steps of EM over sparse rows of answers, a row at a time: what a row needs stays near.

Answers are laid out as in a sparse matrix by rows: `columns[start[j]:start[j + 1]]` are those of
row j, a column is rater * n_classes + label. `chance` is (n_columns, n_classes): the probability of
that answer given each true class.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.compiled import compile_loop
from multirater.compiled.vectors import WIDTH, add_to_rows, multiply_rows

Array = NDArray[np.float64]

_LINE = 64
"""Bytes of a cache line."""


def expect(
    start: NDArray[Any], columns: NDArray[Any], weight: Array, chance: Array, prior: Array
) -> tuple[Array, Array, Array]:
    """Sum posteriors times weight over rows.

    Returns:
        By answer (n_columns, n_classes), over all rows (n_classes,), and the probability of each
        row's answers (n_rows,).
    """
    n_classes = len(prior)
    counts, mass = _zeros((len(chance), _padded(n_classes))), _zeros((_padded(n_classes),))
    total = np.empty(len(weight))
    given = (start, _as_int32(columns), weight, _pad(chance), _pad(prior))
    _expect(*given, counts, mass, total)
    return np.ascontiguousarray(counts[:, :n_classes]), mass[:n_classes], total


def posterior(start: NDArray[Any], columns: NDArray[Any], chance: Array, prior: Array) -> Array:
    """Return the class probabilities of every row, (n_rows, n_classes)."""
    found = np.empty((len(start) - 1, len(prior)))
    _posterior(start, _as_int32(columns), _pad(chance), _pad(prior), found)
    return found


def totals(start: NDArray[Any], columns: NDArray[Any], chance: Array, priors: Array) -> Array:
    """Return the probability of each row's answers by each prior, (n_priors, n_rows)."""
    found = np.empty((len(priors), len(start) - 1))
    _totals(start, _as_int32(columns), _pad(chance), _pad(np.ones(priors.shape[1])), priors, found)
    return found


def vote(
    start: NDArray[Any], columns: NDArray[Any], weight: Array, n_columns: int, n_classes: int
) -> tuple[Array, Array]:
    """Sum as `expect` does, as if the shares of a row's answers were its class probabilities.

    Rows without an answer count nothing.
    """
    counts, mass = np.zeros((n_columns, n_classes)), np.zeros(n_classes)
    _vote(start, _as_int32(columns), weight, counts, mass)
    return counts, mass


def _padded(n_classes: int) -> int:
    return -(-n_classes // WIDTH) * WIDTH


def _pad(rows: Array) -> Array:
    """Fill rows up with zeros to whole vectors."""
    padded = _zeros((*rows.shape[:-1], _padded(rows.shape[-1])))
    padded[..., : rows.shape[-1]] = rows
    return padded


def _zeros(shape: tuple[int, ...]) -> Array:
    """Return zeros that begin where a cache line does: a vector is then never in two of them."""
    n_bytes = 8 * math.prod(shape)
    memory = np.zeros(n_bytes + _LINE, dtype=np.uint8)
    start = -memory.ctypes.data % _LINE
    return memory[start : start + n_bytes].view(np.float64).reshape(shape)


def _as_int32(columns: NDArray[Any]) -> NDArray[np.int32]:
    return np.ascontiguousarray(columns, dtype=np.int32)


@compile_loop
def _expect(
    start: NDArray[Any],
    columns: NDArray[np.int32],
    weight: Array,
    chance: Array,
    prior: Array,
    counts: Array,
    mass: Array,
    total: Array,
) -> None:
    joint = np.empty(prior.size)
    stride = np.uintp(8 * prior.size)
    here, first = np.uintp(joint.ctypes.data), np.uintp(prior.ctypes.data)
    table, sums = np.uintp(chance.ctypes.data), np.uintp(counts.ctypes.data)
    for row in range(weight.size):
        answers = np.uintp(columns.ctypes.data) + np.uintp(4 * start[row])
        n = np.uintp(start[row + 1] - start[row])
        multiply_rows(here, first, table, answers, n, stride)
        whole = 0.0
        for t in range(joint.size):
            whole += joint[t]
        total[row] = whole
        scale = weight[row] / whole
        for t in range(joint.size):
            mass[t] += joint[t] * scale
        add_to_rows(sums, here, scale, answers, n, stride)


@compile_loop
def _posterior(
    start: NDArray[Any], columns: NDArray[np.int32], chance: Array, prior: Array, found: Array
) -> None:
    joint = np.empty(prior.size)
    stride = np.uintp(8 * prior.size)
    here, first = np.uintp(joint.ctypes.data), np.uintp(prior.ctypes.data)
    for row in range(len(found)):
        answers = np.uintp(columns.ctypes.data) + np.uintp(4 * start[row])
        n = np.uintp(start[row + 1] - start[row])
        multiply_rows(here, first, np.uintp(chance.ctypes.data), answers, n, stride)
        whole = 0.0
        for t in range(joint.size):
            whole += joint[t]
        for t in range(found.shape[1]):
            found[row, t] = joint[t] / whole


@compile_loop
def _totals(
    start: NDArray[Any],
    columns: NDArray[np.int32],
    chance: Array,
    ones: Array,
    priors: Array,
    found: Array,
) -> None:
    joint = np.empty(ones.size)
    stride = np.uintp(8 * ones.size)
    here, first = np.uintp(joint.ctypes.data), np.uintp(ones.ctypes.data)
    for row in range(found.shape[1]):
        answers = np.uintp(columns.ctypes.data) + np.uintp(4 * start[row])
        n = np.uintp(start[row + 1] - start[row])
        multiply_rows(here, first, np.uintp(chance.ctypes.data), answers, n, stride)
        for k in range(len(priors)):
            whole = 0.0
            for t in range(priors.shape[1]):
                whole += joint[t] * priors[k, t]
            found[k, row] = whole


@compile_loop
def _vote(
    start: NDArray[Any], columns: NDArray[np.int32], weight: Array, counts: Array, mass: Array
) -> None:
    n_classes = mass.size
    for row in range(weight.size):
        first, last = start[row], start[row + 1]
        if first == last:
            continue
        share = weight[row] / (last - first)
        for i in range(first, last):
            said = np.uint32(columns[i] % n_classes)
            mass[said] += share
            for k in range(first, last):
                counts[np.uint32(columns[k]), said] += share
