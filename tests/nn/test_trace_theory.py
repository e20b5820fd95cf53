"""Theorem 1 of Tanno 2019, checked by a solver that shares nothing with the package.

The problem is exact: the truth of every item is known to the world but not to the solver, who sees
each rater's label distribution given the item, `A[r]` for items of each true class. Whoever
explains these exactly by a classifier P[true, estimated] and matrices cm[r], P @ cm[r] = A[r], with
a diagonally dominant mean matrix and the smallest trace, has found P = identity and cm = A.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from multirater.simulate import pairwise_flipper_cm

N_STARTS = 6
"""The explanations form no convex set: of several starts the best counts."""


class Explanations:
    """All classifiers and matrices that explain label distributions (R, L, L) exactly."""

    def __init__(self, distributions):
        self.distributions = distributions
        self.n_raters, self.n_classes, _ = distributions.shape
        self.off_diagonal = ~np.eye(self.n_classes, dtype=bool)

    def unpack(self, values):
        """Return P (..., L, L) and cm (..., R, L, L) of flat values."""
        shape = (*values.shape[:-1], self.n_raters + 1, self.n_classes, self.n_classes)
        every = values.reshape(shape)
        return every[..., 0, :, :], every[..., 1:, :, :]

    def misfit(self, values):
        classifier, cm = self.unpack(values)
        explained = (classifier[..., None, :, :] @ cm - self.distributions)[..., :-1]
        sums = values.reshape(*values.shape[:-1], -1, self.n_classes).sum(-1) - 1
        return np.concatenate([explained.reshape(*sums.shape[:-1], -1), sums], axis=-1)

    def dominance(self, values):
        """Of those who say i, most see an i: mean cm[i, i] exceeds mean cm[j, i]."""
        mean = self.unpack(values)[1].mean(-3)
        right = np.diagonal(mean, axis1=-2, axis2=-1)
        return (right[..., None, :] - mean)[..., self.off_diagonal]

    def constraint(self, kind, function):
        def slopes(values):
            # Exact, as no constraint holds the square of a value.
            return (function(values + np.eye(len(values))) - function(values)).T

        return {"type": kind, "fun": function, "jac": slopes}

    def trace(self, values):
        return np.trace(self.unpack(values)[1].mean(0))

    def trace_gradient(self, values):
        eye = np.eye(self.n_classes) / self.n_raters
        return np.concatenate([np.zeros(eye.size), np.tile(eye.ravel(), self.n_raters)])

    def descend(self, seed):
        """Return the trace at the end, and whether that explains the labels."""
        random = np.random.default_rng(seed)
        # As in training: matrices near identity, and a classifier that begins to repeat labels.
        eyes = np.tile(np.eye(self.n_classes), (self.n_raters, 1, 1))
        likely = np.concatenate([self.distributions.mean(0)[None], eyes])
        start = (random.dirichlet(np.ones(self.n_classes), likely.shape[:2]) + 2 * likely) / 3
        found = minimize(
            self.trace,
            start.ravel(),
            jac=self.trace_gradient,
            method="SLSQP",
            bounds=[(0, 1)] * start.size,
            constraints=[
                self.constraint("eq", self.misfit),
                self.constraint("ineq", self.dominance),
            ],
            options={"maxiter": 200, "ftol": 1e-12},
        )
        explains = np.abs(self.misfit(found.x)).max() < 1e-7
        return found.x, explains and self.dominance(found.x).min() > -1e-7

    def of_smallest_trace(self):
        """Return every end that explains the labels, the one of the smallest trace first."""
        ends = [values for values, explains in map(self.descend, range(N_STARTS)) if explains]
        assert ends
        return sorted(ends, key=self.trace)


@st.composite
def raters_with_dominant_mean(draw):
    """Matrices (R, L, L) of which single ones may be worse than chance."""
    n_classes, n_raters = draw(st.integers(2, 3)), draw(st.integers(1, 3))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    cm = random.dirichlet(np.full(n_classes, 0.7), (n_raters, n_classes))
    while margin(cm) < 0.05:
        cm = 0.9 * cm + 0.1 * np.eye(n_classes)
    return cm


def margin(cm):
    """By how much the mean matrix is dominated by its diagonal; negative where it is not."""
    mean = cm.mean(0)
    return (np.diag(mean)[None] - mean)[~np.eye(len(mean), dtype=bool)].min()


@settings(max_examples=25, deadline=None, derandomize=True)
@given(raters_with_dominant_mean())
def test_the_smallest_trace_is_the_truth(cm):
    explanations = Explanations(cm)
    ends = explanations.of_smallest_trace()
    for values in ends:
        assert explanations.trace(values) >= np.trace(cm.mean(0)) - 1e-6
    classifier, found = explanations.unpack(ends[0])
    np.testing.assert_allclose(found, cm, atol=1e-3)
    np.testing.assert_allclose(classifier, np.eye(len(classifier)), atol=1e-3)


@pytest.mark.parametrize("skill", [0.9, 0.7, 0.55])
def test_flippers_are_found_while_most_are_right(skill):
    cm = np.stack([pairwise_flipper_cm(3, skill, seed=seed) for seed in (1, 2)])
    assert margin(cm) > 0
    explanations = Explanations(cm)
    _, found = explanations.unpack(explanations.of_smallest_trace()[0])
    np.testing.assert_allclose(found, cm, atol=1e-3)


@settings(max_examples=10, deadline=None, derandomize=True)
@given(raters_with_dominant_mean(), st.integers(1, 2))
def test_where_most_are_wrong_the_classes_change_names(cm, step):
    """Raters who call a class by another's name are explained, and the names believed."""
    n_classes = cm.shape[1]
    renamed = np.roll(np.arange(n_classes), 1 if n_classes == 2 else step)
    wrong = cm[:, :, renamed]
    assert margin(wrong) < 0
    explanations = Explanations(wrong)
    classifier, found = explanations.unpack(explanations.of_smallest_trace()[0])
    assert np.abs(found - wrong).max() > 0.01
    assert np.diag(classifier).max() < 0.5
    np.testing.assert_allclose(found, wrong[:, renamed], atol=1e-3)
