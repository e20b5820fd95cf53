"""Views of a volume: axial, coronal and sagittal, the right way up as far as files tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.types import Geometry

_NAMES = ("sagittal", "coronal", "axial")
"""Views across the world's x, y and z: right to left, front to back, feet to head."""


@dataclass(frozen=True)
class Plane:
    """A way through a volume.

    Attributes:
        name: of the view.
        axes: array axes as slice, row and column.
        flipped: of those, whether they run the other way on the screen.
        aspect: height of a pixel over its width.
    """

    name: str
    axes: tuple[int, int, int]
    flipped: tuple[bool, bool, bool]
    aspect: float

    def turned(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return (..., *space) with slices, rows and columns as they are shown; a view."""
        lead = array.ndim - 3
        turned = array.transpose(*range(lead), *(lead + axis for axis in self.axes))
        steps = [slice(None, None, -1) if flip else slice(None) for flip in self.flipped]
        return turned[(..., *steps)]


def planes_of(geometry: Geometry | None) -> list[Plane]:
    """Return the three views of a volume; first the one along the first axis, as it is stored.

    The others show the head up, the front to the left and the patient's right to the left, where
    the file says how it lies; without a word of it the first axis runs from feet to head.

    Example:
        >>> [plane.name for plane in planes_of(None)]
        ['axial', 'coronal', 'sagittal']
    """
    place = geometry if geometry is not None and geometry.ndim == 3 else Geometry.default(3)
    direction = np.asarray(place.direction)
    world = _world_axes(direction)
    spacing = place.spacing
    stored = Plane(
        _NAMES[world[0]], (0, 1, 2), (False, False, False), float(spacing[1] / spacing[2])
    )
    return [stored, *(_across(axis, world, direction, spacing) for axis in (1, 2))]


def _world_axes(direction: NDArray[np.float64]) -> list[int]:
    """World axis that each array axis is nearest to, each once."""
    left = [0, 1, 2]
    world = [0, 0, 0]
    steepness = np.abs(direction)
    for axis in np.argsort(-steepness.max(0)):
        world[int(axis)] = max(left, key=lambda w: steepness[w, axis])
        left.remove(world[int(axis)])
    return world


def _across(
    axis: int, world: list[int], direction: NDArray[np.float64], spacing: tuple[float, ...]
) -> Plane:
    # Rows run along the world's z where they can, then along y: the larger of the two.
    column, row = sorted((other for other in range(3) if other != axis), key=lambda o: world[o])
    runs_up = {other: direction[world[other], other] > 0 for other in range(3)}
    # Down the screen z falls and y rises; to the right x and y rise.
    row_flip = runs_up[row] if world[row] == 2 else not runs_up[row]
    aspect = float(spacing[row] / spacing[column])
    return Plane(
        _NAMES[world[axis]], (axis, row, column), (False, row_flip, not runs_up[column]), aspect
    )
