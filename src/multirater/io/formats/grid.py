"""Voxel grids: from step vectors to a `Geometry` and back, with or without a slice axis.

A *step* is the vector, in LPS millimetres, from one voxel to the next along an array axis; a grid's
steps are a matrix with one column per array axis.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multirater.errors import Fault, InputError
from multirater.types import Geometry, Image

GridShape = tuple[tuple[int, ...], Geometry]
"""The size of a grid, (*space), and where it lies."""

WHOLE_VOXEL = 0.05
"""How far, in voxels, a voxel may be from its place on another grid to count as being there."""


FINEST, COARSEST = 1e-9, 1e9
"""Millimetres a voxel may be wide: from far below an atom to a thousand kilometres."""


def geometry_from_steps(steps: ArrayLike, origin: ArrayLike) -> Geometry:
    """Build the geometry of a grid from its step vectors; the axes need not be perpendicular.

    Args:
        steps: `steps[w][a]`, world component w (LPS, mm) of one step along array axis a.
        origin: world position (x, y[, z]) of the first voxel's centre, in LPS mm.

    Example:
        >>> geometry_from_steps([[0, 2], [0.5, 0]], [7, 8])
        Geometry(spacing=(0.5, 2.0), origin=(7.0, 8.0), direction=((0.0, 1.0), (1.0, 0.0)))
    """
    matrix, first = np.asarray(steps, dtype=float), np.asarray(origin, dtype=float)
    spacing = np.linalg.norm(matrix, axis=0)
    can_be = ((spacing >= FINEST) & (spacing <= COARSEST)).all()
    usable = np.isfinite(matrix).all() and np.isfinite(first).all() and can_be
    # Adding zero turns -0.0, which flips of axes leave behind, into 0.0.
    direction = matrix / spacing + 0.0 if usable else matrix
    if not usable or abs(np.linalg.det(direction)) < 1e-6:
        raise InputError(
            Fault(
                f"has an unusable geometry: steps {matrix.tolist()}, origin {first.tolist()}",
                expected=f"axes that span the space, with steps of {FINEST:g} to {COARSEST:g} mm",
                fix="correct the spacing, origin and direction in the file's header",
            )
        )
    rows = tuple(tuple(row) for row in direction.tolist())
    return Geometry(tuple(spacing.tolist()), tuple((first + 0.0).tolist()), rows)


def steps_of(geometry: Geometry) -> NDArray[np.float64]:
    """Return the grid's step vectors, one column per array axis."""
    units, spacing = np.asarray(geometry.direction), np.asarray(geometry.spacing)
    return np.asarray(units * spacing, dtype=np.float64)


def is_step(found: object) -> bool:
    """Whether something is a distance between pixels that an image can have, in millimetres."""
    if isinstance(found, bool) or not isinstance(found, int | float | np.number):
        return False
    return bool(FINEST <= found <= COARSEST)


def is_default(geometry: Geometry) -> bool:
    """Whether the geometry says no more than a file without geometry does."""
    return geometry == Geometry.default(geometry.ndim)


def geometry_to_json(geometry: Geometry) -> dict[str, Any]:
    """Return the geometry as plain lists, for formats that keep it as text."""
    return {
        "spacing": list(geometry.spacing),
        "origin": list(geometry.origin),
        "direction": [list(row) for row in geometry.direction],
    }


def geometry_from_json(text: Mapping[str, Any]) -> Geometry:
    """Read what `geometry_to_json` made.

    Example:
        >>> geometry_from_json(geometry_to_json(Geometry.default(2))) == Geometry.default(2)
        True
    """
    try:
        spacing = tuple(float(value) for value in text["spacing"])
        origin = tuple(float(value) for value in text["origin"])
        direction = tuple(tuple(float(value) for value in row) for row in text["direction"])
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged_geometry() from error
    if not len(spacing) == len(origin) == len(direction) or len(spacing) not in (2, 3):
        raise _damaged_geometry()
    if any(len(row) != len(spacing) for row in direction):
        raise _damaged_geometry()
    geometry = Geometry(spacing, origin, direction)
    geometry_from_steps(steps_of(geometry), origin)  # which refuses what spans no space
    return geometry


def _damaged_geometry() -> InputError:
    return InputError(
        Fault(
            "holds a geometry that cannot be understood",
            expected="spacing, origin and direction for 2 or 3 axes",
            fix="write the file again, or remove the geometry from its metadata",
        )
    )


def size_text(space: Sequence[int]) -> str:
    """Return a size in words: `12 x 10`."""
    return " x ".join(map(str, space))


def fit_ndim(space: Sequence[int], geometry: Geometry, ndim: int | None) -> GridShape:
    """Give a grid `ndim` axes by adding a slice axis, or dropping an axis of size one.

    A dropped slice keeps its place in the world where it lies in the x-y plane; otherwise only its
    spacing is kept, because a 2-D world has no room for the rest.
    """
    if ndim not in (None, 2, 3):
        raise InputError(Fault(f"ndim is {ndim}", expected="2 or 3", fix="pass 2 or 3"))
    if len(space) != geometry.ndim:
        raise _damaged_geometry()
    if ndim is None or ndim == geometry.ndim:
        return tuple(space), geometry
    if ndim == 3:
        return (1, *space), lifted(geometry)
    if 1 not in space:
        raise InputError(
            Fault(
                f"is 3-D, {size_text(space)}",
                expected="a 2-D image",
                fix="take one slice of it, or treat its case as 3-D",
            )
        )
    dropped = list(space).index(1)
    kept = [axis for axis in range(3) if axis != dropped]
    return tuple(space[axis] for axis in kept), _in_plane(geometry, kept)


def lifted(geometry: Geometry) -> Geometry:
    """Return a 2-D geometry as that of a slice of 1 mm at z = 0."""
    direction = tuple((0.0, *row) for row in geometry.direction)
    return Geometry(
        (1.0, *geometry.spacing), (*geometry.origin, 0.0), (*direction, (1.0, 0.0, 0.0))
    )


def _in_plane(geometry: Geometry, kept: Sequence[int]) -> Geometry:
    direction = np.asarray(geometry.direction)[:, list(kept)]
    spacing = tuple(geometry.spacing[axis] for axis in kept)
    if np.abs(direction[2]).max() > 1e-3:
        return Geometry(spacing, (0.0, 0.0), Geometry.default(2).direction)
    steps = direction[:2] / np.linalg.norm(direction[:2], axis=0) * np.asarray(spacing)
    return geometry_from_steps(steps, geometry.origin[:2])


def fit_image(array: NDArray[Any], geometry: Geometry, ndim: int | None) -> Image:
    """Make an image of (channels, *space) with `ndim` spatial axes, in the machine's byte order."""
    space, fitted = fit_ndim(array.shape[1:], geometry, ndim)
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    return Image(np.ascontiguousarray(native.reshape(native.shape[0], *space)), fitted)


def onto_grid(image: Image, space: Sequence[int], geometry: Geometry) -> Image:
    """Put an image on another grid whose voxels lie at the same places, zero elsewhere.

    The grids may differ by whole voxels, and in the order and sense of their axes; nothing is
    interpolated.

    Raises:
        InputError: the voxels of the one grid are not voxels of the other, or part of what was
            drawn lies outside the other grid.
    """
    axes, first = _whole_voxel_map(image, space, geometry)
    order = np.abs(axes).argmax(axis=1)
    sense = axes[np.arange(len(axes)), order]
    turned = image.array.transpose(0, *(order + 1))
    turned = turned[(slice(None), *(slice(None, None, step) for step in sense.tolist()))]
    size = np.asarray(turned.shape[1:])
    start = np.where(sense > 0, first, first - (size - 1))
    low = np.clip(start, 0, space)
    high = np.clip(start + size, low, space)
    inside = turned[(slice(None), *map(slice, low - start, high - start))]
    if np.count_nonzero(inside) < np.count_nonzero(turned):
        raise InputError(
            Fault(
                "has labels outside the image",
                expected=f"labels within {size_text(space)} voxels",
                fix="give the image the labels were drawn on",
            )
        )
    result = np.zeros((image.array.shape[0], *space), dtype=image.array.dtype)
    result[(slice(None), *map(slice, low, high))] = inside
    return Image(result, geometry)


def _whole_voxel_map(
    image: Image, space: Sequence[int], geometry: Geometry
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return `axes`, `first` such that voxel i of the image is voxel `axes @ i + first` there."""
    turn = np.linalg.solve(steps_of(geometry), steps_of(image.geometry))
    shift = np.asarray(image.geometry.origin) - np.asarray(geometry.origin)
    first = np.linalg.solve(steps_of(geometry), shift)
    for axis, size in enumerate(image.space):
        if size == 1:  # how far the next slice would be does not matter
            turn[:, axis] /= np.abs(turn[:, axis]).max()
    axes = np.rint(turn).astype(np.int64)
    is_permutation = all((np.abs(axes).sum(axis=i) == 1).all() for i in (0, 1))
    drift = np.abs(turn - axes) @ np.asarray(image.space) + np.abs(first - np.rint(first))
    if not is_permutation or drift.max() > WHOLE_VOXEL:
        raise InputError(
            Fault(
                f"lies on another grid, not whole voxels away: {image.geometry}",
                expected=f"the grid of {size_text(space)} voxels with {geometry}",
                fix="resample the labels onto the image's grid, or give the image they belong to",
            )
        )
    return axes, np.rint(first).astype(np.int64)


def size_unit(geometry: Geometry | None, space: tuple[int, ...]) -> tuple[float, str]:
    """Return the size of a pixel and its unit: px, mm² or mm³.

    Example:
        >>> size_unit(Geometry((2.0, 0.5), (0.0, 0.0), ((0.0, 1.0), (1.0, 0.0))), (9, 9))
        (1.0, 'mm²')
    """
    if geometry is None or is_default(geometry):
        return 1.0, "px"
    return float(np.prod(geometry.spacing)), {2: "mm²", 3: "mm³"}.get(len(space), "px")
