import numpy as np
import pytest

from multirater.evaluation.soft_scores import SOFT_DICE, WITH_MEAN, shares, soft_scores
from multirater.metrics import soft_dice_score


def test_shares_leave_out_who_did_not_label():
    found = shares([np.array([1, 1, -1]), np.array([0, -1, -1])], 2)
    assert np.allclose(found[1], [0.5, 1.0, np.nan], equal_nan=True)


def test_each_class_is_scored_by_its_share_of_raters():
    rng = np.random.default_rng(0)
    labels = [rng.integers(-1, 3, (6, 7)) for _ in range(4)]
    probability = rng.dirichlet(np.ones(3), (6, 7)).transpose(2, 0, 1)
    found = soft_scores(probability, None, labels, ["b", "x", "y"])
    mean = shares(labels, 3)
    each = [soft_dice_score(mean[k], probability[k]) for k in (1, 2)]
    assert [found[WITH_MEAN, name] for name in "xy"] == pytest.approx(each)
    assert found[WITH_MEAN, "all"] == pytest.approx(np.mean(each))
    assert (SOFT_DICE, "all") not in found


def test_a_perfect_prediction_of_the_truth_scores_one():
    truth = np.array([[0, 1, 1, 2]])
    found = soft_scores(np.eye(3)[truth].transpose(2, 0, 1), truth, [], ["b", "x", "y"])
    assert found == {(SOFT_DICE, name): 1.0 for name in ("all", "x", "y")}


def test_a_class_that_is_nowhere_does_not_count_in_the_mean():
    truth = np.array([[0, 1, 1, 0]])
    wrong = np.eye(3)[1 - truth].transpose(2, 0, 1)
    found = soft_scores(wrong, truth, [], ["b", "x", "y"])
    assert found[SOFT_DICE, "y"] == 1.0
    assert found[SOFT_DICE, "all"] == 0.0
