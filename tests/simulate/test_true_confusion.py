import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import confusion_matrix

from multirater.errors import InputError
from multirater.samples import load_digits
from multirater.simulate import mean_confusion, simulate_mask, true_confusion


def pairs(low=-1):
    shapes = hnp.array_shapes(min_dims=1, max_dims=3, max_side=5)
    elements = st.integers(low, 2)
    return shapes.flatmap(
        lambda shape: st.tuples(
            hnp.arrays(np.int16, shape, elements=elements),
            hnp.arrays(np.int16, shape, elements=elements),
        )
    )


@given(pairs())
def test_the_row_of_the_true_class_is_one_hot_and_the_rest_unknown(drawn):
    truth, label = drawn
    cm = true_confusion(truth, label, 3)
    assert cm.shape == (3, 3, *truth.shape)
    for place in np.ndindex(truth.shape):
        expected = np.full((3, 3), np.nan)
        if truth[place] >= 0 and label[place] >= 0:
            expected[truth[place]] = np.eye(3)[label[place]]
        np.testing.assert_array_equal(cm[(..., *place)], expected)


@given(pairs(low=0))
def test_the_mean_is_the_mean_of_the_pixels_and_scikit_learns(drawn):
    truth, label = drawn
    mean = mean_confusion(truth, label, 3)
    occurs = np.isin(np.arange(3), truth)
    assert np.isnan(mean[~occurs]).all()
    reference = confusion_matrix(truth.ravel(), label.ravel(), labels=range(3), normalize="true")
    np.testing.assert_allclose(mean[occurs], reference[occurs])
    pixels = true_confusion(truth, label, 3).reshape(3, 3, -1)[occurs]
    np.testing.assert_allclose(mean[occurs], np.nanmean(pixels, axis=2), rtol=1e-5)


def test_missing_labels_do_not_count():
    mean = mean_confusion([0, 0, 1, -1], [0, -1, 0, 1], 2)
    np.testing.assert_array_equal(mean, [[1, 0], [1, 0]])


def test_a_data_set_may_hold_cases_of_different_sizes():
    truths = [np.array([[0, 1]]), np.array([1, 1, 0])]
    labels = [np.array([[0, 0]]), np.array([1, 1, 1])]
    np.testing.assert_allclose(
        mean_confusion(truths, labels, 2), mean_confusion([0, 1, 1, 1, 0], [0, 0, 1, 1, 1], 2)
    )


def test_the_confusion_of_simulated_raters_shows_how_they_err():
    digits = load_digits("test").masks[:30]
    found = {}
    for kind in ("over", "under", "blank"):
        labels = [simulate_mask(truth, kind, seed=i)[0] for i, truth in enumerate(digits)]
        found[kind] = mean_confusion(list(digits), labels, 2)
    assert found["over"][1, 1] == 1
    assert found["over"][0, 1] > 0.05
    assert found["under"][0, 0] == 1
    assert found["under"][1, 1] == pytest.approx(0.5, abs=0.04)
    np.testing.assert_array_equal(found["blank"], [[1, 0], [1, 0]])


def test_unequal_shapes_and_unknown_classes_are_named():
    with pytest.raises(InputError, match="shape"):
        true_confusion(np.zeros((2, 2), int), np.zeros((2, 3), int), 2)
    with pytest.raises(InputError, match="class 2"):
        mean_confusion([0, 1], [0, 2], 2)
