from dataclasses import replace

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.training.pixels import Pixels
from multirater.training.witness import (
    Statement,
    _require_numbers,
    by_features,
    by_filters,
    log_evidence,
)

N, N_CASES = 6000, 10


def shown(values, labels):
    """Pixels of several cases at which filters and features show some values."""
    made = Pixels.of_one_case(np.full((1, len(labels), 2), 0.5), labels[None])
    seen = values[:, None].astype(np.float32)
    case = np.arange(len(labels)) % N_CASES
    return replace(made, case=case, filters=seen, features=seen)


def filtered(pixels, target):
    return by_filters(pixels.filters, pixels.case, target, 2)


def noisy_labels(share, seed=0):
    """Labels that follow from what is shown, but for a share that is turned round."""
    random = np.random.default_rng(seed)
    values = random.random(N)
    labels = (values > 0.5).astype(np.int64)
    return values, np.where(random.random(N) < share, 1 - labels, labels)


def expected(share):
    entropy = -(share * np.log(share) + (1 - share) * np.log(1 - share))
    return 1 - entropy / np.log(2)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_filters_explain_what_known_noise_leaves(share):
    values, labels = noisy_labels(share)
    found, entropy = filtered(shown(values, labels), labels).explained()
    assert found[0] == pytest.approx(expected(share), abs=0.06)
    assert entropy[0] == pytest.approx(np.log(2), abs=0.01)


def test_features_explain_held_out_cases():
    (values, labels), (others, target) = noisy_labels(0.02, 1), noisy_labels(0.02, 2)
    found = by_features(shown(values, labels), shown(others, target), labels, target)
    assert found.explained()[0][0] > 0.7
    by_chance = by_features(shown(values, labels), shown(others, target), labels, target[::-1])
    assert by_chance.explained()[0][0] == 0


def test_labels_of_one_class_are_explained_by_nothing():
    values, labels = noisy_labels(0.1)
    found, _ = filtered(shown(values, labels), np.zeros_like(labels)).explained()
    assert found[0] == 0


def test_one_case_teaches_nothing_of_another():
    values, labels = noisy_labels(0.1)
    alone = replace(shown(values, labels), case=np.zeros(N, dtype=np.int64))
    assert filtered(alone, labels) is None


def test_a_case_that_counts_twice_is_as_good_as_two():
    random = np.random.default_rng(0)
    case = np.repeat([0, 1], 50)
    guess = np.zeros(100, dtype=int)
    once = Statement(random.random(100), guess, random.integers(0, 2, 100), case, 2)
    twice = Statement(
        np.concatenate([once.surprise, once.surprise[case == 1]]),
        np.zeros(150, dtype=int),
        np.concatenate([once.target, once.target[case == 1]]),
        np.concatenate([case, np.full(50, 2)]),
        2,
    )
    assert once.explained(np.array([[1, 2]]))[0] == pytest.approx(twice.explained()[0])


def test_of_drawings_explained_alike_the_smaller_has_more_evidence():
    small, large = log_evidence(np.array([0.8, 0.8]), np.array([0.1, 0.4]))
    assert small > large


def test_features_that_are_no_numbers_are_told_of():
    with pytest.raises(InputError, match="not a number any more"):
        _require_numbers(np.zeros((3, 2)), np.array([[0.0, np.nan]]))
