import numpy as np
import pytest

from multirater.training.disputed import is_disputed, matrices_where_disputed
from multirater.types import MISSING


def test_missing_labels_dispute_nothing():
    labels = np.array([[MISSING, 1, 0, MISSING], [1, 1, 1, MISSING]])
    assert is_disputed(labels).tolist() == [False, False, True, False]


def study(errors, n=20_000, seed=0):
    """Raters with errors of their own, and an image that is right at four of five pixels."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, n)
    labels = np.stack([np.where(random.random(n) < e, 1 - truth, truth) for e in errors])
    image = np.where(random.random(n) < 0.2, 1 - truth, truth)
    return truth, labels, 0.6 * np.eye(2)[image] + 0.2


def test_a_rater_who_was_followed_is_not_taken_for_perfect():
    errors = [0.1, 0.1, 0.3]
    truth, labels, prior = study(errors)
    found = matrices_where_disputed(prior, labels, labels[0])
    chosen = is_disputed(labels)
    for rater in range(3):
        right = (labels[rater] == truth)[chosen].mean()
        assert np.diagonal(found[rater]).mean() == pytest.approx(right, abs=0.15)


def test_raters_who_never_disagree_are_left_as_they_are():
    truth, _, prior = study([0.1])
    found = matrices_where_disputed(prior, np.stack([truth, truth]), truth)
    assert np.array_equal(found, np.tile(np.eye(2), (2, 1, 1)))
