"""From a posed problem to a result: what all fusion methods share around their own step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multirater.errors import Fault, InputError
from multirater.fuse.answers import Answers
from multirater.fuse.em import ConfusionModel, Fit, Stopping, confusion_of, run_em
from multirater.fuse.expectation import vote_counts, vote_fractions
from multirater.fuse.identifiability import assess
from multirater.fuse.problem import Inputs, LabelInput, Problem, pose
from multirater.fuse.result import FusionResult
from multirater.types import MISSING

Prior: TypeAlias = Literal["frequency", "estimated"] | float | ArrayLike
"""Class probabilities before any answer: how often raters use the class, the same re-estimated in
every step, the probability of the foreground, or given probabilities, (n_classes,) or as a map
(n_classes, *space)."""

_TIE = 1e-12


def fuse_by_em(
    method: str,
    labels: LabelInput,
    n_classes: int | None,
    inputs: Inputs,
    *,
    model: ConfusionModel,
    prior: Prior,
    stopping: Stopping,
    start: FusionResult | None = None,
    adjust: Callable[[Answers], Answers] | None = None,
) -> FusionResult:
    """Run EM on labels and put the result into the shape of the input.

    Args:
        method: name for the result.
        labels: see `pose`.
        n_classes: see `pose`.
        inputs: what came with the labels.
        model: the method's own step.
        prior: class probabilities before any answer.
        stopping: when to end.
        start: an earlier result to go on from.
        adjust: changes which answers count.
    """
    prior_map = prior if is_map(prior) else None
    estimated = isinstance(prior, str) and prior == "estimated"
    problem = pose(labels, n_classes, prior_map=prior_map, **inputs)
    if adjust is not None:
        problem = replace(problem, answers=adjust(problem.answers))
    before = class_prior("frequency" if prior_map is not None else prior, problem.answers)
    fit = run_em(
        problem.answers,
        model,
        prior=before if start is None or not estimated else _aligned_prior(start, problem),
        estimate_prior=estimated,
        stopping=stopping,
        start=None if start is None else _aligned_cm(start, problem),
    )
    if isinstance(prior, str) and _is_of_one(problem.answers):
        fit = _as_said(fit, problem.answers)
    return result_of(method, problem, fit)


def _is_of_one(answers: Answers) -> bool:
    """Whether one rater gave all labels, and no gold label speaks for or against them."""
    raters = np.unique(answers.matrix.indices // answers.n_classes)
    return len(raters) == 1 and answers.gold is None


def _as_said(fit: Fit, answers: Answers) -> Fit:
    """Take the labels of the only rater as they are: nothing tells where they are wrong."""
    counts, _ = vote_counts(answers, fit.prior)
    posterior = vote_fractions(answers, fit.prior)
    return replace(fit, cm=confusion_of(counts), counts=counts, posterior=posterior)


def result_of(
    method: str, problem: Problem, fit: Fit, *, weight: NDArray[np.float64] | None = None
) -> FusionResult:
    """Decode rows to the input's shape and add what the labels say about the raters.

    Args:
        method: name for the result.
        problem: what was fused.
        fit: what was found.
        weight: (n_raters,), what votes counted, when it was a vote.
    """
    label, n_ties = row_labels(problem.answers, fit.posterior)
    decoded_label, probability = problem.decode(label, fit.posterior)
    report = assess(
        problem.answers,
        fit.cm,
        fit.counts,
        fit.prior,
        fit.posterior,
        problem.raters,
        problem.classes,
    )
    if not len(fit.log_likelihood):
        # A vote models no rater, so it cannot fall for one.
        report = replace(report, follows=None)
    return FusionResult(
        label=decoded_label,
        probability=probability,
        cm=fit.cm,
        counts=fit.counts,
        prior=fit.prior,
        raters=problem.raters,
        classes=problem.classes,
        log_likelihood=fit.log_likelihood,
        n_iter=len(fit.log_likelihood),
        converged=fit.converged,
        n_ties=n_ties,
        identifiability=report,
        method=method,
        weight=weight,
    )


def row_labels(answers: Answers, posterior: NDArray[np.float64]) -> tuple[NDArray[np.int64], int]:
    """Return the most probable class of each row, and how many items were ties.

    The lower class index wins a tie. A row that nobody labelled gets -1.
    """
    label = posterior.argmax(1)
    known = np.diff(answers.matrix.indptr) > 0
    if answers.gold is not None:
        known |= answers.gold != MISSING
    highest = posterior[np.arange(len(label)), label][:, None]
    tied = ((posterior >= highest - _TIE).sum(1) > 1) & known
    return np.where(known, label, MISSING), int(answers.weight[tied].sum())


class Counted(Protocol):
    """Answers of which it is known how frequent classes are."""

    @property
    def n_classes(self) -> int:
        """Number of classes."""

    def class_frequency(self) -> NDArray[np.float64]:
        """Return the share of each class among all answers."""


def class_prior(prior: Prior, answers: Counted) -> NDArray[np.float64]:
    """Return the class probabilities (n_classes,) that a choice of prior stands for."""
    if isinstance(prior, str):
        if prior not in ("frequency", "estimated"):
            raise InputError(
                Fault(f"prior {prior!r}", expected="'frequency', 'estimated', or probabilities")
            )
        return answers.class_frequency()
    given = np.asarray(prior, dtype=float)
    if given.ndim == 0 and answers.n_classes == 2:
        given = np.array([1 - given, given])
    if given.shape != (answers.n_classes,) or not (given.min() >= 0 and _is_one(given.sum())):
        raise InputError(
            Fault(
                f"prior {given.tolist()}",
                expected=f"{answers.n_classes} probabilities that sum to one"
                + (", or the probability of class 1" if answers.n_classes == 2 else ""),
            )
        )
    if given.max() == 1 and answers.n_classes > 1:
        raise InputError(
            Fault(
                f"prior {given.tolist()}",
                expected="a probability above 0 for two classes or more: "
                "with one alone, every label is that class whatever raters say",
            )
        )
    return given


def _is_one(total: float) -> bool:
    """Whether probabilities sum to one; not a number does not."""
    return abs(total - 1) <= 1e-6


def is_map(prior: Prior) -> bool:
    """Whether the prior differs from pixel to pixel; maps of pooled cases differ in shape."""
    if isinstance(prior, list | tuple):
        return any(np.ndim(each) > 0 for each in prior)
    return np.ndim(prior) >= 2


def _aligned_prior(start: FusionResult, problem: Problem) -> NDArray[np.float64]:
    by_class = dict(zip(start.classes, start.prior, strict=True))
    prior = np.array([by_class.get(name, 0.0) for name in problem.classes]) + 1e-6
    return np.asarray(prior / prior.sum())


def _aligned_cm(start: FusionResult, problem: Problem) -> NDArray[np.float64]:
    """Carry matrices over by name; raters and classes not met before begin as the mean rater."""
    n_classes = len(problem.classes)
    known_class = [name in start.classes for name in problem.classes]
    old = [start.classes.index(name) for name in problem.classes if name in start.classes]
    mean = np.eye(n_classes) * 0.7 + 0.3 / n_classes
    mean[np.ix_(known_class, known_class)] = start.identifiability.mean_cm[np.ix_(old, old)] + 1e-6
    cm = np.repeat(mean[None], len(problem.raters), axis=0)
    positions = {name: position for position, name in enumerate(start.raters)}
    for position, name in enumerate(problem.raters):
        if name in positions:
            block = start.cm[positions[name]][np.ix_(old, old)] + 1e-6
            cm[position][np.ix_(known_class, known_class)] = block
    return np.asarray(cm / cm.sum(2, keepdims=True))
