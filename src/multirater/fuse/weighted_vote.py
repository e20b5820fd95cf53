"""The majority vote in which better raters count for more.

How good a rater is, is seen from the others: agreement of their labels with the weighted vote of
everybody else, which is repeated with the weights so found. It assumes less than STAPLE: errors
need not be independent, and nobody can outvote all others together, so that the vote of three
raters is the majority.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.fuse.answers import Answers
from multirater.fuse.em import Fit, confusion_of
from multirater.fuse.expectation import posterior_counts
from multirater.fuse.fitting import result_of, row_labels
from multirater.fuse.pattern_blocks import PatternBlocks
from multirater.fuse.problem import Inputs, LabelInput, pose
from multirater.fuse.result import FusionResult
from multirater.metrics.overlap import class_overlaps, overlaps_of_tables
from multirater.types import MISSING, Labels

Array = NDArray[np.float64]

_ROUNDS = 5
_LEAST, _MOST = 0.02, 0.98
"""Agreement is kept between these: a vote always counts, and never infinitely."""

_GOLD = 30.0
"""How many items count as much as one whose class is known, when raters are weighed: raters who
err alike confirm one another, and few gold labels have to speak against that."""

_USUAL = 20.0
"""Answers that agree as is usual, which are added to those of each rater of class labels."""

_LARGEST = 0.4
"""Largest share of all weight that one rater may have."""


def weighted_vote(
    labels: LabelInput,
    n_classes: int | None = None,
    *,
    background: bool | None = None,
    **inputs: Unpack[Inputs],
) -> FusionResult:
    """Return the class with most votes, each counting by how far the rater agrees with the others.

    A vote counts a / (1 - a), where a is the rater's agreement with the weighted vote of the
    others. Of drawings that is Dice, the mean over all classes but 0, their background. Of class
    labels, none of which is a background, it is the mean over all classes, twenty answers of the
    usual rater beside one's own: who gave few answers counts nearly as everybody. Where a gold
    label is known, raters are held against that, and it counts as thirty others. A tie goes to the
    lowest class index; `n_ties` counts them. `weight` of the result says what votes counted.

    Args:
        labels: of the raters, as in `dawid_skene`.
        n_classes: as there.
        background: whether class 0 is the background of drawings; when not given, it is in arrays
            with two axes of space or more, and there is none in tables and lists of answers.
        inputs: as there.

    Example:
        >>> masks = np.array([[0, 1, 1, 1, 0], [0, 1, 1, 1, 0], [1, 0, 0, 0, 1], [0, 0, 0, 1, 1]])
        >>> weighted_vote(masks).label.tolist()
        [0, 1, 1, 1, 0]
    """
    problem = pose(labels, n_classes, **inputs)
    answers = problem.answers
    is_drawn = _has_space(labels) if background is None else background
    weight = vote_weights(answers, DRAWINGS if is_drawn else CLASS_LABELS)
    prior = answers.class_frequency()
    shares = weighted_shares(answers, weight, prior)
    label, _ = row_labels(answers, shares)
    decided = np.eye(answers.n_classes)[np.maximum(label, 0)]
    counts = posterior_counts(answers, decided)
    fit = Fit(confusion_of(counts), counts, prior, shares, np.empty(0), True)
    return result_of("weighted-vote", problem, fit, weight=weight)


def _has_space(labels: LabelInput) -> bool:
    """Whether labels have an axis of space beside the first, so that they are drawings."""
    if isinstance(labels, pd.DataFrame):
        return False
    first = labels[0] if isinstance(labels, Sequence) and len(labels) else labels
    return np.ndim(first.array if isinstance(first, Labels) else first) > 2


def agreement_of_drawings(counts: Array) -> Array:
    """Return Dice of each rater, (n_raters,), from tables (n_raters, class of the others, said)."""
    return overlaps_of_tables(counts, "dice", None)


def agreement_of_answers(counts: Array) -> Array:
    """Return mean Dice of the classes, (n_raters,), drawn to the usual one where answers are few.

    Not the share of answers alike: who always says the most frequent class has that, too.

    Example:
        >>> agreement_of_answers(np.array([[[9.0, 1], [1, 9]], [[1, 0], [0, 0]]])).round(3)
        array([0.902, 0.909])
    """
    dice, total = class_overlaps(counts, "dice"), counts.sum((1, 2))
    known = ~np.isnan(dice)
    mean = np.where(known, dice, 0.0).sum(1) / np.maximum(known.sum(1), 1)
    usual = (total * mean).sum() / max(total.sum(), 1e-300)
    drawn = (total * mean + _USUAL * usual) / (total + _USUAL)
    return np.asarray(np.where(total > 0, drawn, np.nan))


@dataclass(frozen=True)
class Judging:
    """How raters are held against the vote of the others.

    Attributes:
        agreement: of the raters, from how they compare with that vote.
        shared: answers to an item up to which a tie of the others is shared; beyond, the lowest
            class has it.
    """

    agreement: Callable[[Array], Array]
    shared: float


DRAWINGS = Judging(agreement_of_drawings, 3)
CLASS_LABELS = Judging(agreement_of_answers, np.inf)
"""No class is the lowest: what it is called tells nothing."""


def vote_weights(answers: Answers | PatternBlocks, judged: Judging = DRAWINGS) -> Array:
    """Return what the vote of each rater counts, (n_raters,), summing to one.

    Args:
        answers: what the raters said; the same in blocks takes less memory.
        judged: how raters are held against the others.
    """
    parts = (answers,) if isinstance(answers, Answers) else answers
    weight = np.full(answers.n_raters, 1 / answers.n_raters)
    for _ in range(_ROUNDS):
        # Sums of whole and half numbers: in whichever order they are taken, they are the same.
        counts = np.zeros((answers.n_raters, answers.n_classes, answers.n_classes))
        for part in parts:
            _add_judged(counts, part, weight, judged.shared)
        weight = _shares(judged.agreement(counts))
    return weight


def _add_judged(counts: Array, answers: Answers, weight: Array, shared: float) -> None:
    """Add how the answers of each rater compare with the vote of the others.

    Args:
        counts: (n_raters, class of the others, class said), in items.
        answers: what the raters said.
        weight: (n_raters,), what votes count.
        shared: answers to an item up to which a tie of the others is shared.
    """
    row = np.repeat(np.arange(len(answers)), np.diff(answers.matrix.indptr))
    rater, said = np.divmod(answers.matrix.indices, answers.n_classes)
    items = answers.weight[row] * answers.matrix.data
    few = np.diff(answers.matrix.indptr)[row] <= shared
    votes = _votes(answers, weight)[row]
    votes[np.arange(len(row)), said] -= weight[rater]
    if answers.gold is not None:
        gold = answers.gold[row]
        items = np.where(gold == MISSING, items, _GOLD * items)
        decided = gold[:, None] == np.arange(answers.n_classes)
        votes = np.where(gold[:, None] == MISSING, votes, decided)
    known = votes.sum(1) > 1e-9
    others = items[known, None] * _verdict(votes[known], few[known])
    np.add.at(counts.swapaxes(1, 2), (rater[known], said[known]), others)


def weighted_shares(answers: Answers, weight: Array, otherwise: Array) -> Array:
    """Return the share of each class in the weighted votes, (n_rows, n_classes).

    Args:
        answers: what the raters said.
        weight: (n_raters,).
        otherwise: (n_classes,), of rows without a vote; a known class stands.
    """
    votes = _votes(answers, weight).round(12)
    total = votes.sum(1, keepdims=True)
    shares = np.where(total > 0, votes / np.maximum(total, 1e-300), otherwise)
    if answers.gold is not None:
        known = np.flatnonzero(answers.gold != MISSING)
        shares[known] = np.eye(answers.n_classes)[answers.gold[known]]
    return np.asarray(shares)


def _votes(answers: Answers, weight: Array) -> Array:
    per_answer = np.kron(weight[:, None], np.eye(answers.n_classes))
    return np.asarray(answers.matrix @ per_answer)


def _verdict(votes: Array, few: NDArray[np.bool_]) -> Array:
    """Return the class with most votes, (n, n_classes) as ones and zeros.

    A tie goes to the lowest class; where `few` voted each class has its share, or else two others
    who differ would speak for nobody.
    """
    # What is left of equal weights may differ by rounding: ties stay ties.
    rounded = votes.round(9)
    first = np.eye(votes.shape[1])[rounded.argmax(1)]
    if not few.any():
        return np.asarray(first)
    top = (rounded == rounded.max(1, keepdims=True)).astype(float)
    return np.asarray(np.where(few[:, None], top / top.sum(1, keepdims=True), first))


def _shares(agreed: Array) -> Array:
    """Turn agreement into weights; a rater of whom nothing is known counts as one of the middle."""
    known = ~np.isnan(agreed)
    middle = float(np.median(agreed[known])) if known.any() else 0.5
    agreement = np.clip(np.where(known, agreed, middle), _LEAST, _MOST)
    weight = agreement / (1 - agreement)
    weight /= weight.sum()
    largest = max(_LARGEST, 1 / len(weight))
    while weight.max() > largest + 1e-9:
        weight = np.minimum(weight, largest)
        weight /= weight.sum()
    return np.asarray(weight)
