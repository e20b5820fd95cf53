"""One expectation-maximisation driver for every method that models raters by confusion matrices.

The methods differ in one step only: how expected counts `counts[rater, true, observed]` become
confusion matrices. A method brings that step as a `ConfusionModel`; everything else, in log space,
is here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from multirater.errors import MultiraterWarning
from multirater.fuse.answers import Answers
from multirater.types import MISSING

_TINY = 1e-300
"""Keeps log finite where a probability is exactly zero."""

Array = NDArray[np.float64]


class ConfusionModel(Protocol):
    """How a method turns expected counts into confusion matrices (n_raters, true, observed)."""

    def start(self, counts: Array) -> Array:
        """Return first confusion matrices from the counts of a soft majority vote."""

    def maximise(self, counts: Array, cm: Array) -> Array:
        """Return the confusion matrices that fit the counts best; `cm` are the previous ones."""

    def log_prior(self, cm: Array) -> float:
        """Return the log density of `cm` before any answer, up to a constant."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Where EM stopped.

    Attributes:
        cm: (n_raters, n_classes, n_classes) as [rater, true, observed].
        counts: expected counts behind `cm`, same axes, in items.
        prior: (n_classes,), class probabilities before any answer.
        posterior: (n_rows, n_classes).
        log_likelihood: (n_iter,), before each step; includes the log prior of the matrices, so
            that it never decreases.
        converged: whether the relative change fell below the tolerance.
    """

    cm: Array
    counts: Array
    prior: Array
    posterior: Array
    log_likelihood: Array
    converged: bool


@dataclass(frozen=True)
class Stopping:
    """When EM ends.

    Attributes:
        max_iter: largest number of steps.
        tol: relative change of the log-likelihood at which to stop.
    """

    max_iter: int
    tol: float


def run_em(
    answers: Answers,
    model: ConfusionModel,
    *,
    prior: Array,
    estimate_prior: bool,
    stopping: Stopping,
    start: Array | None = None,
) -> Fit:
    """Alternate between the truth given the raters and the raters given the truth.

    Args:
        answers: what the raters said.
        model: the method's maximisation step.
        prior: (n_classes,), class probabilities to start from.
        estimate_prior: whether the prior is re-estimated in every step.
        stopping: when to end.
        start: (n_raters, n_classes, n_classes), matrices to start from, instead of those that
            follow from a soft majority vote.
    """
    counts, mass = vote_counts(answers, prior)
    cm = model.start(counts) if start is None else start
    if estimate_prior and start is None:
        prior = _share(mass, prior)
    trace: list[float] = []
    converged = False
    for _ in range(stopping.max_iter):
        before = (cm, prior)
        counts, mass, log_likelihood = expected_counts(answers, cm, prior)
        trace.append(log_likelihood + model.log_prior(cm))
        cm = model.maximise(counts, cm)
        if estimate_prior:
            prior = _share(mass, prior)
        converged = len(trace) > 1 and trace[-1] - trace[-2] <= stopping.tol * abs(trace[-1])
        if converged:
            break
    if not converged:
        _warn_not_converged(trace, stopping)
    posterior = posterior_of(answers, *before) if trace else vote_fractions(answers, prior)
    return Fit(cm, counts, prior, posterior, np.array(trace), converged)


def confusion_of(counts: Array) -> Array:
    """Divide counts (..., true, observed) by their row sums; a row without counts is uniform."""
    total = counts.sum(-1, keepdims=True)
    return np.asarray(np.where(total > 0, counts / np.maximum(total, _TINY), 1 / counts.shape[-1]))


def vote_fractions(answers: Answers, prior: Array) -> Array:
    """Return the share of each class among a row's answers; the prior where there is none."""
    fractions = np.empty((len(answers), answers.n_classes))
    for rows, block in answers.blocks():
        fractions[rows] = _block_fractions(answers, rows, block, prior)
    return fractions


def vote_counts(answers: Answers, prior: Array) -> tuple[Array, Array]:
    """Count as if the soft majority vote were the truth: counts and class mass."""
    counts, mass, _ = _accumulate(
        answers, lambda rows, block: (_block_fractions(answers, rows, block, prior), 0.0)
    )
    return counts, mass


def expected_counts(answers: Answers, cm: Array, prior: Array) -> tuple[Array, Array, float]:
    """Expectation step: expected counts, class mass and log-likelihood, block by block."""
    column_log = _column_log(cm)
    return _accumulate(
        answers, lambda rows, block: _block_posterior(answers, rows, block, column_log, prior)
    )


def posterior_counts(answers: Answers, posterior: Array) -> Array:
    """Count answers per rater, true and observed class, for given class probabilities of rows."""
    return _accumulate(answers, lambda rows, block: (posterior[rows], 0.0))[0]


def posterior_of(answers: Answers, cm: Array, prior: Array) -> Array:
    """Return the class probabilities of every row, (n_rows, n_classes)."""
    column_log = _column_log(cm)
    posterior = np.empty((len(answers), answers.n_classes))
    for rows, block in answers.blocks():
        posterior[rows] = _block_posterior(answers, rows, block, column_log, prior)[0]
    return posterior


def _share(mass: Array, otherwise: Array) -> Array:
    """Scale class masses to sum to one; without any item that counts, keep what was believed."""
    total = mass.sum()
    return mass / total if total > 0 else otherwise


def _accumulate(
    answers: Answers,
    posterior_and_log: Callable[[slice, sparse.csr_matrix], tuple[Array, float]],
) -> tuple[Array, Array, float]:
    n_raters, n_classes = answers.n_raters, answers.n_classes
    counts = np.zeros((n_raters * n_classes, n_classes))
    mass = np.zeros(n_classes)
    log_likelihood = 0.0
    for rows, block in answers.blocks():
        posterior, log_of_block = posterior_and_log(rows, block)
        weighted = posterior * answers.weight[rows, None]
        counts += block.T @ weighted
        mass += weighted.sum(0)
        log_likelihood += log_of_block
    by_rater = counts.reshape(n_raters, n_classes, n_classes).transpose(0, 2, 1)
    return np.ascontiguousarray(by_rater), mass, log_likelihood


def _column_log(cm: Array) -> Array:
    """Lay out log cm so that answer (rater, observed) picks its column over true classes."""
    n_classes = cm.shape[1]
    return np.log(np.maximum(cm, _TINY)).transpose(0, 2, 1).reshape(-1, n_classes)


def _block_posterior(
    answers: Answers, rows: slice, block: sparse.csr_matrix, column_log: Array, prior: Array
) -> tuple[Array, float]:
    log_joint = np.asarray(block @ column_log)
    before = prior if answers.row_prior is None else answers.row_prior[rows]
    log_joint += np.log(np.maximum(before, _TINY))
    excluded = before == 0
    if answers.gold is not None:
        known = answers.gold[rows, None]
        other = np.arange(len(prior)) != known
        # A known class stands, even where the prior would exclude it.
        excluded = np.where(known == MISSING, excluded, other)
    if excluded.any():
        log_joint[np.broadcast_to(excluded, log_joint.shape)] = -np.inf
    highest = log_joint.max(1, keepdims=True)
    log_joint -= highest
    np.exp(log_joint, out=log_joint)
    total = log_joint.sum(1, keepdims=True)
    log_joint /= total
    weight = answers.weight[rows]
    return log_joint, float(weight @ (np.log(total[:, 0]) + highest[:, 0]))


def _block_fractions(
    answers: Answers, rows: slice, block: sparse.csr_matrix, prior: Array
) -> Array:
    votes = np.asarray(block @ np.tile(np.eye(answers.n_classes), (answers.n_raters, 1)))
    total = votes.sum(1, keepdims=True)
    fractions = np.where(total > 0, votes / np.maximum(total, 1), prior)
    if answers.gold is not None:
        known = np.flatnonzero(answers.gold[rows] != MISSING)
        fractions[known] = np.eye(answers.n_classes)[answers.gold[rows][known]]
    return fractions


def _warn_not_converged(trace: list[float], stopping: Stopping) -> None:
    change = trace[-1] - trace[-2] if len(trace) > 1 else float("nan")
    warnings.warn(
        f"EM stopped after {len(trace)} iterations before it converged: the log-likelihood still "
        f"changed by {change:.3g} (tolerance {stopping.tol:g} relative); raise max_iter",
        MultiraterWarning,
        stacklevel=3,
    )
