"""Outlines of shapes that files state by a few numbers: boxes, ellipses, and both of them turned.

Positions are (x, y) with y downwards, as in images.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from multirater.io.drawings.shapes import Ring

_CORNERS_OF_ELLIPSE = 72


def box(left: float, top: float, right: float, bottom: float) -> Ring:
    """Return the corners of an upright box, clockwise from the upper left."""
    return np.array([[left, top], [right, top], [right, bottom], [left, bottom]], dtype=np.float64)


def ellipse(x: float, y: float, radius_x: float, radius_y: float) -> Ring:
    """Return points on an upright ellipse about (x, y)."""
    angle: NDArray[np.float64] = np.linspace(0, 2 * np.pi, _CORNERS_OF_ELLIPSE, endpoint=False)
    return np.stack([x + radius_x * np.cos(angle), y + radius_y * np.sin(angle)], axis=1)


def turned(ring: Ring, degrees: float) -> Ring:
    """Turn an outline clockwise, as seen on the image, about the centre of its corners.

    Example:
        >>> turned(box(0, 1, 4, 3), 90).round(6).tolist()
        [[3.0, 0.0], [3.0, 4.0], [1.0, 4.0], [1.0, 0.0]]
    """
    return turned_about(ring, degrees, ring.mean(0))


def turned_about(ring: Ring, degrees: float, centre: NDArray[np.float64]) -> Ring:
    """Turn an outline clockwise, as seen on the image, about a point (x, y)."""
    angle = np.deg2rad(degrees)
    # Rows of points: the transpose of the usual matrix, which is clockwise where y points down.
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return np.asarray((ring - centre) @ turn + centre)
