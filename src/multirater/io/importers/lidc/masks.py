"""From the outlines of a nodule to masks, all on one crop of the scan's grid."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.extras import extra
from multirater.io.importers.lidc.nodules import Nodule
from multirater.io.importers.lidc.scan import Contour, NoduleDrawing, slice_of, slice_spacing
from multirater.types import Geometry

with extra():
    from skimage.draw import polygon


@dataclass(frozen=True, eq=False)
class Crop:
    """A box of the scan's voxels.

    Attributes:
        heights: z of its slices in mm, in the order of the first array axis.
        corner: row and column, in the slices, of its first pixel.
        size: rows and columns.
        geometry: 3-D.
    """

    heights: NDArray[np.float64]
    corner: tuple[int, int]
    size: tuple[int, int]
    geometry: Geometry


@dataclass(frozen=True)
class Extent:
    """The box around all outlines of a nodule: first and last row, column and height, inclusive."""

    rows: tuple[int, int]
    columns: tuple[int, int]
    heights: tuple[float, float]


def extent_of(nodule: Nodule) -> Extent:
    """Return the box around what all readers drew."""
    contours = [
        contour
        for drawings in nodule.drawings.values()
        for drawing in drawings
        for contour in drawing.contours
    ]
    points = np.concatenate([contour.points for contour in contours])
    (left, top), (right, bottom) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
    heights = [contour.z for contour in contours]
    return Extent((top, bottom), (left, right), (min(heights), max(heights)))


def crop_of(nodule: Nodule, margin_mm: float) -> Crop:
    """Return the box around what all readers drew plus a margin, as far as outlines tell.

    x and y have their origin at the first pixel of the slices, because only the CT knows where in
    the world that is; z is that of the scan.
    """
    extent, heights = extent_of(nodule), nodule.heights
    first, last = (slice_of(z, heights) for z in extent.heights)
    covered = heights[first : last + 1]
    spacing = slice_spacing(covered if len(covered) > 1 else heights)
    beyond = np.arange(1, ceil(margin_mm / spacing) + 1) * spacing
    slices = np.concatenate([covered[0] - beyond[::-1], covered, covered[-1] + beyond])
    pixel = nodule.pixel_spacing or 1.0
    margin = ceil(margin_mm / pixel)
    corner = (extent.rows[0] - margin, extent.columns[0] - margin)
    size = (extent.rows[1] + margin + 1 - corner[0], extent.columns[1] + margin + 1 - corner[1])
    origin = (corner[1] * pixel, corner[0] * pixel, float(slices[0]))
    geometry = Geometry((spacing, pixel, pixel), origin, Geometry.default(3).direction)
    return Crop(slices, corner, size, geometry)


def fill_mask(drawings: Iterable[NoduleDrawing], crop: Crop) -> NDArray[np.int16]:
    """Return what a reader drew as (z, y, x): 1 inside, 0 outside and on the outlines."""
    mask = np.zeros((len(crop.heights), *crop.size), dtype=bool)
    for drawing in drawings:
        mask |= _fill_drawing(drawing, crop)
    return mask.astype(np.int16)


def _fill_drawing(drawing: NoduleDrawing, crop: Crop) -> NDArray[np.bool_]:
    mask = np.zeros((len(crop.heights), *crop.size), dtype=bool)
    for contour in sorted(drawing.contours, key=lambda each: not each.includes):
        at = _slice_in(crop, contour)
        points = contour.points[:, ::-1] - np.array(crop.corner)
        if contour.includes:
            mask[at] |= fill_outline(points, crop.size)
        else:  # the outline of a hole is cut out with it
            mask[at] &= ~fill_outline(points, crop.size, with_outline=True)
    return mask


def _slice_in(crop: Crop, contour: Contour) -> int:
    at = slice_of(contour.z, crop.heights)
    off = abs(float(crop.heights[at]) - contour.z)
    if off <= 0.5 * crop.geometry.spacing[0]:
        return at
    raise InputError(
        Fault(
            f"an outline at z = {contour.z:g} mm is {off:g} mm from the nearest slice",
            expected="a slice at the height of every outline",
            fix="get the missing slices of the series",
        )
    )


def fill_outline(
    points: NDArray[np.int64], size: tuple[int, int], *, with_outline: bool = False
) -> NDArray[np.bool_]:
    """Return the pixels inside a closed outline, without those on it unless asked for.

    Args:
        points: (n_points, 2), rows and columns, of the corners; the last is joined to the first.
        size: rows and columns of the result; all points lie within.
        with_outline: also the pixels whose centre lies on the outline.

    Example:
        >>> square = np.array([[0, 0], [0, 3], [3, 3], [3, 0]])
        >>> fill_outline(square, (4, 4)).astype(int)
        array([[0, 0, 0, 0],
               [0, 1, 1, 0],
               [0, 1, 1, 0],
               [0, 0, 0, 0]])
    """
    mask = np.zeros(size, dtype=bool)
    mask[polygon(points[:, 0], points[:, 1], size)] = True
    mask[tuple(_on_outline(points).T)] = with_outline
    return mask


def _on_outline(points: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return all pixel centres exactly on the edges, also where neighbouring points are apart."""
    steps = np.roll(points, -1, axis=0) - points
    counts = np.maximum(np.gcd(steps[:, 0], steps[:, 1]), 1)
    along = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    unit = steps // counts[:, None]
    offsets: NDArray[np.int64] = along[:, None] * np.repeat(unit, counts, axis=0)
    return np.repeat(points, counts, axis=0) + offsets
