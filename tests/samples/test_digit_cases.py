"""The digits as a data set."""

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io import survey
from multirater.samples import digits_dataset, load_digits


def test_splits_names_and_content():
    data = digits_dataset(n_train=3, n_test=2)
    assert [(case.name, case.split) for case in data] == [
        ("train-0000", "train"),
        ("train-0001", "train"),
        ("train-0002", "train"),
        ("test-0000", "test"),
        ("test-0001", "test"),
    ]
    test = load_digits("test")
    assert np.array_equal(data["test-0001"].read_image().array[0], test.images[1])
    assert np.array_equal(data["test-0001"].read_truth().array, test.masks[1])
    assert data.classes.names == ("background", "digit")
    assert data.raters == ()
    survey(data)


def test_all_digits():
    data = digits_dataset()
    assert (len(data.split("train")), len(data.split("test"))) == (3000, 1000)
    assert len(digits_dataset(n_train=9999, n_test=0)) == 3000


def test_no_digits_at_all():
    with pytest.raises(InputError, match="empty"):
        digits_dataset(n_train=0, n_test=0)
