"""Masks in CVAT's notation."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from multirater.errors import InputError
from multirater.io.cvat_masks import decode_mask, encode_mask


@given(hnp.arrays(np.bool_, st.tuples(st.integers(1, 20), st.integers(1, 20))))
def test_every_mask_comes_back(mask):
    assume(mask.any())
    told = encode_mask(mask)
    box = tuple(int(told[key]) for key in ("left", "top", "width", "height"))
    np.testing.assert_array_equal(decode_mask(told["rle"], box, mask.shape), mask)


@pytest.mark.parametrize(
    ("counts", "box", "told"),
    [
        ("1, 2", (0, 0, 2, 2), "RLE of 3 pixels"),
        ("1, x", (0, 0, 2, 1), "has counts '1, x'"),
        ("-1, 5", (0, 0, 2, 2), "RLE of 4 pixels"),
        ("0, 4", (3, 0, 2, 2), "has a box at 3, 0"),
    ],
)
def test_counts_that_do_not_fit(counts, box, told):
    with pytest.raises(InputError, match=told):
        decode_mask(counts, box, (4, 4))
