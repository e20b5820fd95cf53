"""The steps of EM over sparse rows of answers, a row at a time: what a row needs stays near.

Answers are laid out as in a sparse matrix by rows: `columns[start[j]:start[j + 1]]` are those of
row j, a column is rater * n_classes + label. `chance` is (n_columns, n_classes): the probability of
that answer given each true class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.compiled import compile_loop

Array = NDArray[np.float64]


@compile_loop
def expect(
    start: NDArray[Any],
    columns: NDArray[Any],
    weight: Array,
    chance: Array,
    prior: Array,
    counts: Array,
    mass: Array,
    total: Array,
) -> None:
    """Add posteriors times weight to `counts` (n_columns, n_classes) and `mass` (n_classes,).

    `total` (n_rows,) receives the probability of each row's answers.
    """
    n_classes = prior.size
    joint = np.empty(n_classes)
    for row in range(weight.size):
        for t in range(n_classes):
            joint[t] = prior[t]
        for i in range(start[row], start[row + 1]):
            column = np.uint64(columns[i])
            for t in range(n_classes):
                joint[t] *= chance[column, t]
        whole = 0.0
        for t in range(n_classes):
            whole += joint[t]
        total[row] = whole
        scale = weight[row] / whole
        for t in range(n_classes):
            joint[t] *= scale
            mass[t] += joint[t]
        for i in range(start[row], start[row + 1]):
            column = np.uint64(columns[i])
            for t in range(n_classes):
                counts[column, t] += joint[t]


@compile_loop
def posterior(
    start: NDArray[Any], columns: NDArray[Any], chance: Array, prior: Array, found: Array
) -> None:
    """Write the class probabilities of every row, (n_rows, n_classes)."""
    n_classes = prior.size
    for row in range(len(found)):
        for t in range(n_classes):
            found[row, t] = prior[t]
        for i in range(start[row], start[row + 1]):
            column = np.uint64(columns[i])
            for t in range(n_classes):
                found[row, t] *= chance[column, t]
        whole = 0.0
        for t in range(n_classes):
            whole += found[row, t]
        for t in range(n_classes):
            found[row, t] /= whole


@compile_loop
def total_of(
    start: NDArray[Any], columns: NDArray[Any], chance: Array, priors: Array, total: Array
) -> None:
    """Write the probability of each row's answers by each prior, (n_priors, n_rows)."""
    n_classes = priors.shape[1]
    joint = np.empty(n_classes)
    for row in range(total.shape[1]):
        for t in range(n_classes):
            joint[t] = 1.0
        for i in range(start[row], start[row + 1]):
            column = np.uint64(columns[i])
            for t in range(n_classes):
                joint[t] *= chance[column, t]
        for k in range(len(priors)):
            whole = 0.0
            for t in range(n_classes):
                whole += joint[t] * priors[k, t]
            total[k, row] = whole


@compile_loop
def vote(
    start: NDArray[Any], columns: NDArray[Any], weight: Array, counts: Array, mass: Array
) -> None:
    """Add to `counts` and `mass` as if the shares of a row's answers were its class probabilities.

    Rows without an answer count nothing.
    """
    n_classes = mass.size
    for row in range(weight.size):
        first, last = start[row], start[row + 1]
        if first == last:
            continue
        share = weight[row] / (last - first)
        for i in range(first, last):
            said = np.uint64(columns[i] % n_classes)
            mass[said] += share
            for k in range(first, last):
                counts[np.uint64(columns[k]), said] += share
