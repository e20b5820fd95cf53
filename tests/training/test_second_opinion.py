import numpy as np
import pytest

from multirater.training.second_opinion import SecondOpinion

RATERS = ("exact", "elsewhere")


def asked(answer_of, n_cases=8, shape=(40, 40), n_groups=None):
    """Ask about a network; bright squares are the object, which one of two raters draws."""
    random = np.random.default_rng(0)
    opinion = SecondOpinion(RATERS, 2)
    for number in range(n_cases):
        truth = np.zeros(shape, dtype=np.int16)
        start = random.integers(0, shape[0] // 2, len(shape))
        truth[tuple(slice(at, at + shape[0] // 3) for at in start)] = 1
        image = (truth + 0.1 * random.standard_normal(shape))[None]
        away = np.roll(truth, random.integers(5, 15, len(shape)), tuple(range(len(shape))))
        labels = dict(zip(RATERS, (truth, away), strict=True))
        opinion.look(image, labels, answer_of(truth, away), f"p{number % (n_groups or n_cases)}")
    return opinion.finding()


@pytest.mark.parametrize("shape", [(40, 40), (18, 18, 18), (200, 200)])
def test_a_network_that_agrees_with_whom_the_image_bears_out_is_good(shape):
    (found,) = asked(lambda truth, _: truth, shape=shape)
    assert found.level == "good"
    assert found.raters == ("exact",)
    assert found.numbers["network"] == pytest.approx(1, abs=0.01)


def test_a_network_that_follows_another_rater_is_a_problem():
    (found,) = asked(lambda _, away: away)
    assert found.level == "problem"
    assert found.numbers["gap"] < -0.3


def test_a_network_that_draws_nothing_is_a_problem():
    (found,) = asked(lambda truth, _: np.zeros_like(truth))
    assert found.level == "problem"


def test_nothing_is_said_of_a_single_case_or_of_none():
    assert asked(lambda truth, _: truth, n_cases=1) == []
    assert SecondOpinion(RATERS, 2).finding() == []


def test_slices_of_one_patient_are_no_cases_of_their_own():
    assert asked(lambda truth, _: truth, n_groups=1) == []
    assert asked(lambda truth, _: truth, n_groups=4) != []
