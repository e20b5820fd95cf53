"""The rule for arrays that say nothing about their axes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multirater.errors import InputError
from multirater.io.formats.axes import channel_axis, channels_first


@pytest.mark.parametrize(
    ("shape", "ndim", "axis"),
    [
        ((2, 3), None, None),
        ((4, 64, 64), None, 0),
        ((5, 64, 64), None, None),
        ((64, 64, 4), None, 2),
        ((3, 64, 3), None, 0),
        ((9, 64, 64, 9), None, 0),
        ((64, 64, 64, 2), None, 3),
        ((3, 64, 64), 3, None),
        ((64, 64, 9), 2, 2),
        ((9, 64, 64), 2, 0),
        ((64, 64, 64), 2, 0),
        ((64, 65, 66, 9), 3, 3),
    ],
)
def test_the_rule(shape, ndim, axis):
    assert channel_axis(shape, ndim) == axis


@given(st.lists(st.integers(1, 9), min_size=2, max_size=4), st.sampled_from([None, 2, 3]))
def test_no_value_is_lost_or_moved_between_channels(shape, ndim):
    array = np.arange(np.prod(shape)).reshape(shape)
    axis = channel_axis(tuple(shape), ndim)
    result = channels_first(array, ndim)
    assert result.ndim in (3, 4)
    if axis is None:
        np.testing.assert_array_equal(result[0], array)
    else:
        for channel in range(shape[axis]):
            np.testing.assert_array_equal(result[channel], array.take(channel, axis))


@pytest.mark.parametrize("shape", [(), (5,), (1, 2, 3, 4, 5)])
def test_what_is_no_image(shape):
    with pytest.raises(InputError, match="axes"):
        channel_axis(shape)
