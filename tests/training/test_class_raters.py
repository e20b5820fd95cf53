"""Judging raters of class labels by labels and by guesses of a network."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multirater.metrics import confusion_frobenius_error
from multirater.simulate import hammer_spammer_cm, pairwise_flipper_cm, simulate_class_labels
from multirater.training.class_answers import ClassAnswers
from multirater.training.class_raters import expected_matrices, in_doubt, judge_raters

N_CLASSES = 4


def crowd(cms, n_cases=1500, labels_per_case=1, network=0.9, seed=0):
    """Return labels, what a network guesses that foresees them, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, N_CLASSES, n_cases)
    labels = simulate_class_labels(truth, cms, seed=seed).T
    who = rng.random(labels.shape).argsort(1) < labels_per_case
    case, rater = np.nonzero(who)
    answers = ClassAnswers(case, rater, labels[case, rater].astype(np.int64))
    sees = np.where(rng.random(n_cases) < network, truth, rng.integers(0, N_CLASSES, n_cases))
    foreseen = (network * np.eye(N_CLASSES) + (1 - network) / N_CLASSES) @ np.mean(cms, axis=0)
    return answers, foreseen[sees], truth


def flippers(*skills):
    return np.stack([pairwise_flipper_cm(N_CLASSES, p, seed=s) for s, p in enumerate(skills)])


def spammers(*skills):
    return np.stack([hammer_spammer_cm(N_CLASSES, p, seed=s) for s, p in enumerate(skills)])


@pytest.mark.parametrize("cms", [flippers(0.6, 0.6, 0.6), spammers(0.95, 0.5, 0.25)])
def test_one_label_per_case_is_enough_beside_a_network(cms):
    answers, guesses, truth = crowd(cms)
    found = judge_raters(answers, guesses, len(cms))
    assert confusion_frobenius_error(cms, found.matrices) < 0.05
    right = (answers.label == truth[answers.case]).mean()
    assert (found.truth.argmax(1) == truth).mean() > right + 0.2


def test_a_poor_network_does_not_outvote_good_raters():
    cms = spammers(0.97, 0.97, 0.97)
    answers, guesses, truth = crowd(cms, network=0.3)
    found = judge_raters(answers, guesses, 3)
    assert (found.truth.argmax(1) == truth).mean() > 0.96
    assert np.diagonal(found.matrices, axis1=1, axis2=2).min() > 0.7


def test_several_labels_need_no_network():
    cms = flippers(0.7, 0.7, 0.7, 0.7, 0.7)
    answers, guesses, truth = crowd(cms, labels_per_case=5)
    found = judge_raters(answers, np.full_like(guesses, 1 / N_CLASSES), 5)
    assert (found.truth.argmax(1) == truth).mean() > 0.98
    assert confusion_frobenius_error(cms, found.matrices) < 0.01


def test_a_class_that_most_call_by_another_name_keeps_its_own():
    cms = spammers(0.9, 0.9, 0.9)
    cms[:2, 0] = [0.1, 0.8, 0.05, 0.05]
    answers, guesses, truth = crowd(cms)
    found = judge_raters(answers, guesses, 3)
    assert (found.truth.argmax(1) == truth)[truth == 0].mean() > 0.85


def test_raters_in_another_order_are_judged_alike():
    cms = spammers(0.95, 0.6, 0.3)
    answers, guesses, _ = crowd(cms, labels_per_case=2)
    turned = ClassAnswers(answers.case, 2 - answers.rater, answers.label)
    one, other = (judge_raters(each, guesses, 3) for each in (answers, turned))
    assert np.allclose(one.matrices, other.matrices[::-1])


def test_a_rater_without_labels_and_a_class_without_cases():
    answers, guesses, _ = crowd(spammers(0.9, 0.8))
    kept = answers.label != 3
    less = ClassAnswers(*(each[kept] for each in (answers.case, answers.rater, answers.label)))
    place = np.unique(less.case, return_inverse=True)
    found = judge_raters(ClassAnswers(place[1], less.rater, less.label), guesses[place[0]], 3)
    assert np.isfinite(found.matrices).all()
    assert np.allclose(found.matrices.sum(2), 1)


@given(
    st.lists(st.lists(st.integers(0, 30), min_size=9, max_size=9), min_size=1, max_size=4),
)
def test_rows_sum_to_one_and_nothing_is_impossible(counts):
    found = expected_matrices(np.array(counts, dtype=float).reshape(-1, 3, 3))
    assert np.allclose(found.sum(2), 1)
    assert (found > 0).all()


def test_many_labels_speak_for_themselves_and_few_lean_on_the_rest():
    cms = flippers(0.6, 0.7)
    many = expected_matrices(10_000 * cms)
    assert np.abs(many - cms).max() < 0.01
    counts = np.stack([*(100 * spammers(0.9, 0.9)), np.diag([1.0, 0, 0, 0])])
    assert 0.8 < expected_matrices(counts)[2, 3, 3] < 0.97


def test_what_all_raters_share_is_the_networks():
    cms = np.stack([[[0.7, 0.3], [0.2, 0.8]], [[0.9, 0.1], [0.5, 0.5]]])
    assert np.allclose(in_doubt(cms), [[0.9, 0.1], [0.2, 0.8]])
