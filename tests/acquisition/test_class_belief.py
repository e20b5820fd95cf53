import numpy as np
import pytest

from multirater.acquisition.class_belief import belief_of_classes, fit_classes
from multirater.fuse.answers import answers_from_rows
from multirater.simulate import hammer_spammer_cm, simulate_class_labels


def rows_of(skills, n=300, n_classes=4, seed=0):
    truth = np.random.default_rng(seed).integers(0, n_classes, n)
    cm = np.stack([hammer_spammer_cm(n_classes, s, seed=seed + i) for i, s in enumerate(skills)])
    return simulate_class_labels(truth, cm, seed=seed).T.astype(np.int64), truth


def belief(rows, n_classes=4, **more):
    return belief_of_classes(answers_from_rows(rows, np.ones(len(rows)), n_classes, **more))


def test_one_answer_per_case_is_believed_and_says_nothing_of_raters():
    rows, _ = rows_of([0.9, 0.9, 0.9])
    rows[np.arange(300)[:, None] % 3 != np.arange(3)] = -1
    found = belief(rows)
    assert (found.probability.argmax(1) == rows.max(1)).all()
    assert found.raters.known.tolist() == [0, 0, 0]
    assert found.raters.skill == pytest.approx(0.7, abs=0.05)


def test_skills_are_found_where_raters_meet():
    rows, truth = rows_of([0.95, 0.7, 0.7, 0.3], n=600)
    found = belief(rows)
    real = (rows == truth[:, None]).mean(0)
    assert found.raters.skill == pytest.approx(real, abs=0.1)
    assert (found.probability.argmax(1) == truth).mean() > 0.93


def test_a_case_without_answer_keeps_what_is_usual_or_what_a_network_says():
    rows, _ = rows_of([0.9, 0.8, 0.8])
    rows[0] = -1
    usual = belief(rows).probability[0]
    assert usual.max() < 0.5
    prior = np.full((300, 4), 0.25)
    prior[0] = [0.02, 0.94, 0.02, 0.02]
    assert belief(rows, row_prior=prior).probability[0].argmax() == 1


def test_gold_stands_and_tells_about_raters():
    rows, truth = rows_of([0.9, 0.9])
    rows[:, 1] = -1
    gold = np.where(np.arange(300) < 40, truth, -1)
    found = belief(rows, gold=gold)
    assert (found.probability.argmax(1)[:40] == truth[:40]).all()
    assert found.raters.known[0] == pytest.approx(40)


def test_the_fit_never_becomes_less_likely():
    rows, _ = rows_of([0.9, 0.6, 0.4], n=80)
    trace = fit_classes(answers_from_rows(rows, np.ones(80), 4)).log_likelihood
    assert (np.diff(trace) >= -1e-6 * np.abs(trace[1:])).all()
