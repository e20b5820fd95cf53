"""Which pixels of a label file are ground: transparent, or of a stated value."""

import numpy as np
import pytest

from multirater.io.formats.ground import holds, without_opacity


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_full_opacity_is_dropped_and_the_values_kept(kind):
    array = np.stack([np.arange(4).reshape(2, 2), np.full((2, 2), np.iinfo(kind).max)]).astype(kind)
    for may in (False, True):
        found, is_transparent = without_opacity(array, may_be_transparent=may)
        assert found.tolist() == [[[0, 1], [2, 3]]]
        assert not is_transparent


def test_transparency_counts_only_where_it_may():
    array = np.array([[[7, 9]], [[0, 255]]], np.uint8)
    assert without_opacity(array, may_be_transparent=False)[0] is array
    found, is_transparent = without_opacity(array, may_be_transparent=True)
    assert found.tolist() == [[[-1, 9]]]
    assert is_transparent


def test_a_value_beyond_255_is_no_colour_in_deep_files():
    deep = np.array([[[65535, 0]]] * 3, np.uint16)
    assert holds(deep, 65535).tolist() == [[True, False]]


def test_all_channels_have_to_hold_the_value():
    assert holds(np.array([[[0, 0]], [[0, 5]]]), 0).tolist() == [[True, False]]
