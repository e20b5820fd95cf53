"""Views of a volume."""

import numpy as np
import pytest

from multirater.report.planes import planes_of
from multirater.types import Geometry

HEAD, FRONT, RIGHT = 1, 2, 3


def volume(direction, shape=(6, 8, 10)):
    """A volume whose ends along the world's axes are marked."""
    array = np.zeros(shape, dtype=int)
    direction = np.asarray(direction, dtype=float)
    places = np.indices(shape).reshape(3, -1)
    world = direction @ (places - np.array(shape)[:, None] / 2 + 0.5)
    for mark, (axis, sign) in {HEAD: (2, 1), FRONT: (1, -1), RIGHT: (0, -1)}.items():
        along = sign * world[axis]
        array.ravel()[along > along.max() - 0.5] = mark
    geometry = Geometry((3.0, 1.0, 0.5), (0.0, 0.0, 0.0), tuple(map(tuple, direction.tolist())))
    return array, geometry


FLIPPED = np.eye(3)[::-1]


@pytest.mark.parametrize(
    "direction",
    [
        FLIPPED,  # z, y, x: slices from feet to head
        FLIPPED * [-1, 1, 1],  # from head to feet
        FLIPPED * [1, -1, -1],  # as NIfTI in RAS
        np.eye(3),  # x, y, z
        np.array([[0, 0, 1], [1, 0, 0], [0, -1, 0]]),
    ],
)
def test_head_up_front_and_right_to_the_left(direction):
    array, geometry = volume(direction)
    planes = planes_of(geometry)
    assert {plane.name for plane in planes} == {"axial", "coronal", "sagittal"}
    assert planes[0].axes == (0, 1, 2)
    for plane in planes[1:]:
        middle = plane.turned(array)[len(plane.turned(array)) // 2]
        if plane.name == "axial":
            assert (middle[0, 1:-1] == FRONT).all()
            assert (middle[1:-1, 0] == RIGHT).all()
        else:
            assert (middle[0, 1:-1] == HEAD).all()
            assert (middle[1:-1, 0] == (RIGHT if plane.name == "coronal" else FRONT)).all()
        row, column = plane.axes[1:]
        assert plane.aspect == geometry.spacing[row] / geometry.spacing[column]


def test_the_first_view_is_as_it_is_stored_and_oblique_files_have_three():
    turned = np.array([[0.1, 0.1, 0.99], [0.2, 0.97, -0.1], [0.97, -0.2, 0.0]])
    array, _ = volume(FLIPPED)
    geometry = Geometry((1.0, 1.0, 1.0), (0.0,) * 3, tuple(map(tuple, turned.tolist())))
    planes = planes_of(geometry)
    assert [plane.name for plane in planes] == ["axial", "coronal", "sagittal"]
    assert (planes[0].turned(array) == array).all()
    assert [plane.name for plane in planes_of(None)] == ["axial", "coronal", "sagittal"]
