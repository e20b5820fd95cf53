"""Voxel grids: steps, slices, and whole-voxel moves, held against world coordinates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multirater.errors import InputError
from multirater.io.formats.grid import (
    fit_image,
    fit_ndim,
    geometry_from_json,
    geometry_from_steps,
    geometry_to_json,
    is_default,
    onto_grid,
    steps_of,
)
from multirater.types import Geometry, Image

SOLID = Geometry(
    (3.0, 0.5, 0.75), (-20.0, 30.0, 40.0), ((0.0, -0.6, 0.8), (0.0, 0.8, 0.6), (1.0, 0.0, 0.0))
)


def test_steps_and_back():
    read = geometry_from_steps(steps_of(SOLID), SOLID.origin)
    np.testing.assert_allclose(read.spacing, SOLID.spacing)
    np.testing.assert_allclose(read.direction, SOLID.direction)
    assert read.origin == SOLID.origin


@pytest.mark.parametrize(
    "steps",
    [
        *(np.zeros((3, 3)), np.ones((3, 3)), np.full((3, 3), np.nan), np.diag([1.0, 1.0, 0.0])),
        *(np.eye(3) * 1e-30, np.eye(3) * 1e30),
    ],
)
def test_grids_that_span_no_space_are_refused(steps):
    with pytest.raises(InputError, match="unusable geometry"):
        geometry_from_steps(steps, np.zeros(3))


def test_no_negative_zeros():
    geometry = geometry_from_steps(-np.eye(2), [-0.0, 1.0])
    assert "-0.0" not in str(geometry)


def test_text_and_back():
    assert geometry_from_json(geometry_to_json(SOLID)) == SOLID
    assert is_default(Geometry.default(2))
    assert not is_default(SOLID)


def test_a_slice_is_lifted_and_dropped():
    flat = Geometry((0.5, 0.75), (3.0, 4.0), ((0.6, 0.8), (-0.8, 0.6)))
    space, solid = fit_ndim((5, 6), flat, 3)
    assert space == (1, 5, 6)
    assert solid.spacing == (1.0, 0.5, 0.75)
    space, back = fit_ndim(space, solid, 2)
    assert space == (5, 6)
    np.testing.assert_allclose(back.direction, flat.direction)
    assert (back.spacing, back.origin) == (flat.spacing, flat.origin)


def test_any_axis_of_size_one_may_be_dropped():
    array = np.arange(30).reshape(1, 5, 1, 6)
    image = fit_image(
        array, Geometry((3.0, 1.0, 0.5), (0.0,) * 3, Geometry.default(3).direction), 2
    )
    np.testing.assert_array_equal(image.array, array.reshape(1, 5, 6))
    assert image.geometry == Geometry((3.0, 0.5), (0.0, 0.0), Geometry.default(2).direction)


def test_unusable_wishes_are_told():
    with pytest.raises(InputError, match="3-D, 2 x 3 x 4"):
        fit_ndim((2, 3, 4), SOLID, 2)
    with pytest.raises(InputError, match="ndim is 4"):
        fit_ndim((2, 3, 4), SOLID, 4)


@st.composite
def moves(draw):
    """Draw a grid like SOLID, with axes permuted and turned over and moved by whole voxels."""
    order = draw(st.permutations(range(3)))
    sense = draw(st.tuples(*[st.sampled_from([-1, 1])] * 3))
    move = draw(st.tuples(*[st.integers(-4, 4)] * 3))
    size = draw(st.tuples(*[st.integers(4, 9)] * 3))
    steps = steps_of(SOLID)
    geometry = geometry_from_steps(
        steps[:, list(order)] * sense, np.asarray(SOLID.origin) + steps @ move
    )
    return size, geometry


@settings(max_examples=40, deadline=None)
@given(moves(), st.integers(0, 99))
def test_labels_stay_at_their_place_in_the_world(grid, seed):
    rng = np.random.default_rng(seed)
    labels = np.zeros((3, 4, 5), np.uint8)
    labels.ravel()[rng.choice(60, 3)] = (1, 2, 3)
    image = Image(labels[None], SOLID)
    space, geometry = grid
    meant = {}
    for index in np.argwhere(labels):
        world = steps_of(SOLID) @ index + SOLID.origin
        there = np.linalg.solve(steps_of(geometry), world - geometry.origin)
        meant[tuple(np.rint(there).astype(int).tolist())] = labels[tuple(index)]
    if any(not 0 <= i < size for place in meant for i, size in zip(place, space, strict=True)):
        with pytest.raises(InputError, match="outside the image"):
            onto_grid(image, space, geometry)
    else:
        result = onto_grid(image, space, geometry).array[0]
        assert result.shape == space
        assert {tuple(i): result[tuple(i)] for i in np.argwhere(result).tolist()} == meant


def test_an_empty_drawing_fits_anywhere_on_the_lattice():
    image = Image(np.zeros((1, 3, 4, 5), np.uint8), SOLID)
    far = geometry_from_steps(
        steps_of(SOLID), np.asarray(SOLID.origin) + steps_of(SOLID)[:, 0] * 50
    )
    assert onto_grid(image, (2, 2, 2), far).array.shape == (1, 2, 2, 2)


def test_a_slice_finds_its_place_whatever_its_thickness():
    image = Image(np.ones((1, 1, 2, 2), np.uint8), Geometry.default(3))
    thick = Geometry((5.0, 1.0, 1.0), (0.0, 0.0, -10.0), Geometry.default(3).direction)
    assert onto_grid(image, (4, 2, 2), thick).array[0].sum(axis=(1, 2)).tolist() == [0, 0, 4, 0]


def test_rounding_is_forgiven_and_half_voxels_are_not():
    image = Image(np.ones((1, 3, 4, 5), np.uint8), SOLID)
    for shift, fits in ((0.01, True), (0.2, False)):
        moved = Geometry(SOLID.spacing, (-20.0, 30.0, 40.0 + 3 * shift), SOLID.direction)
        if fits:
            assert onto_grid(image, (3, 4, 5), moved).array.all()
        else:
            with pytest.raises(InputError, match="another grid"):
                onto_grid(image, (3, 4, 5), moved)
