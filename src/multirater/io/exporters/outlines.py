"""The outlines of a mask along the edges of its pixels, so that no pixel is lost or won."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def outlines(mask: NDArray[np.bool_]) -> list[list[list[int]]]:
    """Return the rings of one connected piece: the outline first, then the holes; each is closed.

    Corners are (x, y) in pixels from the upper left corner of the image.

    Example:
        >>> outlines(np.array([[True, True]]))
        [[[0, 0], [2, 0], [2, 1], [0, 1], [0, 0]]]
    """
    ends = _edges(mask)
    rings = []
    while ends:
        start = min(ends)
        ring = [start]
        before = (0, 0)
        while True:
            here = ring[-1]
            after = _next(ends, here, before)
            before = (after[0] - here[0], after[1] - here[1])
            if after == start:
                break
            ring.append(after)
        rings.append(_corners(ring))
    rings.sort(key=lambda ring: -abs(_area(ring)))
    return [[[x, y] for y, x in [*ring, ring[0]]] for ring in rings]


_Point = tuple[int, int]


def _edges(mask: NDArray[np.bool_]) -> dict[_Point, list[_Point]]:
    """Return the edges (from, to) between inside and outside, inside on the right, as (y, x)."""
    padded = np.pad(mask, 1)
    ends: dict[_Point, list[_Point]] = {}

    def add(places: NDArray[np.bool_], start: _Point, end: _Point) -> None:
        for y, x in np.argwhere(places).tolist():
            ends.setdefault((y + start[0], x + start[1]), []).append((y + end[0], x + end[1]))

    inside = padded[1:-1, 1:-1]
    add(inside & ~padded[:-2, 1:-1], (0, 0), (0, 1))  # above is outside: go right
    add(inside & ~padded[1:-1, 2:], (0, 1), (1, 1))
    add(inside & ~padded[2:, 1:-1], (1, 1), (1, 0))
    add(inside & ~padded[1:-1, :-2], (1, 0), (0, 0))
    return ends


def _next(ends: dict[_Point, list[_Point]], here: _Point, before: _Point) -> _Point:
    """Take an edge out; where two pixels touch by a corner, keep to the pixel one came along."""
    choices = ends[here]
    right = (here[0] + before[1], here[1] - before[0])  # a turn to the right, as (y, x)
    chosen = right if len(choices) > 1 and right in choices else choices[0]
    choices.remove(chosen)
    if not choices:
        del ends[here]
    return chosen


def _corners(ring: list[_Point]) -> list[_Point]:
    """Leave out points between which the line goes straight on."""
    points = np.array(ring)
    into, out = points - np.roll(points, 1, axis=0), np.roll(points, -1, axis=0) - points
    kept = np.flatnonzero((into != out).any(1))
    return [ring[i] for i in kept.tolist()]


def _area(ring: list[_Point]) -> float:
    y, x = np.array(ring).T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2
