"""What a network of class labels learned from, and what it made of it."""

import numpy as np
import pytest

from multirater.simulate import hammer_spammer_cm, simulate_class_labels
from multirater.training.class_answers import ClassAnswers
from multirater.training.class_trust import (
    lesson_findings,
    lesson_of,
    names_do_no_harm,
    relieved,
)
from multirater.trust import Finding

CLASSES = ("a", "b", "c")


def crowd(skill, labels_per_case, n_cases=900, n_raters=3):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, n_cases)
    cms = np.stack([hammer_spammer_cm(3, skill, seed=s) for s in range(n_raters)])
    labels = simulate_class_labels(truth, cms, seed=0).T
    case, rater = np.nonzero(rng.random(labels.shape).argsort(1) < labels_per_case)
    return truth, ClassAnswers(case, rater, labels[case, rater].astype(np.int64)), cms


def network(truth, sure):
    """Return probabilities of a network that is always right."""
    return np.where(np.eye(3, dtype=bool)[truth], sure, (1 - sure) / 2)


def levels(lesson):
    return [each.level for each in lesson_findings(lesson, CLASSES)]


def test_right_labels_are_good():
    truth, answers, _ = crowd(0.97, 1)
    lesson = lesson_of(network(truth, 0.95), answers, 3, matrices=None, fused=None)
    assert lesson.right == pytest.approx(0.97, abs=0.03)
    assert levels(lesson) == ["good"]


def test_wrong_labels_are_a_problem_unless_the_network_is_sure():
    truth, answers, cms = crowd(0.5, 1)
    unsure = lesson_of(network(truth, 0.5), answers, 3, matrices=cms, fused=None)
    sure = lesson_of(network(truth, 0.95), answers, 3, matrices=cms, fused=None)
    assert levels(unsure) == ["problem"]
    assert levels(sure) == ["caution"]
    (finding,) = lesson_findings(unsure, CLASSES)
    assert finding.code == "labels"
    assert finding.numbers["right"] == pytest.approx(0.5, abs=0.07)


def test_a_vote_is_more_often_right_than_the_labels_it_is_made_of():
    truth, answers, _ = crowd(0.7, 3)
    guess = network(truth, 0.9)
    vote = lesson_of(guess, answers, 3, matrices=None, fused="majority-vote")
    labels = lesson_of(guess, answers, 3, matrices=None, fused=None)
    assert vote.right > (answers.label == truth[answers.case]).mean() + 0.05
    assert vote.right == labels.right


def test_a_class_that_labels_tell_and_the_network_never_answers_is_a_problem():
    truth, answers, _ = crowd(0.95, 3)
    answered = np.where(truth == 2, 1, truth)
    lesson = lesson_of(network(answered, 0.95), answers, 3, matrices=None, fused=None)
    (finding,) = [f for f in lesson_findings(lesson, CLASSES) if f.level == "problem"]
    assert list(finding.numbers) == ["c"]
    assert "Labels tell c" in finding.text
    assert not names_do_no_harm(lesson)


def test_names_do_no_harm_where_labels_tell_and_the_network_answers():
    truth, answers, _ = crowd(0.95, 3)
    assert names_do_no_harm(lesson_of(network(truth, 0.95), answers, 3, matrices=None, fused=None))
    found = relieved([Finding("problem", "x"), Finding("good", "y")])
    assert [each.level for each in found] == ["caution", "good"]
