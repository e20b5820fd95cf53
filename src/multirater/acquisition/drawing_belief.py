"""What is known of a study of drawings.

Raters are judged as the default fusion does it, by the weighted vote of the others: it assumes less
than STAPLE, which follows whoever draws too much. What is believed of pixels follows from that. The
uncertainty of a case is about one minus the Dice that its label is expected to have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.acquisition.belief import Array, Belief, RaterBelief
from multirater.fuse.left_out import left_out_vote
from multirater.fuse.pattern_blocks import PatternBlocks
from multirater.fuse.quality import tables_of
from multirater.fuse.weighted_vote import vote_weights
from multirater.metrics.overlap import overlaps_of_tables
from multirater.types import MISSING

Rows = NDArray[np.integer[Any]]

SKILL = 0.7
"""Dice that a rater of whom nothing is known is taken to have."""

_CASES = 2.0
"""Cases that this belief is worth."""

_NOISE = 0.2
"""How far the Dice of a rater varies from case to case."""

_SMALLEST = 0.25
"""Objects smaller than this share of the usual size weigh as if they had it."""


@dataclass(frozen=True, eq=False)
class DrawnCase:
    """The labels of a case.

    Attributes:
        rows: (n_rows, n_raters), labels that occur together, -1 for a missing rater; no row for a
            case nobody labelled.
        counts: (n_rows,), pixels that carry each row.
        prior: (n_rows, n_classes), what a network says of them; None without one. A case that
            nobody labelled has rows, too, where there is a network.
    """

    rows: Rows
    counts: NDArray[Any]
    prior: Array | None = None


def belief_of_drawings(cases: Sequence[DrawnCase], n_raters: int, n_classes: int) -> Belief:
    """Return what drawings say of cases and raters.

    Args:
        cases: all of the study, labelled or not.
        n_raters: number of raters.
        n_classes: background included.
    """
    labelled = [case for case in cases if (case.rows != MISSING).any()]
    share = _class_share(labelled, n_classes)
    raters = _raters(labelled, n_raters, share)
    log_cm = np.log(np.maximum(raters.cm, 1e-6))
    parts = [_case_belief(case, share, log_cm) for case in cases]
    sizes = np.array([q.shape[0] for q, _ in parts])
    start = np.concatenate([[0], np.cumsum(sizes)])
    given = np.array([_given(case, n_raters) for case in cases]).reshape(len(cases), n_raters)
    probability = np.concatenate([q for q, _ in parts])
    return Belief(probability, np.concatenate([w for _, w in parts]), start, given, raters)


def _given(case: DrawnCase, n_raters: int) -> NDArray[np.bool_]:
    return np.asarray((case.rows != MISSING).any(0)) if len(case.rows) else np.zeros(n_raters, bool)


def _class_share(cases: Sequence[DrawnCase], n_classes: int) -> Array:
    """Return how much of a case each class takes up, by all that was drawn, (n_classes,)."""
    total = np.full(n_classes, 1e-6)
    for case in cases:
        there = case.rows != MISSING
        pixels = np.broadcast_to(case.counts[:, None], case.rows.shape)
        found = np.bincount(case.rows[there], pixels[there], minlength=n_classes)
        total += found / max(found.sum(), 1)
    return np.asarray(total / total.sum())


def _case_belief(case: DrawnCase, share: Array, log_cm: Array) -> tuple[Array, Array]:
    """Return beliefs about the rows of a case, and what they weigh."""
    if not len(case.rows):
        return share[None], np.array([1 / (2 * max(1 - share[0], 1e-6))])
    prior = share if case.prior is None else case.prior
    logs = np.broadcast_to(np.log(np.maximum(prior, 1e-6)), (len(case.rows), len(share))).copy()
    for rater, said in enumerate(case.rows.T):
        there = said != MISSING
        logs[there] += log_cm[rater].T[said[there]]
    belief = np.exp(logs - logs.max(1, keepdims=True))
    belief /= belief.sum(1, keepdims=True)
    drawn = float(case.counts @ (1 - belief[:, 0]))
    least = _SMALLEST * (1 - share[0]) * case.counts.sum()
    return belief, case.counts / (2 * max(drawn, least, 1e-6))


def _raters(cases: Sequence[DrawnCase], n_raters: int, share: Array) -> RaterBelief:
    n_classes = len(share)
    shared = [case for case in cases if _given(case, n_raters).sum() > 1]
    usual, noise = _usual_matrix(share), np.full(n_raters, _NOISE)
    if not shared:
        cm = np.repeat(usual[None], n_raters, axis=0)
        return RaterBelief(cm, np.zeros(n_raters), np.full(n_raters, SKILL), noise)
    weight = _weights(shared, n_classes)
    tables = np.zeros((n_raters, n_classes, n_classes))
    known, right = np.zeros(n_raters), np.zeros(n_raters)
    for case in shared:
        given = _given(case, n_raters)
        others = left_out_vote(case.rows, weight, n_classes)
        # What two weak raters agree on tells less than what a good one says.
        worth = np.where(given, (weight[given].sum() - weight) / weight.max(), 0.0).clip(0, 1)
        found = tables_of(case.rows, case.counts, others, n_classes)
        quality = overlaps_of_tables(found, "dice", None, empty=float("nan"))
        judged = given & ~np.isnan(quality)
        known[judged] += worth[judged]
        right[judged] += (worth * quality)[judged]
        tables += worth[:, None, None] * found
    skill = (right + _CASES * SKILL) / (known + _CASES)
    pixels = tables.sum((1, 2)) / np.maximum(known, 1e-9)
    held = _CASES * np.median(pixels[known > 0]) if (known > 0).any() else 1.0
    counts = tables + held * usual * share[:, None]
    return RaterBelief(counts / counts.sum(2, keepdims=True), known, skill, noise)


def _usual_matrix(share: Array) -> Array:
    """Return the matrix of a rater with the usual skill, who draws about as much as there is."""
    cm = np.diag(np.full(len(share), SKILL))
    cm[1:, 0] = 1 - SKILL
    drawn = (1 - SKILL) * share[1:] / max(share[0], 1e-6)
    cm[0, 1:] = np.minimum(drawn, 0.5 / max(len(share) - 1, 1))
    cm[0, 0] = 1 - cm[0, 1:].sum()
    return cm


def _weights(cases: Sequence[DrawnCase], n_classes: int) -> Array:
    parts = ((case.rows, case.counts) for case in cases)
    return vote_weights(PatternBlocks.of(parts, cases[0].rows.shape[1], n_classes))
