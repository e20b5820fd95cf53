"""By how much a label is expected to lower the uncertainty of a case."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from multirater.acquisition.belief import Array, Belief

_BLOCK = 1 << 20
"""Numbers worked on at a time, so that memory does not grow with the study."""


def label_gains(probability: Array, cm: Array) -> Array:
    """Return the expected fall of uncertainty of rows by one label of each rater.

    Belief q(t) becomes q(t) cm[t, o] / p(o) with chance p(o) = sum over t of q(t) cm[t, o], and
    with it the chance to be wrong, 1 - sum of squares. It never grows on average.

    Args:
        probability: beliefs q, (n_rows, n_classes).
        cm: (n_raters, true, observed).

    Returns:
        (n_rows, n_raters), 0 for a rater whose answers do not depend on the truth.

    Example:
        >>> sure, guess = np.eye(2), np.full((2, 2), 0.5)
        >>> label_gains(np.array([[0.5, 0.5], [0.9, 0.1]]), np.array([sure, guess])).round(2)
        array([[0.5 , 0.  ],
               [0.18, 0.  ]])
    """
    n_raters, n_classes, _ = cm.shape
    columns = cm.transpose(1, 0, 2).reshape(n_classes, -1)
    chance = np.maximum(probability @ columns, 1e-300)
    squares = (probability**2) @ (columns**2)
    after = (squares / chance).reshape(-1, n_raters, n_classes).sum(2)
    before = np.einsum("it,it->i", probability, probability)
    return np.asarray(np.maximum(after - before[:, None], 0.0))


def case_gains(belief: Belief, cm: Array) -> Array:
    """Return the expected fall of uncertainty of each case by each rater, (n_cases, n_raters)."""
    n_cases, n_raters = belief.given.shape
    found = np.empty((n_cases, n_raters))
    for cases in _blocks(belief, cm.shape[0] * cm.shape[1]):
        first, last = belief.start[cases.start], belief.start[cases.stop]
        gains = label_gains(belief.probability[first:last], cm)
        gains *= belief.weight[first:last, None]
        found[cases] = np.add.reduceat(gains, belief.start[cases] - first, axis=0)
    return found


def after_label(probability: Array, weight: Array, cm: Array) -> tuple[Array, Array]:
    """Return the beliefs that a label may lead to, each weighing by its chance.

    Args:
        probability: beliefs about the rows of a case, (n_rows, n_classes).
        weight: of the rows.
        cm: of the rater, (true, observed).

    Returns:
        Beliefs and their weights, `n_classes` times as many.
    """
    joint = probability[:, None, :] * cm.T[None]
    chance = joint.sum(2)
    beliefs = joint / np.maximum(chance, 1e-300)[..., None]
    return beliefs.reshape(-1, len(cm)), (weight[:, None] * chance).ravel()


def _blocks(belief: Belief, columns: int) -> list[slice]:
    """Divide the cases so that each part has few enough rows."""
    step = max(_BLOCK // columns, 1)
    edges = [0]
    while edges[-1] < belief.n_cases:
        last = np.searchsorted(belief.start, belief.start[edges[-1]] + step, side="right") - 1
        edges.append(min(max(int(last), edges[-1] + 1), belief.n_cases))
    return [slice(a, b) for a, b in pairwise(edges)]
