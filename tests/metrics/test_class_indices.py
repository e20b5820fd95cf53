"""What the metrics take for labels, and how they refuse the rest."""

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.metrics.class_indices import (
    MOST_CLASSES,
    as_class_indices,
    as_item_weights,
    as_rating_rows,
    class_indices,
    count_classes,
    require_classes_below,
)


def test_booleans_become_zero_and_one():
    assert as_class_indices([True, False]).tolist() == [1, 0]


def test_nan_becomes_missing():
    assert as_class_indices([0.0, np.nan, 2.0]).tolist() == [0, -1, 2]


def test_unsigned_labels_can_be_compared_with_minus_one():
    read = as_class_indices(np.array([0, 255], dtype=np.uint8))
    assert (read - 1).tolist() == [-1, 254]


def test_integer_labels_are_not_copied():
    labels = np.array([0, 1, -1], dtype=np.int16)
    assert as_class_indices(labels) is labels


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0.5, 1.0], "fractions such as 0.5"),
        ([np.inf], "such as inf"),
        ([-2, 0], "label -2"),
        (["a", "b"], "number the classes"),
    ],
)
def test_refuses_what_is_no_class_index(labels, message):
    with pytest.raises(InputError, match=message):
        as_class_indices(labels)


def test_refuses_a_class_beyond_the_declared_ones():
    with pytest.raises(InputError, match="label 3"):
        require_classes_below(3, np.array([0, 3]))


def test_refuses_values_that_are_hardly_indices():
    with pytest.raises(InputError, match=f"below {MOST_CLASSES}"):
        count_classes(np.array([0, 100_000]))


def test_refuses_a_single_label_where_raters_are_expected():
    with pytest.raises(InputError, match="n_raters"):
        as_rating_rows(3)


@pytest.mark.parametrize("weights", [[1.0, 2.0], [1, 2, -1], [1, np.nan, 1]])
def test_refuses_weights_that_do_not_count_items(weights):
    with pytest.raises(InputError, match="weight"):
        as_item_weights(weights, (3,))


def test_what_is_masked_is_missing():
    values = np.array([[0, 1], [2, 1]], dtype=np.uint8)
    masked = np.ma.masked_equal(values, 2)
    for given in (masked, list(masked), masked.astype(float)):
        assert class_indices(given).tolist() == [[0, 1], [-1, 1]]
    assert class_indices(np.ma.masked_array([True, False], [False, True])).tolist() == [1, -1]


def test_rows_of_different_lengths_are_no_array():
    with pytest.raises(InputError, match="labels are no array"):
        class_indices([[0, 1], [0]])
