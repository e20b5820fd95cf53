"""A curve through the middle of a shape, from a point inside to its edge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from multirater.extras import extra
from multirater.simulate.shape import Field, Mask, depth


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
    with extra():
        from skimage.graph import MCP_Geometric

    # Here the border of the image counts as an outline: nobody scribbles along it.
    depths = depth(np.pad(shape, 1), spacing)[(slice(1, -1),) * shape.ndim]
    cost = np.where(shape, 1.0 / np.maximum(depths, spacing.min()) ** 2, -1.0)
    search = MCP_Geometric(cost, sampling=tuple(spacing))
    reached = np.isfinite(search.find_costs([tuple(start)])[0])
    ends = np.argwhere(_edge(shape) & reached)
    away = (((ends - start) * spacing) ** 2).sum(axis=1)
    far = ends[away >= np.median(away)]
    return np.asarray(search.traceback(tuple(far[int(edge * len(far))])))


def _edge(shape: Mask) -> Mask:
    """Return the pixels of the shape that touch what is outside of it, or else the border."""
    from scipy.ndimage import binary_erosion

    inner = binary_erosion(shape, border_value=not shape.all())
    return np.asarray(shape & ~inner)
