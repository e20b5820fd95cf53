"""Brush strokes of Label Studio."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from multirater.errors import InputError
from multirater.io.brush_rle import decode_brush, encode_brush

WRITTEN_BY_LABEL_STUDIO_SDK = [
    (["011", "100", "001", "111"], [0, 0, 0, 48, 57, 27, 252, 96, 22, 255, 239, 128, 95, 255, 0]),
    (
        ["11001", "11101", "10100"],
        [0, 0, 0, 60, 57, 27, 252, 255, 243, 128, 95, 255, 140, 2, 127, 248, 192, 35, 255, 156, 0],
    ),
]


@pytest.mark.parametrize(("rows", "rle"), WRITTEN_BY_LABEL_STUDIO_SDK)
def test_what_the_converter_of_label_studio_writes(rows, rle):
    mask = np.array([[letter == "1" for letter in row] for row in rows])
    np.testing.assert_array_equal(decode_brush(rle, mask.shape), mask)


@given(hnp.arrays(np.bool_, st.tuples(st.integers(1, 30), st.integers(1, 30))))
def test_every_mask_comes_back(mask):
    np.testing.assert_array_equal(decode_brush(encode_brush(mask), mask.shape), mask)


@given(hnp.arrays(np.bool_, st.tuples(st.integers(1, 30), st.integers(1, 30))))
def test_both_ways_with_the_converter_of_label_studio(mask):
    """Where its SDK is installed, which pins an older OpenCV than what is tested here."""
    brush = pytest.importorskip("label_studio_sdk.converter.brush")
    theirs = brush.encode_rle(np.repeat(mask.ravel().astype(np.uint8) * 255, 4))
    np.testing.assert_array_equal(decode_brush(theirs, mask.shape), mask)
    ours = brush.decode_rle(encode_brush(mask)).reshape(*mask.shape, 4)
    np.testing.assert_array_equal(ours[..., 3] > 0, mask)


def test_runs_longer_than_the_largest_count():
    mask = np.zeros((300, 200), dtype=bool)
    mask[10:290, :] = True
    np.testing.assert_array_equal(decode_brush(encode_brush(mask), mask.shape), mask)


@given(st.integers(0, 100), st.integers(1, 200))
def test_cut_off_or_of_another_size_is_refused(kept, seed):
    mask = np.random.default_rng(seed).random((9, 11)) < 0.5
    whole = encode_brush(mask)
    with pytest.raises(InputError, match="RLE"):
        decode_brush(whole[: min(kept, len(whole) - 2)], mask.shape)
    with pytest.raises(InputError, match="RLE of 99 pixels"):
        decode_brush(whole, (9, 12))


@pytest.mark.parametrize("rle", [None, "abc", [1, 2, 300], [[1]], {"a": 1}])
def test_what_is_no_rle_is_refused(rle):
    with pytest.raises(InputError):
        decode_brush(rle, (2, 2))
