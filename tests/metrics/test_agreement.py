"""Kappas and AC1 against published values, statsmodels and scikit-learn."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from multirater.errors import InputError
from multirater.metrics import cohen_kappa, fleiss_kappa, gwet_ac1, percent_agreement

FOUR_RATERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, -1, -1, -1],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, -1, -1],
        [-1, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, -1],
    ]
)
"""Gwet, Handbook of Inter-Rater Reliability (4th ed., p. 120): raw_4raters of irrCAC."""

FLEISS_TABLE = np.array(
    [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
)
"""The worked example of Wikipedia's page on Fleiss' kappa: 10 subjects, 14 raters, 5 classes."""

ABSTRACTORS = np.array([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
"""cont3x3abstractors of irrCAC: what one abstractor said by what the other said, 100 women."""


def labels_of_table(table):
    """(n_raters, n_items) with as many ratings per class as the rows of the table say."""
    return np.array([np.repeat(np.arange(table.shape[1]), row) for row in table]).T


def labels_of_contingency(table):
    """Two raters' labels, one column per cell, and the cells' counts as weights."""
    return np.indices(table.shape).reshape(2, -1), table.ravel()


def test_ac1_of_gwets_four_raters():
    assert gwet_ac1(FOUR_RATERS) == pytest.approx(0.77544, abs=5e-6)


def test_percent_agreement_of_gwets_four_raters():
    assert percent_agreement(FOUR_RATERS) == pytest.approx(0.8181818, abs=5e-8)


def test_fleiss_kappa_of_gwets_four_raters():
    assert fleiss_kappa(FOUR_RATERS) == pytest.approx(0.76117, abs=5e-6)


def test_fleiss_kappa_of_wikipedias_table():
    assert fleiss_kappa(labels_of_table(FLEISS_TABLE)) == pytest.approx(0.2099, abs=5e-5)


def test_two_abstractors_given_as_a_weighted_table():
    labels, weights = labels_of_contingency(ABSTRACTORS)
    assert cohen_kappa(*labels, weights=weights) == pytest.approx(0.7964094, abs=5e-8)
    assert gwet_ac1(labels, weights=weights) == pytest.approx(0.8493305, abs=5e-8)
    assert fleiss_kappa(labels, weights=weights) == pytest.approx(0.7962397, abs=5e-8)
    assert percent_agreement(labels, weights=weights) == pytest.approx(0.89)


@settings(deadline=None)
@given(arrays(np.int64, (4, 12), elements=st.integers(0, 3)))
def test_fleiss_kappa_agrees_with_statsmodels(labels):
    from statsmodels.stats.inter_rater import aggregate_raters
    from statsmodels.stats.inter_rater import fleiss_kappa as expected

    assume(len(np.unique(labels)) > 1)
    table, _ = aggregate_raters(labels.T)
    assert fleiss_kappa(labels) == pytest.approx(expected(table), abs=1e-12)


@settings(deadline=None)
@given(
    arrays(np.int64, (2, 15), elements=st.integers(-1, 3)),
    arrays(np.int64, 15, elements=st.integers(0, 4)),
)
def test_cohen_kappa_agrees_with_scikit_learn(labels, weights):
    from sklearn.metrics import cohen_kappa_score

    known = (labels >= 0).all(axis=0) & (weights > 0)
    assume(len(np.unique(labels[:, known])) > 1)
    expected = cohen_kappa_score(*labels[:, known], sample_weight=weights[known])
    assert cohen_kappa(*labels, weights=weights) == pytest.approx(expected, abs=1e-12)


@settings(deadline=None)
@given(arrays(np.int64, (2, 10), elements=st.integers(0, 1)))
def test_ac1_of_two_raters_and_two_classes_in_closed_form(labels):
    share = labels.mean()
    chance = 2 * share * (1 - share)
    observed = (labels[0] == labels[1]).mean()
    assert gwet_ac1(labels) == pytest.approx((observed - chance) / (1 - chance))


def test_ac1_depends_on_how_many_classes_could_be_chosen():
    labels = [[0, 1, 1, 0], [0, 1, 0, 0]]
    assert gwet_ac1(labels, n_classes=2) == gwet_ac1(labels)
    assert gwet_ac1(labels, n_classes=5) > gwet_ac1(labels)


def test_ac1_stays_high_where_one_class_dominates_and_kappa_collapses():
    labels = np.zeros((2, 1000), dtype=int)
    labels[0, :5] = labels[1, 5:10] = 1
    assert fleiss_kappa(labels) < 0
    assert gwet_ac1(labels) > 0.98


@pytest.mark.parametrize("labels", [[[0, 0], [0, 0]], [[2, 2, -1], [2, 2, 2]]])
def test_a_single_class_leaves_kappa_undefined_and_ac1_perfect(labels):
    assert np.isnan(fleiss_kappa(labels))
    assert np.isnan(cohen_kappa(*labels))
    assert gwet_ac1(labels) == percent_agreement(labels) == 1.0


def test_a_single_class_and_many_raters_with_odd_weights():
    labels = np.zeros((49, 3), dtype=int)
    weights = [0.1, 0.2, 0.7]
    assert np.isnan(fleiss_kappa(labels, weights=weights))
    assert gwet_ac1(labels, weights=weights) == pytest.approx(1.0)


def test_ac1_refuses_a_class_beyond_the_declared_ones():
    with pytest.raises(InputError, match="label 2"):
        gwet_ac1([[0, 2], [0, 1]], n_classes=2)
