"""What a network of class labels learned from, and what it made of it."""

import numpy as np
import pytest

from multirater.simulate import (
    hammer_spammer_cm,
    pairwise_flipper_cm,
    simulate_class_labels,
)
from multirater.training.class_answers import ClassAnswers
from multirater.training.class_trust import (
    AskedCases,
    beside_looks,
    lesson_findings,
    lesson_of,
    names_do_no_harm,
    relieved,
)
from multirater.training.near_cases import NearCases
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
    lesson = lesson_of(AskedCases(network(truth, 0.95), answers, 3), matrices=None, fused=None)
    assert lesson.right == pytest.approx(0.97, abs=0.03)
    assert levels(lesson) == ["good"]


def test_few_right_labels_are_a_caution_where_nothing_can_be_rehearsed():
    truth, answers, cms = crowd(0.5, 1)
    lesson = lesson_of(AskedCases(network(truth, 0.95), answers, 3), matrices=cms, fused=None)
    (finding,) = lesson_findings(lesson, CLASSES)
    assert (finding.level, finding.code) == ("caution", "labels")
    assert finding.numbers["right"] == pytest.approx(0.5, abs=0.07)


def near(truth, noise=0.3):
    looks = np.eye(3)[truth] + np.random.default_rng(1).normal(0, noise, (len(truth), 3))
    return NearCases(looks, [str(place) for place in range(len(truth))])


def test_labels_that_cost_many_answers_are_a_problem_unless_their_matrices_are_known():
    truth, answers, _ = crowd(0.97, 1, n_cases=600)
    cms = np.stack([pairwise_flipper_cm(3, 0.6, seed=s) for s in range(3)])
    labels = simulate_class_labels(truth, cms, seed=0)[answers.rater, answers.case]
    wrong = ClassAnswers(answers.case, answers.rater, labels.astype(np.int64))
    asked = [AskedCases(network(truth, 0.9), each, 3, near(truth)) for each in (answers, wrong)]
    assert levels(lesson_of(asked[0], matrices=None, fused=None)) == ["good"]
    as_they_are = lesson_of(asked[1], matrices=None, fused="majority-vote")
    through = lesson_of(asked[1], matrices=cms, fused=None)
    assert levels(as_they_are) == ["problem"]
    assert through.loss < as_they_are.loss - 0.02


def test_a_network_behind_cases_that_look_alike_is_a_problem():
    truth, answers, _ = crowd(0.97, 1, n_cases=300)
    unseen = np.arange(300) < 60
    poor = np.where(np.arange(300) % 3 == 0, (truth + 1) % 3, truth)
    found = [
        lesson_of(
            AskedCases(network(answer, 0.9), answers, 3, near(truth), unseen),
            matrices=None,
            fused=None,
        )
        for answer in (truth, poor)
    ]
    assert found[0].behind < 0.05 < 0.15 < found[1].behind
    assert "network behind" in [each.code for each in lesson_findings(found[1], CLASSES)]
    below = [Finding("problem", "0.5 below a rater."), Finding("good", "no over-fitting")]
    assert [each.level for each in beside_looks(below, found[0])] == ["caution", "good"]
    assert beside_looks(below, found[1]) == below
    assert beside_looks(below, None) == below


def test_a_vote_is_more_often_right_than_the_labels_it_is_made_of():
    truth, answers, _ = crowd(0.7, 3)
    guess = network(truth, 0.9)
    vote = lesson_of(AskedCases(guess, answers, 3), matrices=None, fused="majority-vote")
    labels = lesson_of(AskedCases(guess, answers, 3), matrices=None, fused=None)
    assert vote.right > (answers.label == truth[answers.case]).mean() + 0.05
    assert vote.right == labels.right


def test_a_class_that_labels_tell_and_the_network_never_answers_is_a_problem():
    truth, answers, _ = crowd(0.95, 3)
    answered = np.where(truth == 2, 1, truth)
    lesson = lesson_of(AskedCases(network(answered, 0.95), answers, 3), matrices=None, fused=None)
    (finding,) = [f for f in lesson_findings(lesson, CLASSES) if f.level == "problem"]
    assert list(finding.numbers) == ["c"]
    assert "Labels tell c" in finding.text
    assert not names_do_no_harm(lesson)


def test_names_do_no_harm_where_labels_tell_and_the_network_answers():
    truth, answers, _ = crowd(0.95, 3)
    assert names_do_no_harm(
        lesson_of(AskedCases(network(truth, 0.95), answers, 3), matrices=None, fused=None)
    )
    found = relieved([Finding("problem", "x"), Finding("good", "y")])
    assert [each.level for each in found] == ["caution", "good"]
