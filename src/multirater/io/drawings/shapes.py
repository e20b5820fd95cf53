"""Drawings made of points: polygons, lines and dots, put on a pixel grid.

Positions are (x, y) in pixels, with (0, 0) in the upper left *corner* of the upper left pixel, as
annotation tools count; the centre of that pixel is (0.5, 0.5). A pixel belongs to a polygon when
its centre does, and to a line when its centre is no farther than half the line's width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.extras import extra
from multirater.io.formats.label_values import HIGHEST_UNDECLARED
from multirater.types import MISSING, Classes

Ring: TypeAlias = NDArray[np.float64]
"""Points (n, 2), as (x, y)."""

FAR = 1e9
"""No image reaches as far, in pixels or percent; squares of larger numbers may overflow."""


@dataclass(frozen=True, eq=False)
class Shape:
    """One thing that was drawn.

    Attributes:
        label: name of its class, or its index.
        form: `polygon`, or `line` (of one point, too: a dot).
        rings: the outline and then the holes of a polygon; of a line only the first counts.
        width: of a line, in pixels.
    """

    label: str
    form: Literal["polygon", "line"]
    rings: tuple[Ring, ...]
    width: float = 1.0


def as_ring(points: object, where: str) -> Ring:
    """Turn points as files hold them into an array; anything else is refused."""
    try:
        ring = np.array(points, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        ring = np.empty((0, 0))
    if ring.ndim != 2 or len(ring) == 0 or ring.shape[1] < 2 or not (np.abs(ring) < FAR).all():
        raise InputError(
            Fault(
                f"{where} has no points (x, y), or one that is nowhere near an image",
                expected="pairs of numbers",
                fix="mend or remove it",
            )
        )
    return ring[:, :2]


def rasterise(
    shapes: Sequence[Shape], space: tuple[int, ...], classes: Classes | None
) -> NDArray[np.int16]:
    """Draw shapes on a grid, later ones over earlier ones; what lies outside is cut off.

    Args:
        shapes: to draw.
        space: (height, width).
        classes: tell the index of a name; without them labels have to be indices.

    Returns:
        Class indices (*space), -1 where nothing is drawn.

    Raises:
        InputError: all shapes lie outside the grid, or a class is unknown.

    Example:
        >>> square = np.array([[1, 0], [3, 0], [3, 2], [1, 2]], dtype=float)
        >>> rasterise([Shape("1", "polygon", (square,))], (2, 4), None)
        array([[-1,  1,  1, -1],
               [-1,  1,  1, -1]], dtype=int16)
    """
    if len(space) != 2:
        raise InputError(
            Fault(
                f"polygons on an image of {len(space)} axes",
                expected="an image of two axes",
                fix="give drawings on volumes as label files",
            )
        )
    _require_overlap(shapes, space)
    drawn = np.full(space, MISSING, dtype=np.int16)
    for shape in shapes:
        drawn[covered(shape, space)] = class_index(shape.label, classes)
    return drawn


def covered(shape: Shape, space: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return the pixels (height, width) that a shape covers."""
    return (_polygon if shape.form == "polygon" else _line)(shape, space)


def _require_overlap(shapes: Sequence[Shape], space: tuple[int, ...]) -> None:
    """Refuse shapes that all miss the image: they were drawn on another one, or another size."""
    height, width = space
    if not shapes or any(_touches(shape, width, height) for shape in shapes):
        return
    points = np.concatenate([shape.rings[0] for shape in shapes])
    (left, top), (right, bottom) = points.min(0).tolist(), points.max(0).tolist()
    raise InputError(
        Fault(
            f"everything is drawn outside the image: x from {left:g} to {right:g}, "
            f"y from {top:g} to {bottom:g}",
            expected=f"x from 0 to {width} and y from 0 to {height}, the size of the image in "
            "pixels",
            fix="were they drawn on another resolution? Give the image they were drawn on, or "
            "scale the positions",
        )
    )


def _touches(shape: Shape, width: int, height: int) -> bool:
    reach = max(shape.width / 2, 0.5) if shape.form == "line" else 0.0
    low, high = shape.rings[0].min(0) - reach, shape.rings[0].max(0) + reach
    return bool((high > 0).all() and low[0] < width and low[1] < height)


def class_index(label: str, classes: Classes | None) -> int:
    """Return the index that a label names."""
    names = () if classes is None else classes.names
    if label in names:
        return names.index(label)
    highest = HIGHEST_UNDECLARED if classes is None else len(names) - 1
    if label.isdecimal() and len(label) < 10 and int(label) <= highest:
        return int(label)
    undeclared = f"names of classes in classes.csv, or without it indices 0 to {highest}"
    raise InputError(
        Fault(
            f"unknown class {label!r}",
            expected=f"one of {', '.join(names)}" if names else undeclared,
            fix="correct the name, or declare it in classes.csv",
        )
    )


def _polygon(shape: Shape, space: tuple[int, ...]) -> NDArray[np.bool_]:
    with extra():
        from skimage.draw import polygon2mask

    # Pixel centres have whole numbers as coordinates there, and rows come first.
    outline, *holes = (polygon2mask(space, ring[:, ::-1] - 0.5) for ring in shape.rings)
    for hole in holes:
        outline &= ~hole
    return np.asarray(outline)


def _line(shape: Shape, space: tuple[int, ...]) -> NDArray[np.bool_]:
    points = shape.rings[0]
    marked = np.zeros(space, dtype=bool)
    ends: Sequence[tuple[Ring, Ring]] = list(pairwise(points))
    for start, end in ends or [(points[0], points[0])]:
        _mark_segment(marked, start, end, shape.width / 2)
    return marked


def _mark_segment(marked: NDArray[np.bool_], start: Ring, end: Ring, reach: float) -> None:
    """Mark the pixels whose centres are no farther than `reach` from a segment."""
    # One pixel beyond the image at most: what a dot just outside lies in.
    size = np.array(marked.shape[::-1])
    low = np.floor(np.minimum(start, end) - reach).clip(-1, size).astype(int)
    high = np.ceil(np.maximum(start, end) + reach).clip(-1, size).astype(int)
    x, y = np.ogrid[low[0] : high[0] + 1, low[1] : high[1] + 1]
    way = end - start
    along = (x + 0.5 - start[0]) * way[0] + (y + 0.5 - start[1]) * way[1]
    share = np.clip(along / max(float(way @ way), 1e-12), 0.0, 1.0)
    away = np.hypot(x + 0.5 - start[0] - share * way[0], y + 0.5 - start[1] - share * way[1])
    # A dot between four pixels marks them, though it is half a diagonal away from each.
    far = max(reach, 0.5, min(float(away.min(initial=1.0)), 0.5**0.5))
    near = (away <= far + 1e-9).T
    inside = (y >= 0) & (y < size[1]), (x >= 0) & (x < size[0])
    rows, columns = (each.ravel() for each in inside)
    marked[y.ravel()[rows][:, None], x.ravel()[columns]] |= near[rows][:, columns]
