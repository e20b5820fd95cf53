"""How often each rater of class labels is right, told by their labels and by a network's guesses.

One unknown truth per case, seen by its raters and by one more witness who has not seen the case's
labels: cases that look like it, or a network. Everything here is expectation maximisation over that
model, on arrays; who the witness is, and what is done with the matrices, is in
`multirater.training.class_auto`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from multirater.training.class_answers import ClassAnswers
from multirater.training.near_cases import NearCases

Shares: TypeAlias = NDArray[np.float64]
"""Probabilities: of classes (n_cases, L), or of labels (n_raters, true, observed)."""

_STRENGTHS = 2.0 ** np.arange(8)
"""Labels that what is expected of a row of a matrix may be worth, 1 to 128."""

_BELIEFS = np.array([1.0, 2, 3, 5, 8, 12, 20, 30])
"""Labels that a guess of the network may be worth."""

_FIRST_BELIEF = 5.0
_TYPICAL = 0.5
"""Share of the cases of a class that show, at first, what the network says of it: the surest."""

_ALONE_STEPS, _ROUNDS, _STEPS, _LAST_STEPS = 30, 3, 10, 20
_NEAR_ROUNDS, _NEAR_STEPS = 3, 4
_LEAST = 1e-4
"""No label is expected less often than that, whatever is true."""


@dataclass(frozen=True, eq=False)
class Judgement:
    """What labels and guesses say together.

    Attributes:
        matrices: (n_raters, true, observed).
        truth: class probabilities by labels and guesses, (n_cases, L).
        guess: class probabilities by the network's guess alone, (n_cases, L).
    """

    matrices: Shares
    truth: Shares
    guess: Shares


def judge_raters(answers: ClassAnswers, guesses: Shares, n_raters: int) -> Judgement:
    """Estimate the raters' matrices, and the truth.

    Args:
        answers: labels of n cases, at least one of each case.
        guesses: of a network that learned to foresee labels from other cases, (n_cases, L).
        n_raters: of the data set.
    """
    labels = ClassLabels(answers, n_raters, *guesses.shape)
    witness = _Witness.at_first(guesses, labels.votes.mean(0))
    truth = witness.said(guesses)
    several = labels.per_case > 1
    if several.any():
        truth[several] = by_labels_alone(labels)[several]
        witness = _Witness.seen(guesses, truth, witness.belief)
    guess = witness.said(guesses)
    matrices = expected_matrices(labels.counts(truth))
    for _ in range(_ROUNDS):
        truth, matrices = _maximised(labels, guess, matrices, _STEPS)
        guess = _Witness.believed(guesses, truth).said(guesses)
    guess = guess @ in_doubt(matrices[labels.per_rater > 0])
    truth, matrices = _maximised(labels, guess, matrices, _LAST_STEPS)
    return Judgement(matrices, truth, guess)


def judge_by_looks(
    answers: ClassAnswers, near: NearCases, n_raters: int, n_classes: int
) -> Judgement:
    """Estimate the raters' matrices, and the truth, with cases that look alike for a witness.

    What the witness is taught gets better with every round: first the labels as they are, then what
    labels and its own guesses at the other cases tell together.

    Args:
        answers: labels of n cases, at least one of each case.
        near: compares the cases.
        n_raters: of the data set.
        n_classes: of the data set.
    """
    labels = ClassLabels(answers, n_raters, near.n_cases, n_classes)
    first = judge_raters(answers, near.guess(labels.votes), n_raters)
    guess, matrices = first.guess, first.matrices
    for _ in range(_NEAR_ROUNDS):
        for _ in range(_NEAR_STEPS):
            guess = near.guess(labels.posterior(guess, matrices))
        matrices = expected_matrices(labels.counts(labels.posterior(guess, matrices)))
    return judge_raters(answers, guess, n_raters)


def in_doubt(matrices: Shares) -> Shares:
    """Return how often the network is taken to be wrong, (guessed, true).

    An error that every rater makes alike, and be it as rare as with the best of them, may as well
    be the network's: it is. What some rater never does is the others' own.

    Args:
        matrices: of raters with labels.
    """
    common = matrices.min(0)
    np.fill_diagonal(common, 0.0)
    return np.asarray(common + np.diag(1 - common.sum(1)))


def expected_matrices(counts: Shares) -> Shares:
    """Return matrices from few labels: every row leans on what is expected of it.

    Expected is a rater's overall skill, more or less by how hard the class is for all, with errors
    spread as those of all. How much that is worth follows from how well it foretells the labels:
    for each row the average over strengths, by their evidence in this row and in all.

    Args:
        counts: labels (n_raters, true, observed).

    Example:
        >>> counts = np.array([[[9.0, 1.0], [1.0, 9.0]], [[0.0, 0.0], [0.0, 1.0]]])
        >>> expected_matrices(counts).diagonal(axis1=1, axis2=2).round(1).tolist()
        [[0.9, 0.9], [0.9, 0.9]]
    """
    expected = _expected_rows(counts)
    n_labels = counts.sum(2)
    evidence = np.stack(
        [
            gammaln(m) - gammaln(m + n_labels) + _gained(counts, m * expected).sum(2)
            for m in _STRENGTHS
        ],
        axis=-1,
    )
    likely = np.exp(evidence - evidence.max(-1, keepdims=True))
    prior = np.ones(len(_STRENGTHS))
    for _ in range(5):
        weight = as_shares(prior * likely)
        prior = weight.mean((0, 1)) + 1e-6
    found = np.zeros_like(counts)
    for place, m in enumerate(_STRENGTHS):
        row = (counts + m * expected) / (n_labels + m)[:, :, None]
        found += weight[:, :, place, None] * row
    return found


def _gained(counts: Shares, expected: Shares) -> Shares:
    """Return the log of Γ(expected + counts) / Γ(expected), 0 where nothing was counted."""
    found = np.zeros_like(counts)
    some = counts > 0
    found[some] = gammaln(expected[some] + counts[some]) - gammaln(expected[some])
    return found


def _expected_rows(counts: Shares) -> Shares:
    """Return what is expected of each row of each matrix before its own labels are looked at."""
    everyone, n_classes = counts.sum(0), counts.shape[1]
    right = np.trace(everyone) / max(everyone.sum(), 1e-9)
    by_rater = (np.trace(counts, axis1=1, axis2=2) + 4 * right) / (counts.sum((1, 2)) + 4)
    by_class = (np.diag(everyone) + 4 * right) / (everyone.sum(1) + 4)
    skill = _odds(by_rater)[:, None] * _odds(by_class) / _odds(np.array(right))
    skill = np.clip(skill / (1 + skill), 0.01, 0.995)[:, :, None]
    is_right = np.eye(n_classes, dtype=bool)
    a_few = max(0.05 * everyone.sum() / n_classes, 1.0) / max(n_classes - 1, 1)
    errors = as_shares(np.where(is_right, 0.0, everyone + a_few))
    return as_shares(np.maximum(np.where(is_right, skill, (1 - skill) * errors), _LEAST))


def _odds(share: Shares) -> Shares:
    share = np.clip(share, 0.01, 0.99)
    return np.asarray(share / (1 - share))


class ClassLabels:
    """Labels, ready for the two steps of expectation maximisation.

    Args:
        answers: the labels.
        n_raters: of the data set.
        n_cases: with labels.
        n_classes: of the data set.

    Attributes:
        per_case: how many labels each case has.
        per_rater: how many each rater gave.
        votes: shares of the labels of each case, (n_cases, L).
    """

    def __init__(self, answers: ClassAnswers, n_raters: int, n_cases: int, n_classes: int) -> None:
        self.answers = answers
        self.shape = (n_raters, n_classes, n_classes)
        self.per_case = np.bincount(answers.case, minlength=n_cases)
        self.per_rater = np.bincount(answers.rater, minlength=n_raters)
        said = np.zeros((n_cases, n_classes))
        np.add.at(said, (answers.case, answers.label), 1.0)
        self.votes = as_shares(said)

    def counts(self, truth: Shares) -> Shares:
        """Count labels (n_raters, true, observed) by class probabilities (n_cases, L)."""
        found = np.zeros(self.shape)
        cell = (self.answers.rater, self.answers.label)
        np.add.at(found.swapaxes(1, 2), cell, truth[self.answers.case])
        return found

    def posterior(self, prior: Shares, matrices: Shares) -> Shares:
        """Combine prior (n_cases or 1, L) and labels into class probabilities (n_cases, L)."""
        log_joint = np.zeros(self.votes.shape) + np.log(np.maximum(prior, 1e-30))
        columns = np.log(matrices).swapaxes(1, 2)[self.answers.rater, self.answers.label]
        np.add.at(log_joint, self.answers.case, columns)
        return as_shares(np.exp(log_joint - log_joint.max(1, keepdims=True)))


def by_labels_alone(labels: ClassLabels) -> Shares:
    """Return class probabilities without the network: Dawid and Skene's, from the vote on."""
    truth = labels.votes
    for _ in range(_ALONE_STEPS):
        matrices = expected_matrices(labels.counts(truth))
        truth = labels.posterior(as_shares(truth.sum(0) + 1)[None], matrices)
    return truth


def _maximised(
    labels: ClassLabels, guess: Shares, matrices: Shares, steps: int
) -> tuple[Shares, Shares]:
    """Take some steps of expectation maximisation, with the network's guess as it is."""
    for _ in range(steps):
        truth = labels.posterior(guess, matrices)
        matrices = expected_matrices(labels.counts(truth))
    return labels.posterior(guess, matrices), matrices


@dataclass(frozen=True, eq=False)
class _Witness:
    """What a guess of the network says of the truth.

    It learned to foresee labels, errors included: what it guesses is not the truth, but differs
    with it. The guess counts as so many labels, spread as the guess is, of a rater of their own.

    Attributes:
        typical: what it guesses of each class, (true, L).
        prior: of the classes, (L,).
        belief: labels that a guess is worth.
    """

    typical: Shares
    prior: Shares
    belief: float

    @classmethod
    def at_first(cls, guesses: Shares, share: Shares) -> _Witness:
        """Look at the cases that are guessed to be of a class most surely.

        Not at those where the class comes first: one that most raters call by another name never
        does.
        """
        rows = []
        for name, part in enumerate(share):
            n_cases = max(3, int(_TYPICAL * part * len(guesses)))
            surest = np.argsort(-guesses[:, name], kind="stable")[:n_cases]
            rows.append(guesses[surest].mean(0))
        return cls(as_shares(np.stack(rows) + _LEAST), as_shares(share + _LEAST), _FIRST_BELIEF)

    @classmethod
    def seen(cls, guesses: Shares, truth: Shares, belief: float) -> _Witness:
        """Look at all cases, by their class probabilities (n_cases, L)."""
        typical = as_shares(truth.T @ guesses + 1e-3)
        return cls(typical, as_shares(truth.sum(0) + 1), belief)

    @classmethod
    def believed(cls, guesses: Shares, truth: Shares) -> _Witness:
        """Look at all cases, and believe guesses as far as they tell the class probabilities."""
        each = [cls.seen(guesses, truth, belief) for belief in _BELIEFS]
        fit = [(truth * np.log(np.maximum(one.said(guesses), 1e-12))).sum() for one in each]
        return each[int(np.argmax(fit))]

    def said(self, guesses: Shares) -> Shares:
        """Return class probabilities (n_cases, L)."""
        log_joint = np.log(self.prior) + self.belief * (guesses @ np.log(self.typical).T)
        return as_shares(np.exp(log_joint - log_joint.max(1, keepdims=True)))


def as_shares(values: Shares) -> Shares:
    """Divide by sums over the last axis."""
    return np.asarray(values / np.maximum(values.sum(-1, keepdims=True), 1e-300))
