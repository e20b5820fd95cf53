"""Theorem 1 of Zhang 2020, per pixel, checked by a solver that shares nothing with the package.

At one pixel of true class k the world is p = e_k, and each rater r draws with probabilities a[r],
the row k of their matrix; of the other rows nothing can be known, they are taken to be uniform. A
model explains that exactly by an estimate p' of the truth and matrices cm'[r], p' @ cm'[r] = a[r].
For a given p' the explanation of the smallest mean trace is a linear programme.

The theorem asks that the mean estimated matrix exceed, on its diagonal, all that is said of other
classes: cm'[i, i] > cm'[j, i]. Its proof needs more, that no diagonal entry is below 1 / L; with
that it holds, and without it does not, as the last test shows.
"""

import numpy as np
import pytest
from scipy.optimize import linprog

STRICTLY = 1e-3


def least_trace(drawn, truth, *, at_least):
    """Return the least mean trace that explains `drawn` (R, L) by `truth` (L,), and the matrices.

    None where nothing explains it.
    """
    n_raters, n_classes = drawn.shape
    shape = (n_raters, n_classes, n_classes)

    def row(*entries):
        """Coefficients of the given entries (value, rater, true, drawn)."""
        made = np.zeros(shape)
        for value, *place in entries:
            made[tuple(place)] += value
        return made.ravel()

    raters, classes = range(n_raters), range(n_classes)
    equal = [row(*((1.0, r, t, o) for o in classes)) for r in raters for t in classes]
    wanted = [1.0] * len(equal)
    for r in raters:
        for o in classes:
            equal.append(row(*((truth[t], r, t, o) for t in classes)))
            wanted.append(drawn[r, o])
    below, limit = [], []
    for i in classes:
        for j in classes:
            if i != j:
                below.append(row(*((1.0 / n_raters, r, j, i) for r in raters)))
                below[-1] -= row(*((1.0 / n_raters, r, i, i) for r in raters))
                limit.append(-STRICTLY)
        below.append(row(*((-1.0 / n_raters, r, i, i) for r in raters)))
        limit.append(-at_least)
    trace = row(*((1.0 / n_raters, r, i, i) for r in raters for i in classes))
    found = linprog(trace, below, limit, equal, wanted, bounds=(0, 1))
    return (found.fun, found.x.reshape(shape)) if found.success else None


def guesses(n_classes, k):
    """Estimates of the truth: the true one first, then from near it to far off."""
    right = np.eye(n_classes)[k]
    others = [np.eye(n_classes)[j] for j in range(n_classes) if j != k] + [
        np.ones(n_classes) / n_classes
    ]
    return [
        right,
        *((1 - share) * right + share * each for each in others for share in (0.05, 0.3, 0.8, 1)),
    ]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n_raters", "n_classes"), [(1, 2), (3, 2), (3, 3)])
def test_the_smallest_trace_at_a_pixel_is_that_of_the_truth(seed, n_raters, n_classes):
    random = np.random.default_rng(seed)
    k = int(random.integers(n_classes))
    drawn = random.dirichlet(np.ones(n_classes), n_raters)
    drawn = 0.4 * drawn + 0.6 * np.eye(n_classes)[k]  # most often right, on average
    ends = [least_trace(drawn, each, at_least=1 / n_classes) for each in guesses(n_classes, k)]
    smallest, matrices = ends[0]
    assert smallest == pytest.approx((n_classes - 1) / n_classes + drawn[:, k].mean(), abs=0.01)
    np.testing.assert_allclose(matrices[:, k], drawn, atol=1e-6)
    assert all(each[0] > smallest for each in ends[1:] if each is not None)


def test_dominance_alone_does_not_decide():
    """A model that knows nothing of the pixel explains it with a smaller trace than the truth."""
    drawn, k = np.array([[0.3, 0.7]]), 1
    trace_of_truth = 0.5 + drawn[0, k]
    right, unknowing = (least_trace(drawn, np.array(p), at_least=0.0) for p in ([0, 1], [0.5, 0.5]))
    assert unknowing[0] < trace_of_truth - 0.1
    assert unknowing[0] == pytest.approx(right[0], abs=0.01)
