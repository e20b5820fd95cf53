"""One expectation-maximisation driver for every method that models raters by confusion matrices.

The methods differ in one step only: how expected counts `counts[rater, true, observed]` become
confusion matrices. A method brings that step as a `ConfusionModel`; the expectation step, which is
the same for all, is in `expectation.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.fuse.answers import Answers
from multirater.fuse.expectation import expected_counts, posterior_of, vote_counts, vote_fractions

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

    def __post_init__(self) -> None:
        if self.max_iter < 0:
            raise InputError(Fault(f"max_iter {self.max_iter}", expected="0 steps or more"))
        if np.isnan(self.tol):
            raise InputError(Fault(f"tol {self.tol}", expected="a number"))


def require_pseudo_count(dirichlet: float) -> None:
    """Refuse what cannot be added to counts: less than nothing, or not a number."""
    if not 0 <= dirichlet < np.inf:
        raise InputError(Fault(f"dirichlet {dirichlet}", expected="a number of items, 0 or more"))


class AnswerSource(Protocol):
    """Answers that EM goes over, wherever they are kept."""

    def vote(self, prior: Array) -> tuple[Array, Array]:
        """Count as if the soft majority vote were the truth: counts and class mass."""

    def expect(self, cm: Array, prior: Array) -> tuple[Array, Array, float]:
        """Return expected counts, class mass and log-likelihood."""


@dataclass(frozen=True, eq=False)
class RaterFit:
    """What EM found of raters and classes.

    Attributes:
        cm: see `Fit`, as the next three.
        counts: see `Fit`.
        prior: see `Fit`.
        log_likelihood: see `Fit`.
        converged: see `Fit`.
        last: matrices and prior by which the last step looked at the answers; the posterior is
            theirs. None when there was no step.
    """

    cm: Array
    counts: Array
    prior: Array
    log_likelihood: Array
    converged: bool
    last: tuple[Array, Array] | None


def estimate(
    evidence: AnswerSource,
    model: ConfusionModel,
    *,
    prior: Array,
    estimate_prior: bool,
    stopping: Stopping,
    start: Array | None = None,
) -> RaterFit:
    """Alternate between the truth given the raters and the raters given the truth.

    Args:
        evidence: what the raters said.
        model: the method's maximisation step.
        prior: (n_classes,), class probabilities to start from.
        estimate_prior: whether the prior is re-estimated in every step.
        stopping: when to end.
        start: (n_raters, n_classes, n_classes), matrices to start from, instead of those that
            follow from a soft majority vote.
    """
    counts, mass = evidence.vote(prior)
    cm = model.start(counts) if start is None else start
    if estimate_prior and start is None:
        prior = _share(mass, prior)
    trace: list[float] = []
    converged, last = False, None
    for _ in range(stopping.max_iter):
        last = (cm, prior)
        counts, mass, log_likelihood = evidence.expect(cm, prior)
        trace.append(log_likelihood + model.log_prior(cm))
        cm = model.maximise(counts, cm)
        if estimate_prior:
            prior = _share(mass, prior)
        converged = _settled(trace, stopping)
        if converged:
            break
    return RaterFit(cm, counts, prior, np.array(trace), converged, last)


@dataclass(frozen=True)
class _AtHand:
    """Answers in memory."""

    answers: Answers

    def vote(self, prior: Array) -> tuple[Array, Array]:
        return vote_counts(self.answers, prior)

    def expect(self, cm: Array, prior: Array) -> tuple[Array, Array, float]:
        return expected_counts(self.answers, cm, prior)


def run_em(
    answers: Answers,
    model: ConfusionModel,
    *,
    prior: Array,
    estimate_prior: bool,
    stopping: Stopping,
    start: Array | None = None,
) -> Fit:
    """Run EM over answers in memory; the arguments are those of `estimate`."""
    found = estimate(
        _AtHand(answers),
        model,
        prior=prior,
        estimate_prior=estimate_prior,
        stopping=stopping,
        start=start,
    )
    if found.last is None:
        posterior = vote_fractions(answers, found.prior)
    else:
        posterior = posterior_of(answers, *found.last)
    return Fit(
        found.cm, found.counts, found.prior, posterior, found.log_likelihood, found.converged
    )


def confusion_of(counts: Array) -> Array:
    """Divide counts (..., true, observed) by their row sums; a row without counts is uniform."""
    total = counts.sum(-1, keepdims=True)
    cm = np.full(counts.shape, 1 / counts.shape[-1])
    np.divide(counts, total, out=cm, where=total > 0)
    return cm


def _settled(trace: list[float], stopping: Stopping) -> bool:
    """Whether the last step hardly helped; unanimous raters may have a log-likelihood of zero."""
    if len(trace) < 2:
        return False
    return trace[-1] - trace[-2] <= stopping.tol * max(abs(trace[-1]), 1.0)


def _share(mass: Array, otherwise: Array) -> Array:
    """Scale class masses to sum to one; without any item that counts, keep what was believed."""
    total = mass.sum()
    return mass / total if total > 0 else otherwise
