import numpy as np
import pandas as pd
import pytest

from multirater import fuse
from multirater.metrics import dice_score

pytestmark = pytest.mark.filterwarnings("ignore::multirater.errors.MultiraterWarning")


def _study(n_cases=8, side=30):
    rng = np.random.default_rng(0)
    truth = np.zeros((n_cases, side, side), dtype=int)
    truth[:, 10:18, 8:20] = 1
    noisy = np.where(rng.random((2, *truth.shape)) < 0.02, 1 - truth, truth)
    spam = (rng.random((3, *truth.shape)) < truth.mean()).astype(int)
    return truth, np.concatenate([noisy, spam]).swapaxes(0, 1)


def test_spammers_hardly_count():
    truth, labels = _study()
    result = fuse.weighted_vote(list(labels), 2, pooled=True)
    plain = fuse.majority_vote(list(labels), 2, pooled=True)
    assert (
        dice_score(truth, np.stack(result.label)) > dice_score(truth, np.stack(plain.label)) + 0.1
    )
    assert result.weight[:2].min() > 5 * result.weight[2:].max()
    assert result.weight.sum() == pytest.approx(1)


def test_of_three_raters_two_decide():
    """Nobody outvotes two others, however well they agree with them."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, (3, 200))
    labels[2, :150] = labels[1, :150]
    np.testing.assert_array_equal(
        fuse.weighted_vote(labels, 2).label, fuse.majority_vote(labels, 2).label
    )


def test_raters_alike_make_the_plain_vote():
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, 400)
    labels = np.where(rng.random((5, 400)) < 0.1, 1 - truth, truth)
    result = fuse.weighted_vote(labels, 2)
    assert (result.label == fuse.majority_vote(labels, 2).label).mean() > 0.97


def test_a_rater_without_company_counts_as_one_of_the_middle():
    labels = np.full((4, 40), -1)
    labels[:3, :30] = np.tile([0, 1], 15)
    labels[2, :10] = 1 - labels[2, :10]
    labels[3, 30:] = 1
    result = fuse.weighted_vote(labels, 2)
    assert result.label[30:].tolist() == [1] * 10
    assert result.weight[2] < result.weight[3]


def test_few_gold_labels_tell_who_errs_where_most_err_alike():
    """Three of five share an error and confirm one another; 100 of 2000 items are known."""
    random = np.random.default_rng(0)
    truth = (random.random(2000) < 0.4).astype(int)
    too_much = np.maximum(truth, random.random(2000) < 0.3)
    noisy = [np.where(random.random(2000) < 0.05, 1 - truth, truth) for _ in range(2)]
    labels = np.stack([too_much, too_much, too_much, *noisy])
    gold = np.where(np.arange(2000) < 100, truth, -1)
    without, held = fuse.weighted_vote(labels), fuse.weighted_vote(labels, gold=gold)
    assert without.weight[:3].min() > without.weight[3:].max()
    assert held.weight[3:].min() > held.weight[:3].max()
    assert np.array_equal(held.label[:100], truth[:100])


def test_class_labels_are_fused_alike_whatever_their_classes_are_called():
    rng = np.random.default_rng(0)
    said = rng.integers(0, 3, (5, 12))
    names = [("ant", "bee", "cow"), ("zebra", "bee", "cow"), ("yak", "zebra", "ant")]
    found = []
    for classes in names:
        answers = [(f"t{t}", f"w{r}", classes[said[r, t]]) for r in range(5) for t in range(12)]
        frame = pd.DataFrame(answers, columns=["task", "worker", "label"])
        result = fuse.weighted_vote(frame)
        shares = result.probability[list(classes)].to_numpy()
        found.append((shares, result.weight))
    for shares, weight in found[1:]:
        np.testing.assert_allclose(shares, found[0][0])
        np.testing.assert_allclose(weight, found[0][1])
    from_array = fuse.weighted_vote(said, 3)
    np.testing.assert_allclose(from_array.probability.T, found[0][0])


def test_a_rater_of_two_answers_counts_nearly_as_everybody():
    """Two answers alike are no proof of skill, nor two that differ of the lack of it."""
    said = np.full((5, 40), -1)
    said[:3] = np.arange(40) % 4
    said[3, :2], said[4, :2] = said[0, :2], (said[0, :2] + 1) % 4
    lucky, unlucky = fuse.weighted_vote(said, 4).weight[3:]
    steady = fuse.weighted_vote(said, 4).weight[0]
    assert unlucky < lucky <= steady
    assert unlucky > steady / 12
