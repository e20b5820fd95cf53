import numpy as np
import pytest

from multirater.io.formats.grid import geometry_from_steps, steps_of
from multirater.io.importers.recipes.slice_grid import grid_around, resample_image, resample_labels
from multirater.types import Image, Labels

STEPS = np.array([[0.0, 0.1, 0.7], [0.0, 0.7, -0.1], [2.5, 0.0, 0.0]])  # turned in plane
GEOMETRY = geometry_from_steps(STEPS, [-40.0, 25.0, -100.0])
SPACE = (7, 60, 64)


def positions(geometry, space):
    """World positions (x, y, z) of all voxels, as (3, *space)."""
    steps, origin = steps_of(geometry), np.asarray(geometry.origin)
    return np.tensordot(steps, np.indices(space), 1) + origin[:, None, None, None]


def labels_of(*boxes):
    """One rater per box of (z, y, x) slices."""
    array = np.zeros((len(boxes), *SPACE), dtype=np.int16)
    for rater, box in enumerate(boxes):
        array[(rater, *box)] = 1
    return Labels(array, tuple(map(str, range(len(boxes)))), GEOMETRY)


@pytest.fixture
def labels():
    first = (slice(2, 4), slice(20, 31), slice(30, 35))
    second = (slice(3, 5), slice(26, 41), slice(30, 33))
    return labels_of(first, second)


@pytest.mark.parametrize("isotropic", [False, True])
def test_interpolation_keeps_a_function_of_the_world_that_is_linear(labels, isotropic):
    grid = grid_around(labels, size=12, spacing_mm=1.0, isotropic=isotropic)

    def function(world):
        return 3.0 * world[0] - 2.0 * world[1] + 0.5 * world[2]

    image = Image(function(positions(GEOMETRY, SPACE))[None], GEOMETRY)
    expected = function(positions(grid.geometry, (grid.n_slices, 12, 12)))
    found = resample_image(image, grid, outside=-1000)
    assert np.allclose(found, expected, atol=1e-3)


def test_slices_begin_and_end_with_what_was_drawn_and_have_its_middle(labels):
    grid = grid_around(labels, size=11, spacing_mm=1.0, isotropic=False)
    assert grid.n_slices == 3
    assert np.allclose(grid.geometry.spacing, (2.5, 1.0, 1.0))
    middle = steps_of(GEOMETRY) @ [2, 30, 32] + GEOMETRY.origin
    assert np.allclose(steps_of(grid.geometry) @ [0, 5, 5] + grid.geometry.origin, middle)


def test_one_millimetre_between_slices_too(labels):
    grid = grid_around(labels, size=11, spacing_mm=1.0, isotropic=True)
    assert grid.n_slices == 6  # at 0, 1, ..., 5 mm
    assert np.allclose(grid.geometry.spacing, 1.0)


def test_a_single_slice_stays_one():
    drawn = labels_of((slice(3, 4), slice(9, 10), slice(9, 10)))
    assert grid_around(drawn, size=4, spacing_mm=1.0, isotropic=True).n_slices == 1


def test_labels_are_those_of_the_nearest_voxel_and_missing_beyond(labels):
    grid = grid_around(labels, size=60, spacing_mm=1.0, isotropic=False)
    found = resample_labels(labels, grid)
    world = positions(grid.geometry, (3, 60, 60)).reshape(3, -1)
    index = np.linalg.solve(STEPS, world - np.asarray(GEOMETRY.origin)[:, None])
    nearest = np.rint(index).astype(int)
    is_inside = ((nearest >= 0) & (nearest < np.array(SPACE)[:, None])).all(axis=0)
    # Halfway between voxels either is the nearest.
    is_clear = (np.abs(index % 1 - 0.5) > 1e-6).all(axis=0)
    expected = np.full((2, world.shape[1]), -1)
    expected[:, is_inside] = labels.array[(slice(None), *nearest[:, is_inside])]
    assert (found.reshape(2, -1)[:, is_clear] == expected[:, is_clear]).all()
    assert set(np.unique(found)) == {-1, 0, 1}


def test_the_plane_of_a_slice_has_its_spacing_and_place(labels):
    grid = grid_around(labels, size=20, spacing_mm=2.0, isotropic=False)
    plane = grid.plane(2)
    assert np.allclose(plane.spacing, (2.0, 2.0))
    corner = steps_of(grid.geometry) @ [2, 0, 0] + grid.geometry.origin
    assert np.allclose(plane.origin, corner[:2])


def test_nothing_drawn_has_no_slices():
    empty = Labels(np.zeros((2, *SPACE), dtype=np.int16), ("a", "b"), GEOMETRY)
    assert grid_around(empty, size=4, spacing_mm=1, isotropic=False) is None
