import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multirater.acquisition.belief import Belief, RaterBelief, disorder
from multirater.acquisition.gain import after_label, case_gains, label_gains


def matrices(n_raters, n_classes, seed):
    return np.random.default_rng(seed).dirichlet(np.ones(n_classes), (n_raters, n_classes))


@given(st.integers(1, 4), st.integers(2, 5), st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_the_gain_is_what_drawn_answers_bring_on_average(n_raters, n_classes, seed):
    cm = matrices(n_raters, n_classes, seed)
    belief = np.random.default_rng([seed, 1]).dirichlet(np.ones(n_classes), 3)
    gains = label_gains(belief, cm)
    for rater in range(n_raters):
        for row, q in enumerate(belief):
            chance = q @ cm[rater]
            after = q[:, None] * cm[rater] / chance
            expected = disorder(q[None])[0] - chance @ disorder(after.T)
            assert gains[row, rater] == pytest.approx(expected, abs=1e-12)
    assert (gains >= 0).all()


def test_what_may_follow_a_label_weighs_as_much_as_before_and_is_right_on_average():
    cm, q = matrices(1, 3, 0)[0], np.array([[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]])
    weight = np.array([1.0, 0.5])
    beliefs, weights = after_label(q, weight, cm)
    assert weights.sum() == pytest.approx(weight.sum())
    assert weights @ beliefs == pytest.approx(weight @ q)


def test_gains_of_cases_sum_over_their_rows_whatever_the_block(monkeypatch):
    q = np.random.default_rng(0).dirichlet(np.ones(2), 7)
    cm = matrices(3, 2, 1)
    raters = RaterBelief(cm, np.ones(3), np.full(3, 0.7), np.full(3, 0.4))
    start = np.array([0, 2, 3, 7])
    belief = Belief(q, np.arange(1.0, 8.0), start, np.zeros((3, 3), bool), raters)
    whole = case_gains(belief, cm)
    rows = label_gains(q, cm) * belief.weight[:, None]
    assert whole[2] == pytest.approx(rows[3:].sum(0))
    monkeypatch.setattr("multirater.acquisition.gain._BLOCK", 12)
    assert case_gains(belief, cm) == pytest.approx(whole)
