"""What the others say of an item: the label without the rater who is judged.

Whoever has a say in a reference agrees with it: in a vote of three, each rater is a third of what
they are measured against.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from multirater.fuse.answers import Answers
from multirater.types import MISSING

Array = NDArray[np.float64]

_LEAST = 1e-12
"""Keeps logarithms finite."""

_BLOCK = 1 << 20
"""Probabilities (rows times classes) looked at at a time."""


def left_out_vote(rows: NDArray[np.integer], weight: Array, n_classes: int) -> NDArray[np.int64]:
    """Return the (weighted) vote of the others, for each rater.

    Args:
        rows: label patterns or items (n_rows, n_raters), -1 where missing.
        weight: (n_raters,), what each vote counts; ones for the majority vote.
        n_classes: number of classes.

    Returns:
        (n_rows, n_raters), a tie going to the lower class; -1 where nobody else labelled the row.

    Example:
        >>> left_out_vote(np.array([[1, 1, 0]]), np.ones(3), 2).tolist()
        [[0, 0, 1]]
    """
    classes = np.arange(n_classes)
    shares = np.zeros((len(rows), n_classes))
    for said, own in zip(rows.T, weight, strict=True):
        shares += own * (said[:, None] == classes)
    found = np.full(rows.shape, MISSING, dtype=np.int64)
    for rater, (said, own) in enumerate(zip(rows.T, weight, strict=True)):
        others = shares - own * (said[:, None] == classes)
        known = others.sum(1) > _LEAST
        # What is left of equal weights may differ by rounding: ties stay ties.
        found[known, rater] = others[known].round(9).argmax(1)
    return found


def alike_without(answers: Answers, posterior: Array, cm: Array) -> tuple[Array, Array]:
    """Count the answers of each rater that the others' answers make the likeliest.

    The answer's factor is divided out of the posterior, which is a product over answers; what was
    estimated of the others stays. What all say of a row is alike, however rare the class; of
    classes that are equally likely none is. Two raters are alike where they say the same: their
    answers cannot tell who of them is right, and matrices would follow one of them.

    Args:
        answers: what the raters said.
        posterior: of each row, (n_rows, n_classes).
        cm: (n_raters, true, observed).

    Returns:
        Answers alike and answers compared, (n_raters,) each; rows with one answer do not count.

    Example:
        >>> from multirater.fuse.answers import answers_from_rows
        >>> cm = np.array([[[0.99, 0.01], [0.01, 0.99]], [[0.7, 0.3], [0.3, 0.7]]])
        >>> said = answers_from_rows(np.array([[1, 0]]), np.ones(1), 2)
        >>> alike_without(said, np.array([[0.02, 0.98]]), cm)
        (array([0., 0.]), array([1., 1.]))
    """
    right, total = np.zeros((2, answers.n_raters))
    log_cm = np.log(np.maximum(cm, _LEAST))
    step = max(_BLOCK // answers.n_classes, 1)
    for start in range(0, len(answers), step):
        rows = slice(start, min(start + step, len(answers)))
        rater, alike, weight = _alike_in(answers, rows, posterior[rows], log_cm)
        right += np.bincount(rater, weight * alike, minlength=answers.n_raters)
        total += np.bincount(rater, weight, minlength=answers.n_raters)
    return right, total


def _alike_in(
    answers: Answers, rows: slice, posterior: Array, log_cm: Array
) -> tuple[NDArray[np.integer], NDArray[np.bool_], Array]:
    """Return rater, likeness and weight of each answer of some rows that is not the only one."""
    pointer = answers.matrix.indptr[rows.start : rows.stop + 1]
    n_answers = np.diff(pointer)
    row = np.repeat(np.arange(len(n_answers)), n_answers)
    rater, said = np.divmod(answers.matrix.indices[pointer[0] : pointer[-1]], answers.n_classes)
    has_company = n_answers[row] > 1
    row, rater, said = row[has_company], rater[has_company], said[has_company]
    alike = _is_unanimous(row, said, len(n_answers))[row]
    if answers.n_raters > 2:
        others = np.log(np.maximum(posterior, _LEAST**3))[row]
        others -= log_cm[rater, :, said]
        alike |= _is_alone_at_top(others, said)
    return rater, alike, answers.weight[rows][row]


def _is_unanimous(
    row: NDArray[np.integer], said: NDArray[np.integer], n_rows: int
) -> NDArray[np.bool_]:
    """Whether all answers of each row are the same, (n_rows,); rows come in order."""
    found = np.ones(n_rows, dtype=bool)
    differs = (row[1:] == row[:-1]) & (said[1:] != said[:-1])
    found[row[1:][differs]] = False
    return found


def _is_alone_at_top(values: Array, place: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Whether no other entry of a row is as large as the one at a place, but for rounding."""
    rounded = values.round(9)
    own = rounded[np.arange(len(place)), place]
    return np.asarray((rounded >= own[:, None]).sum(1) == 1)
