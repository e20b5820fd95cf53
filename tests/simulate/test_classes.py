import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from multirater.errors import InputError
from multirater.simulate import (
    cifar10_raters_cm,
    hammer_spammer_cm,
    pairwise_flipper_cm,
    simulate_class_labels,
)


@given(st.integers(2, 12), st.floats(0.0, 1.0), st.integers(0, 10_000))
def test_a_pairwise_flipper_confuses_each_class_with_one_other(n_classes, p, seed):
    cm = pairwise_flipper_cm(n_classes, p, seed=seed)
    diagonal = np.diag(cm)
    np.testing.assert_allclose(cm.sum(axis=1), 1)
    assert np.ptp(diagonal) == 0
    assert abs(diagonal[0] - p) < 0.06
    assert (cm >= 0).all()
    off = cm - np.diag(diagonal)
    assert (np.count_nonzero(off, axis=1) <= 1).all()
    np.testing.assert_allclose(off.max(axis=1), 1 - diagonal, atol=1e-12)


@given(st.integers(2, 12), st.floats(0.0, 1.0), st.integers(0, 10_000))
def test_a_hammer_spammer_errs_evenly(n_classes, p, seed):
    cm = hammer_spammer_cm(n_classes, p, seed=seed)
    np.testing.assert_allclose(cm.sum(axis=1), 1)
    off = cm[~np.eye(n_classes, dtype=bool)]
    np.testing.assert_allclose(off, (1 - cm[0, 0]) / (n_classes - 1))
    assert abs(cm[0, 0] - p) < 0.06


@pytest.mark.parametrize("make", [pairwise_flipper_cm, hammer_spammer_cm])
def test_skill_is_normal_around_p_and_seeded(make):
    skills = [make(10, 0.5, seed=seed)[0, 0] for seed in range(400)]
    assert stats.kstest(skills, stats.norm(0.5, 0.01).cdf).pvalue > 0.01
    np.testing.assert_array_equal(make(10, 0.5, seed=7), make(10, 0.5, seed=7))
    assert not np.array_equal(make(10, 0.5, seed=7), make(10, 0.5, seed=8))


def test_flip_targets_are_uniform_over_the_other_classes():
    flips = np.zeros((5, 5))
    for seed in range(1000):
        cm = pairwise_flipper_cm(5, 0.5, seed=seed)
        flips += (cm > 0) & ~np.eye(5, dtype=bool)
    assert np.trace(flips) == 0
    observed = flips[~np.eye(5, dtype=bool)].reshape(5, 4)
    assert all(stats.chisquare(row).pvalue > 1e-4 for row in observed)


def test_cifar10_raters_do_what_the_paper_says():
    cms = cifar10_raters_cm()
    assert cms.shape == (4, 10, 10)
    np.testing.assert_allclose(cms.sum(axis=2), 1)
    assert np.trace(cms, axis1=1, axis2=2).mean() / 10 == pytest.approx(0.45)
    spammer, similar, neighbours, adversarial = cms
    assert np.ptp(spammer[~np.eye(10, dtype=bool)]) == pytest.approx(0)
    automobile, cat, dog, truck = 1, 3, 5, 9
    for one, other in [(cat, dog), (dog, cat), (automobile, truck), (truck, automobile)]:
        assert similar[one].argsort()[-2] == other
    assert neighbours[4, [3, 4, 5]].sum() == pytest.approx(1)
    assert np.trace(adversarial) == 0
    assert sorted(adversarial.argmax(axis=1)) == list(range(10))


def test_the_mean_cifar10_rater_is_diagonally_dominant():
    mean = cifar10_raters_cm().mean(axis=0)
    off = mean - np.diag(np.diag(mean))
    assert (np.diag(mean) > off.max(axis=1)).all()
    assert (np.diag(mean) > off.max(axis=0)).all()


def test_observed_frequencies_converge_to_the_confusion_matrix():
    cms = np.concatenate([cifar10_raters_cm(), pairwise_flipper_cm(10, 0.3, seed=0)[None]])
    truth = np.repeat(np.arange(10), 4000)
    labels = simulate_class_labels(truth, cms, seed=0)
    found = np.zeros_like(cms)
    for rater in range(len(cms)):
        np.add.at(found[rater], (truth, labels[rater]), 1 / 4000)
    # Hoeffding over 500 entries: the chance of any being further off is below 1 in 1000.
    bound = np.sqrt(np.log(2 * found.size / 1e-3) / (2 * 4000))
    assert np.abs(found - cms).max() < bound
    assert (found[cms == 0] == 0).all()


def test_raters_err_independently_of_each_other():
    cm = hammer_spammer_cm(2, 0.7, seed=0)
    first, second = simulate_class_labels(np.zeros(20_000, int), [cm, cm], seed=0)
    assert abs(np.corrcoef(first, second)[0, 1]) < 4 / np.sqrt(20_000)


def test_more_raters_do_not_change_the_labels_of_the_first():
    truth, cms = np.arange(10).repeat(5), cifar10_raters_cm()
    np.testing.assert_array_equal(
        simulate_class_labels(truth, cms[:2], seed=3), simulate_class_labels(truth, cms, seed=3)[:2]
    )


@settings(max_examples=50)
@given(st.lists(st.integers(-1, 3), min_size=1, max_size=30), st.integers(0, 1000))
def test_same_seed_same_labels_of_known_classes_and_missing_stays_missing(truth, seed):
    cms = np.stack([pairwise_flipper_cm(4, 0.5, seed=1), np.eye(4)])
    given_truth = np.array(truth)
    labels = simulate_class_labels(given_truth, cms, seed=seed)
    np.testing.assert_array_equal(labels, simulate_class_labels(truth, cms, seed=seed))
    np.testing.assert_array_equal(given_truth, truth)
    assert labels.dtype == np.int16
    np.testing.assert_array_equal(labels == -1, np.broadcast_to(given_truth == -1, labels.shape))
    np.testing.assert_array_equal(labels[1], truth)


def test_rounding_never_yields_a_class_that_does_not_exist():
    cm = np.full((1, 3, 3), 1 / 3) - 1e-8
    labels = simulate_class_labels(np.zeros(10_000, int), cm, seed=0)
    assert labels.max() == 2


@pytest.mark.parametrize(
    ("truth", "cms", "named"),
    [
        ([0, 1], np.eye(2), "shape"),
        ([0, 1], [[[0.5, 0.4], [0.0, 1.0]]], "no probabilities"),
        ([0, 1], [[[1.5, -0.5], [0.0, 1.0]]], "no probabilities"),
        ([0, 5], [np.eye(2)], "5"),
        ([[0, 1]], [np.eye(2)], "shape"),
    ],
)
def test_unusable_input_is_named(truth, cms, named):
    with pytest.raises(InputError, match=named):
        simulate_class_labels(truth, cms, seed=0)


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_impossible_skill_is_refused(p):
    with pytest.raises(InputError, match="skill"):
        hammer_spammer_cm(3, p, seed=0)
