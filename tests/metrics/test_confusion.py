"""Counting confusion and measuring how far an estimate of it is off."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from multirater.errors import InputError
from multirater.metrics import (
    confusion_counts,
    confusion_frobenius_error,
    confusion_rates,
    confusion_rms_error,
    skill_score,
)


def random_matrices(seed, shape=(3, 4, 4)):
    matrices = np.random.default_rng(seed).random(shape)
    return matrices / matrices.sum(axis=-1, keepdims=True)


@settings(deadline=None)
@given(
    arrays(np.int16, (2, 30), elements=st.integers(-1, 3)),
    arrays(np.int64, 30, elements=st.integers(0, 5)),
)
def test_counts_agree_with_scikit_learn(labels, weights):
    from sklearn.metrics import confusion_matrix

    known = (labels >= 0).all(axis=0) & (weights > 0)
    expected = np.zeros((4, 4))
    if known.any():
        expected = confusion_matrix(
            *labels[:, known], labels=range(4), sample_weight=weights[known]
        )
    np.testing.assert_array_equal(confusion_counts(*labels, 4, weights=weights), expected)


def test_counts_are_true_by_observed():
    assert confusion_counts([0, 0, 0], [1, 1, 0], 2).tolist() == [[1, 2], [0, 0]]


def test_counts_without_weights_are_integers():
    assert confusion_counts([0, 1], [0, 1], 2).dtype.kind == "i"


def test_counts_refuse_an_unknown_class():
    with pytest.raises(InputError, match="label 2"):
        confusion_counts([0, 2], [0, 1], 2)


def test_rates_of_the_counts_are_the_raters_matrix():
    rng = np.random.default_rng(0)
    cm = np.array([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.0, 0.5, 0.5]])
    truth = rng.integers(0, 3, 60_000)
    observed = (rng.random((60_000, 1)) > cm.cumsum(axis=1)[truth][:, :2]).sum(axis=1)
    estimated = confusion_rates(confusion_counts(truth, observed, 3))
    assert confusion_rms_error(cm, estimated) < 0.01
    np.testing.assert_allclose(estimated.sum(axis=1), 1)


def test_rates_of_a_class_that_never_occurred_are_unknown():
    assert np.isnan(confusion_rates([[1, 1], [0, 0]])[1]).all()


def test_rms_error_in_closed_form():
    cm, estimated = random_matrices(0), random_matrices(1)
    expected = np.linalg.norm(cm - estimated) / np.sqrt(cm.size)
    assert confusion_rms_error(cm, estimated) == pytest.approx(expected)


def test_frobenius_error_in_closed_form():
    cm, estimated = random_matrices(0), random_matrices(1)
    norms = np.linalg.norm(cm - estimated, axis=(1, 2))
    assert confusion_frobenius_error(cm, estimated) == pytest.approx(np.mean(norms**2 / 4))


@pytest.mark.parametrize("error", [confusion_rms_error, confusion_frobenius_error])
def test_unknown_rows_are_left_out(error):
    cm, estimated = random_matrices(0, (4, 4)), random_matrices(1, (4, 4))
    guess = estimated.copy()
    guess[2] = [1, 0, 0, 0]
    cm[2] = np.nan
    assert error(cm, guess) == error(cm, estimated)
    assert error(cm, guess) > 0


def test_frobenius_error_averages_over_the_rows_that_are_known():
    cm = np.array([[1.0, 0.0], [np.nan, np.nan]])
    assert confusion_frobenius_error(cm, [[0.0, 1.0], [0.5, 0.5]]) == pytest.approx(2.0)


@pytest.mark.parametrize("error", [confusion_rms_error, confusion_frobenius_error])
def test_nothing_known_is_nan(error):
    assert np.isnan(error(np.full((2, 2), np.nan), np.eye(2)))


def test_matrices_per_pixel_are_measured_like_matrices_per_rater():
    cm, estimated = random_matrices(0, (2, 5, 6, 3, 3)), random_matrices(1, (2, 5, 6, 3, 3))
    flat = confusion_rms_error(cm.reshape(-1, 3, 3), estimated.reshape(-1, 3, 3))
    assert confusion_rms_error(cm, estimated) == pytest.approx(flat)


def test_skill_is_the_mean_diagonal_of_each_rater():
    cm = random_matrices(2)
    np.testing.assert_allclose(skill_score(cm), np.trace(cm, axis1=1, axis2=2) / 4)


def test_skill_leaves_unknown_rows_out():
    assert skill_score([[0.8, 0.2], [np.nan, np.nan]]) == pytest.approx(0.8)


def test_a_transposed_matrix_is_recognised():
    cm = np.array([[0.9, 0.1], [0.6, 0.4]])
    with pytest.raises(InputError, match=r"estimated .*(\n.*)+transpose"):
        confusion_rms_error(cm, cm.T)


def test_counts_given_for_rates_are_refused():
    with pytest.raises(InputError, match="divide every row by its sum"):
        skill_score([[8, 2], [1, 9]])


def test_an_estimate_with_holes_is_refused():
    with pytest.raises(InputError, match="NaN where the true one is known"):
        confusion_rms_error(np.eye(2), [[1, 0], [np.nan, np.nan]])


def test_class_axes_must_be_square_and_last():
    with pytest.raises(InputError, match="n_classes, n_classes"):
        skill_score(np.ones((2, 2, 5)))


def test_estimate_and_truth_must_have_one_shape():
    with pytest.raises(InputError, match="same shape"):
        confusion_rms_error(np.eye(2), [np.eye(2), np.eye(2)])
