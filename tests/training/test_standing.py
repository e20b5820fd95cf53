import numpy as np
import pytest

from multirater.training.pixels import Pixels
from multirater.training.standing import shares, standing
from multirater.training.weighing import weigh
from multirater.types import MISSING

NOTHING_SAID = np.zeros((1, 4))


def drawn_by(*ends, n=1000):
    """Drawings of an object that is a fifth of the pixels, from its core outwards."""
    return np.stack([np.arange(n) < end for end in ends]).astype(int)


def pixels_of(drawn, labels=None):
    return Pixels.of_one_case(0.9 * np.eye(2)[drawn] + 0.05, drawn if labels is None else labels)


def test_labels_of_raters_nearly_alike_stand_however_pixels_in_dispute_tell_them_apart():
    drawn = drawn_by(200, 203, 197, 210)
    found = weigh(pixels_of(drawn))
    assert (found.weight / found.weight.max()).min() < 0.2
    assert standing(pixels_of(drawn), found.weight, NOTHING_SAID).min() == 1


def test_labels_of_a_rater_who_draws_another_size_give_way():
    drawn = drawn_by(200, 203, 197, 500)
    found = standing(pixels_of(drawn), np.full(4, 0.25), NOTHING_SAID)
    assert found[3] < 0.1
    assert found[:3].min() == 1


def test_the_evidence_of_the_image_counts():
    drawn = drawn_by(200, 200, 200, 200)
    found = standing(pixels_of(drawn), np.full(4, 0.25), np.log([[1.0, 0.6, 0.4, 0.1]]))
    assert found == pytest.approx([1, 1, 0.64, 0.1])


def test_a_rater_without_labels_is_taken_for_one_of_the_others():
    drawn = drawn_by(200, 600, 200)
    labels = drawn.copy()
    labels[2] = MISSING
    found = standing(pixels_of(drawn, labels), np.full(3, 1 / 3), np.zeros((1, 3)))
    assert found[1] < found[2] < found[0]


def test_shares_are_even_where_draws_take_turns():
    assert shares(np.array([[9.0, 0.0], [0.0, 9.0]])) == pytest.approx([0.5, 0.5])
