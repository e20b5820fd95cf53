"""What cases that look alike are called."""

import numpy as np
import pytest

from multirater.training import near_cases
from multirater.training.near_cases import NearCases


def names(n):
    return [str(place) for place in range(n)]


def blobs(n=120, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    return np.eye(3)[truth] * 4 + rng.normal(0, 0.5, (n, 3)), truth


def test_classes_are_foreseen_from_other_cases():
    looks, truth = blobs()
    guess = NearCases(looks, names(len(looks))).guess(np.eye(3)[truth])
    assert (guess.argmax(1) == truth).mean() > 0.97
    assert np.allclose(guess.sum(1), 1)
    assert (guess > 0).all()


def test_the_own_label_has_no_say():
    looks, truth = blobs()
    near = NearCases(looks, names(len(looks)))
    changed = np.eye(3)[truth]
    changed[0] = np.eye(3)[(truth[0] + 1) % 3]
    assert near.guess(changed)[0].argmax() == truth[0]


def test_leaving_one_out_is_what_the_closed_form_says():
    looks, truth = blobs(30)
    part = near_cases._Part(np.arange(30), looks, np.arange(30))
    target = np.eye(3)[truth]
    kernel = part.vectors @ np.diag(part.values) @ part.vectors.T
    rest = np.arange(1, 30)
    centred = target - target.mean(0)
    weight = np.linalg.solve(kernel[np.ix_(rest, rest)] + 0.3 * np.eye(29), centred[rest])
    assert part.foreseen(target, 0.3)[0] == pytest.approx(kernel[0, rest] @ weight + target.mean(0))


def test_cases_of_one_patient_do_not_inform_each_other():
    """Each patient has two pictures that are nearly the same, and a class at random."""
    rng = np.random.default_rng(0)
    looks = np.repeat(rng.normal(size=(80, 20)), 2, axis=0) + rng.normal(0, 0.01, (160, 20))
    truth = np.repeat(rng.integers(0, 2, 80), 2)
    target = np.eye(2)[truth]
    apart = NearCases(looks, names(160)).guess(target)
    together = NearCases(looks, [str(place // 2) for place in range(160)]).guess(target)
    assert (apart.argmax(1) == truth).mean() > 0.95
    assert (together.argmax(1) == truth).mean() < 0.7


def test_many_cases_are_compared_in_parts(monkeypatch):
    monkeypatch.setattr(near_cases, "MOST", 50)
    looks, truth = blobs(170)
    near = NearCases(looks, names(170))
    assert len(near._parts) == 4
    assert (near.guess(np.eye(3)[truth]).argmax(1) == truth).mean() > 0.95
