"""The energy distance between two sets of label maps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from multirater.errors import InputError
from multirater.metrics import dice_score, energy_distance, iou_score

A, B, C = [1, 1, 0, 0], [1, 0, 0, 0], [0, 1, 1, 0]


def sample_sets(lowest=0, highest=2):
    return st.integers(1, 6).flatmap(
        lambda n: arrays(np.int16, (n, 3, 4), elements=st.integers(lowest, highest))
    )


@pytest.mark.parametrize(("distance", "expected"), [("dice", 4 / 3), ("iou", 17 / 12)])
def test_by_hand(distance, expected):
    # Dice: 2(1/2 + 1)/2 - 2(1/3)/4. IoU: 2(2/3 + 1)/2 - 2(1/2)/4.
    assert energy_distance([A, B], [C], distance=distance) == pytest.approx(expected)


@settings(deadline=None)
@given(sample_sets(), st.randoms(), st.sampled_from(["dice", "iou"]))
def test_identical_sets_give_exactly_zero_in_any_order(samples, random, distance):
    order = list(range(len(samples)))
    random.shuffle(order)
    assert energy_distance(samples, samples[order], distance=distance) == 0.0


@settings(deadline=None)
@given(sample_sets(), sample_sets(), st.sampled_from([("dice", dice_score), ("iou", iou_score)]))
def test_is_the_definition(a, b, named_score):
    distance, score = named_score

    def mean(first, second):
        return np.mean([[1 - score(x, y) for y in second] for x in first])

    expected = 2 * mean(a, b) - mean(a, a) - mean(b, b)
    assert energy_distance(a, b, distance=distance) == pytest.approx(expected, abs=1e-12)


@settings(deadline=None)
@given(sample_sets(highest=1), sample_sets(highest=1), st.sampled_from(["dice", "iou"]))
def test_binary_masks_are_never_closer_than_zero(a, b, distance):
    assert energy_distance(a, b, distance=distance) >= -1e-12


def test_disjoint_sets_are_two_apart():
    assert energy_distance([[1, 0]] * 3, [[0, 1]] * 2) == 2.0


def test_a_rater_who_labelled_nothing_does_not_count():
    assert energy_distance([A, B, [-1] * 4], [C]) == energy_distance([A, B], [C])


def test_nothing_to_compare_is_nan():
    assert np.isnan(energy_distance([[-1, -1]], [[0, 1]]))


def test_refuses_samples_of_different_size():
    with pytest.raises(InputError, match="same shape"):
        energy_distance([A], [[0, 1]])


def test_refuses_an_unknown_distance():
    with pytest.raises(InputError, match="'dice' or 'iou'"):
        energy_distance([A], [B], distance="jaccard")
