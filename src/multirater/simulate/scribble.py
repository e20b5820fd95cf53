"""A curve through the middle of a shape, from a point inside to its edge."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from multirater.simulate.shape import Field, Mask, depth

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def scribble_order(
    shape: Mask, start: NDArray[np.intp], edge: float, spacing: NDArray[np.float64]
) -> Field:
    """Return in which order a scribble covers the shape, lowest first.

    First come the pixels of the curve, from its end on the edge back to its start; then those
    beside it, nearest first: the pen gets broader when the curve alone is too short.

    Args:
        shape: (*space), 2-D or 3-D.
        start: index of a pixel of the shape.
        edge: where the curve ends, as a fraction of the farther half of the edge pixels that can be
            reached, counted in array order.
        spacing: voxel size in millimetres per array axis.
    """
    path = _path(shape, start, edge, spacing)
    line = np.zeros_like(shape)
    line[tuple(path.T)] = True
    order = depth(~line, spacing)
    order[tuple(path.T)] = -np.arange(len(path), dtype=float)
    return order


def _path(
    shape: Mask, start: NDArray[np.intp], edge: float, spacing: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Return the pixels (n, axes) of a curve from `start` to the edge that prefers the middle."""
    from scipy.sparse.csgraph import dijkstra

    # Here the border of the image counts as an outline: nobody scribbles along it.
    depths = depth(np.pad(shape, 1), spacing)[(slice(1, -1),) * shape.ndim]
    cost = 1.0 / np.maximum(depths, spacing.min()) ** 2
    places = np.argwhere(shape)
    first = int(np.flatnonzero((places == start).all(1))[0])
    steps = _steps(places, cost[shape], shape, spacing)
    away, before = dijkstra(steps, directed=False, indices=first, return_predecessors=True)
    ends = np.flatnonzero(_edge(shape)[shape] & np.isfinite(away))
    distance = (((places[ends] - start) * spacing) ** 2).sum(axis=1)
    far = ends[distance >= np.median(distance)]
    path = [int(far[int(edge * len(far))])]
    while path[-1] != first:
        path.append(int(before[path[-1]]))
    return places[path[::-1]]


def _steps(
    places: NDArray[np.intp], cost: Field, shape: Mask, spacing: NDArray[np.float64]
) -> csr_array:
    """Return what it costs to go from a place to one that touches it, each way listed once.

    The length of the step in millimetres, times the mean cost of the two pixels.
    """
    from scipy.sparse import csr_array

    number = np.full(np.array(shape.shape) + 2, -1)
    number[tuple((places + 1).T)] = np.arange(len(places))
    ahead = [way for way in product((-1, 0, 1), repeat=shape.ndim) if way > (0,) * shape.ndim]
    parts = []
    for way in ahead:
        there = number[tuple((places + 1 + way).T)]
        here = np.flatnonzero(there >= 0)
        there = there[here]
        length = float(np.linalg.norm(way * spacing))
        parts.append((here, there, length * (cost[here] + cost[there]) / 2))
    rows, columns, values = (np.concatenate(each) for each in zip(*parts, strict=True))
    return csr_array((values, (rows, columns)), shape=(len(places), len(places)))


def _edge(shape: Mask) -> Mask:
    """Return the pixels of the shape that touch what is outside of it, or else the border."""
    from scipy.ndimage import binary_erosion

    inner = binary_erosion(shape, border_value=not shape.all())
    return np.asarray(shape & ~inner)
