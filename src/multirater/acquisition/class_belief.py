"""What is known of a study of class labels, few of them included.

Dawid and Skene's model with two changes, without which it fails where cases have one answer or two:
the matrix of a rater is held to the one-coin model, in which one number says how often they are
right, and labels beside which few others spoke say little or nothing about who gave them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from multirater.acquisition.belief import Array, Belief, RaterBelief
from multirater.fuse.answers import Answers
from multirater.fuse.em import Fit, Stopping, run_em
from multirater.fuse.one_coin import one_coin_cm
from multirater.types import MISSING

_LEAST = 1e-12

SKILL = 0.7
"""How often a rater of whom nothing is known is taken to be right."""

_SKILL_LABELS = 20.0
"""Labels that this belief is worth."""

_ROW_LABELS = 5.0
"""Labels of each class that a rater's one-coin matrix is worth beside their own counts."""

_ONE_OTHER = 0.25
"""How much of a label beside a single other one counts."""

_STOPPING = Stopping(100, 1e-5)


@dataclass(frozen=True)
class _Skills:
    """The one-coin model with a belief about skill."""

    skill: float

    def start(self, counts: Array) -> Array:
        """Take the share of agreement with the vote."""
        right = np.trace(counts, axis1=1, axis2=2) + _SKILL_LABELS * self.skill
        return one_coin_cm(right / (counts.sum((1, 2)) + _SKILL_LABELS), counts.shape[2])

    def maximise(self, counts: Array, cm: Array) -> Array:
        """Set each rater's skill to the expected share of right answers."""
        return self.start(counts)

    def log_prior(self, cm: Array) -> float:
        """Log density of a Beta prior on each skill."""
        right = np.clip(cm[:, 0, 0], _LEAST, 1 - _LEAST)
        logs = self.skill * np.log(right) + (1 - self.skill) * np.log(1 - right)
        return float(_SKILL_LABELS * logs.sum())


@dataclass(frozen=True, eq=False)
class _HeldBack:
    """Free matrices whose prior, (n_raters, true, observed) in labels, is each rater's own."""

    prior: Array

    def start(self, counts: Array) -> Array:
        """Normalise rows."""
        raised = counts + self.prior
        return np.asarray(raised / raised.sum(2, keepdims=True))

    def maximise(self, counts: Array, cm: Array) -> Array:
        """Normalise rows."""
        return self.start(counts)

    def log_prior(self, cm: Array) -> float:
        """Log density of a Dirichlet prior on each row."""
        return float((self.prior * np.log(np.maximum(cm, 1e-300))).sum())


def belief_of_classes(answers: Answers) -> Belief:
    """Return what class labels say of cases and raters.

    Args:
        answers: one row per case, those without answer included; with `row_prior`, what a network
            says of each case before any answer.
    """
    fit = fit_classes(answers)
    n_cases = len(answers)
    given = np.zeros((n_cases, answers.n_raters), dtype=bool)
    row = np.repeat(np.arange(n_cases), np.diff(answers.matrix.indptr))
    given[row, answers.matrix.indices // answers.n_classes] = True
    skill = np.einsum("t,rtt->r", fit.posterior.mean(0), fit.cm)
    noise = np.sqrt(skill * (1 - skill))
    raters = RaterBelief(fit.cm, _known(answers, fit), skill, noise)
    return Belief(fit.posterior, np.ones(n_cases), np.arange(n_cases + 1), given, raters)


def fit_classes(answers: Answers) -> Fit:
    """Fit skills, then matrices that are held to them; see the module."""
    told = replace(answers, weight=_telling(answers, np.diff(answers.matrix.indptr)))
    # Estimated from the few cases with several answers it could run off to a single class.
    settings: _Settings = {
        "prior": _smoothed(answers),
        "estimate_prior": False,
        "stopping": _STOPPING,
    }
    skills = run_em(told, _Skills(SKILL), **settings)
    return run_em(told, _HeldBack(_ROW_LABELS * skills.cm), start=skills.cm, **settings)


class _Settings(TypedDict):
    prior: Array
    estimate_prior: bool
    stopping: Stopping


def _smoothed(answers: Answers) -> Array:
    """Return the share of each class among all answers, as if each had one more."""
    total = answers.matrix.sum()
    frequency = answers.class_frequency()
    return np.asarray((frequency * total + 1) / (total + answers.n_classes))


def _telling(answers: Answers, n_said: NDArray[Any]) -> Array:
    """Return how much the labels of each case tell about raters, (n_cases,).

    A label alone tells nothing, and beside a single other one hardly who of the two is right:
    whoever labels most would seem to be.
    """
    if answers.row_prior is not None:
        n_said = n_said + 1  # a network speaks, too
    found = np.choose(np.minimum(n_said, 3), (0.0, 0.0, _ONE_OTHER, 1.0))
    if answers.gold is not None:
        found = np.where(answers.gold != MISSING, 1.0, found)
    return np.asarray(found)


def chances_by_others(
    answers: Answers, fit: Fit
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], Array]:
    """Return what everybody else makes of the case of each answer.

    Args:
        answers: what the raters said.
        fit: made of them.

    Returns:
        Of each answer the row, the rater, the class said, and the class probabilities without it,
        (n_answers, n_classes).
    """
    row = np.repeat(np.arange(len(answers)), np.diff(answers.matrix.indptr))
    rater, said = np.divmod(answers.matrix.indices.astype(np.intp), answers.n_classes)
    others = np.log(np.maximum(fit.posterior, _LEAST**3))[row]
    others -= np.log(np.maximum(fit.cm, _LEAST))[rater, :, said]
    others = np.exp(others - others.max(1, keepdims=True))
    return row, rater, said, others / others.sum(1, keepdims=True)


def _known(answers: Answers, fit: Fit) -> Array:
    """Count the labels that tell about each rater: each by how sure the others are of its case."""
    n_classes, n_said = answers.n_classes, np.diff(answers.matrix.indptr)
    row, rater, _, chances = chances_by_others(answers, fit)
    highest = chances.max(1)
    sure = (highest - 1 / n_classes) / (1 - 1 / n_classes)
    if answers.gold is not None:
        sure = np.where(answers.gold[row] != MISSING, 1.0, sure)
    sure *= _telling(answers, n_said)[row]
    return np.bincount(rater, sure, minlength=answers.n_raters).astype(float)
