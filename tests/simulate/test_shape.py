import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import ndimage

from multirater.simulate.shape import (
    centre_line,
    depth,
    half_thickness,
    level,
    lowest,
    smooth_noise,
)

ONE = np.ones(2)


def ball(radius, ndim, spacing=1.0):
    size = int(radius / spacing) + 3
    axes = np.ogrid[(slice(-size, size + 1),) * ndim]
    return sum((axis * spacing) ** 2 for axis in axes) <= radius**2


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (np.pad(np.ones((200, 21), bool), ((0, 0), (5, 5))), 10.5 + 1),
        (ball(40, 2), 2 / 3 * 40 + 1),
        (ball(30, 3), 1 / 2 * 30 + 1),
    ],
    ids=["stroke", "disc", "ball"],
)
def test_half_thickness_has_its_closed_form(shape, expected):
    measured = half_thickness(depth(shape, np.ones(shape.ndim)))
    assert measured == pytest.approx(expected, rel=0.04)


def test_depth_is_in_millimetres():
    stroke = np.zeros((9, 9), dtype=bool)
    stroke[4] = True
    assert depth(stroke, np.array([2.5, 1.0]))[4, 4] == 2.5


def test_the_border_is_an_outline_only_when_there_is_no_other():
    half = np.zeros((8, 8), dtype=bool)
    half[:, :4] = True
    assert (depth(half, ONE)[:, 0] == 4).all()
    whole = depth(np.ones((5, 5), dtype=bool), ONE)
    assert whole[2, 2] == 3
    assert whole[0, 0] == 1


def test_level_is_negative_inside_and_positive_outside():
    shape = ball(6, 2)
    levels, unit = level(shape, ONE)
    np.testing.assert_array_equal(levels < 0, shape)
    assert unit == half_thickness(depth(shape, ONE))


@pytest.mark.parametrize("shape", [ball(6, 2), ball(5, 3), np.eye(7, dtype=bool), ball(0, 2)])
def test_centre_line_is_inside_and_connected(shape):
    line = centre_line(shape)
    assert line.any()
    assert (line <= shape).all()
    assert ndimage.label(line, np.ones((3,) * shape.ndim))[1] == 1


@given(
    hnp.arrays(float, (4, 5), elements=st.integers(0, 5)),
    hnp.arrays(bool, (4, 5)),
    st.integers(-1, 25),
)
def test_lowest_takes_the_lowest_and_breaks_ties_in_order(field, candidates, count):
    chosen = lowest(field, candidates, count)
    order = sorted(np.flatnonzero(candidates), key=lambda place: (field.flat[place], place))
    assert np.flatnonzero(chosen).tolist() == sorted(order[: max(count, 0)])


def test_noise_is_standardised_and_as_smooth_as_asked():
    fine, coarse = (smooth_noise((500, 500), width, ONE, seed=0) for width in (2.0, 8.0))
    for noise in (fine, coarse):
        assert noise.mean() == pytest.approx(0, abs=1e-9)
        assert noise.std() == pytest.approx(1)
    slope_of_fine, slope_of_coarse = (np.diff(noise, axis=0).std() for noise in (fine, coarse))
    # Neighbours of white noise filtered by a Gaussian of width w differ by 1 / (w sqrt 2).
    assert slope_of_fine == pytest.approx(1 / (2 * np.sqrt(2)), rel=0.1)
    assert slope_of_coarse == pytest.approx(1 / (8 * np.sqrt(2)), rel=0.1)


def test_noise_follows_the_spacing():
    noise = smooth_noise((200, 200), 8.0, np.array([4.0, 1.0]), seed=0)
    assert np.diff(noise, axis=0).std() > 3 * np.diff(noise, axis=1).std()


def test_noise_of_one_pixel_is_finite():
    assert smooth_noise((1, 1), 3.0, ONE, seed=0).tolist() == [[0.0]]
