"""Coefficients of one class against the rest."""

from functools import partial

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.metrics import (
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    one_against_rest,
    pairwise_scores,
    per_class,
)

LABELS = np.random.default_rng(0).integers(-1, 3, (4, 5, 8))


def test_one_against_rest_keeps_missing_missing():
    assert one_against_rest([[0, 1], [-1, 1]], 1).tolist() == [[0, 1], [-1, 1]]
    assert one_against_rest([0.0, 1.0, np.nan], 0).tolist() == [1, 0, -1]


@pytest.mark.parametrize("coefficient", [fleiss_kappa, gwet_ac1, krippendorff_alpha])
def test_with_two_classes_both_have_the_value_of_the_whole(coefficient):
    labels = np.where(LABELS > 1, 1, LABELS)
    whole = coefficient(labels)
    np.testing.assert_allclose(per_class(coefficient, labels, n_classes=2), [whole, whole])


def test_a_class_is_measured_by_itself():
    found = per_class(krippendorff_alpha, LABELS, n_classes=3)
    assert found[2] == krippendorff_alpha(one_against_rest(LABELS, 2))


def test_two_raters_given_one_by_one():
    found = per_class(cohen_kappa, LABELS[0], LABELS[1], n_classes=3)
    expected = cohen_kappa(one_against_rest(LABELS[0], 1), one_against_rest(LABELS[1], 1))
    assert found[1] == expected


def test_weights_and_options_are_passed_on():
    weights = np.arange(40).reshape(5, 8)
    iou = partial(pairwise_scores, score="iou")
    found = per_class(iou, LABELS, n_classes=3, weights=weights)
    assert found.shape == (3, 4, 4)
    np.testing.assert_array_equal(found[1], iou(LABELS, foreground=1, weights=weights))


def test_a_class_nobody_used_is_undefined_for_kappa_and_perfect_for_ac1():
    assert np.isnan(per_class(fleiss_kappa, LABELS, n_classes=4)[3])
    assert per_class(gwet_ac1, LABELS, n_classes=4)[3] == 1.0


def test_refuses_a_class_beyond_the_declared_ones():
    with pytest.raises(InputError, match="label 2"):
        per_class(fleiss_kappa, LABELS, n_classes=2)
