import numpy as np
import pytest

from multirater.errors import InputError
from multirater.samples import load_digits


@pytest.mark.parametrize(("split", "count"), [("train", 3000), ("test", 1000)])
def test_counts_types_and_ranges(split, count):
    digits = load_digits(split)
    assert digits.images.shape == digits.masks.shape == (count, 28, 28)
    assert digits.classes.shape == (count,)
    assert digits.images.dtype == np.uint8
    assert digits.masks.dtype == digits.classes.dtype == np.int16
    assert set(np.unique(digits.classes)) == set(range(10))


def test_masks_are_the_images_thresholded_at_half():
    digits = load_digits("test")
    np.testing.assert_array_equal(digits.masks, (digits.images / 255 > 0.5).astype(int))
    assert digits.masks.reshape(1000, -1).any(axis=1).all()


def test_digits_come_in_the_order_of_mnist():
    # The first labels of both files of MNIST, as printed in countless tutorials.
    assert load_digits("train").classes[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert load_digits("test").classes[:10].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]


def test_unknown_split_is_named():
    with pytest.raises(InputError, match="validation"):
        load_digits("validation")
