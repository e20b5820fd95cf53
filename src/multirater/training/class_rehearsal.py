"""How much worse than the right classes is what a network learned? A rehearsal that needs no truth.

Raters are judged first. Then a world is made up in which all is known: every case has the class
that labels and cases that look alike tell, and labels of the same raters are drawn for it from
their matrices. In it, cases that look alike stand in for the network
(`multirater.training.near_cases`): once taught the known classes, once what the network's method
would make of the drawn labels. Both are asked about cases they were not taught. The difference is
what the labels, and what was made of them, cost.

Raters who err on hard cases only would look right nearly everywhere: where cases have several
labels, raters are judged once more by the disputed ones alone, and what all agree on stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from multirater.training.class_answers import ClassAnswers
from multirater.training.class_raters import (
    ClassLabels,
    Judgement,
    Shares,
    as_shares,
    by_labels_alone,
    expected_matrices,
)
from multirater.training.near_cases import NearCases

Learned: TypeAlias = Literal["vote", "labels", "fusion"] | Shares
"""What a network learns: the majority vote of each case, all labels as they are, labels fused by
raters' matrices, or all labels through matrices (n_raters, true, observed) that it has."""

_DRAWS = 2
_STEPS = 6
_DISPUTED_STEPS = 20
_FEWEST_DISPUTED = 20
_USUAL = 0.5
"""Share of the cases with several labels from which on disputes say how good raters are."""


@dataclass(frozen=True, eq=False)
class World:
    """What is believed of cases and raters.

    Attributes:
        truth: class probabilities (n_cases, L).
        matrices: (n_raters, true, observed).
        disputed: where several labels differ, (n_cases,).
        agreed: where several labels are the same, (n_cases,).
        in_dispute: matrices of the disputed cases; None where these are too few.
    """

    truth: Shares
    matrices: Shares
    disputed: NDArray[np.bool_]
    agreed: NDArray[np.bool_]
    in_dispute: Shares | None


def believed(answers: ClassAnswers, judged: Judgement) -> World:
    """Judge raters by the disputed cases alone, where there are enough.

    Args:
        answers: labels of n cases, at least one of each case.
        judged: raters and cases, by all labels.
    """
    labels = ClassLabels(answers, len(judged.matrices), *judged.truth.shape)
    several = labels.per_case > 1
    disputed = several & ((labels.votes > 0).sum(1) > 1)
    agreed = several & ~disputed
    if several.mean() < _USUAL or disputed.sum() < _FEWEST_DISPUTED:
        return World(judged.truth, judged.matrices, disputed, agreed, None)
    matrices, only = judged.matrices, disputed[:, None]
    for _ in range(_DISPUTED_STEPS):
        matrices = expected_matrices(labels.counts(only * labels.posterior(judged.guess, matrices)))
    truth = np.where(only, labels.posterior(judged.guess, matrices), judged.truth)
    return World(truth, judged.matrices, disputed, agreed, matrices)


def expected_loss(world: World, answers: ClassAnswers, near: NearCases, learned: Learned) -> float:
    """Return the share of unseen cases that are answered wrong because of what was learned.

    Args:
        world: what is believed.
        answers: the labels; who labelled which case is taken from them.
        near: compares the cases.
        learned: by the network.
    """
    random = np.random.default_rng(0)
    return float(
        np.mean([_rehearsed(world, answers, near, learned, random) for _ in range(_DRAWS)])
    )


def _rehearsed(
    world: World,
    answers: ClassAnswers,
    near: NearCases,
    learned: Learned,
    random: np.random.Generator,
) -> float:
    truth, given = _drawn_world(world, answers, random)
    n_raters, n_classes = world.matrices.shape[:2]
    labels = ClassLabels(given, n_raters, near.n_cases, n_classes)
    known: Shares = np.eye(n_classes)[truth]
    best, own = near.guess(known), _learned(labels, near, learned)
    return float((best.argmax(1) == truth).mean() - (own.argmax(1) == truth).mean())


def _drawn_world(
    world: World, answers: ClassAnswers, random: np.random.Generator
) -> tuple[NDArray[np.int64], ClassAnswers]:
    """Return the classes of all cases, and draw labels of them."""
    truth = world.truth.argmax(1)
    label = _drawn(world.matrices[answers.rater, truth[answers.case]], random)
    if world.in_dispute is not None:
        hard = _drawn(world.in_dispute[answers.rater, truth[answers.case]], random)
        stands = world.agreed[answers.case]
        label = np.where(world.disputed[answers.case], hard, label)
        label = np.where(stands, answers.label, label)
        truth[answers.case[stands]] = answers.label[stands]
    return truth, ClassAnswers(answers.case, answers.rater, label)


def _drawn(share: Shares, random: np.random.Generator) -> NDArray[np.int64]:
    """Draw a class per row of probabilities (n, L)."""
    up_to = share.cumsum(1)
    lots = random.random(len(share))[:, None] * up_to[:, -1:]
    return np.asarray((lots > up_to).sum(1), dtype=np.int64)


def _learned(labels: ClassLabels, near: NearCases, learned: Learned) -> Shares:
    """Return what is said of unseen cases, (n_cases, L), by one who learned from labels."""
    n_classes = labels.votes.shape[1]
    if isinstance(learned, str):
        made = by_labels_alone(labels) if learned == "fusion" else labels.votes
        return near.guess(made if learned == "labels" else np.eye(n_classes)[made.argmax(1)])
    prior = as_shares(labels.votes.sum(0) + 1)
    guess = np.tile(prior, (near.n_cases, 1))
    for _ in range(_STEPS):
        guess = near.guess(labels.posterior(guess, learned))
    return guess
