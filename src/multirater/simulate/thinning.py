"""Thinning: peel a shape from all sides until a line is left, without breaking it.

In the plane after Zhang and Suen (1984), in space by Lee, Kashyap and Chu (1994). The lines are
those of scikit-image, to the pixel, without its 50 MB: simulated raters belong to the core.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
_Codes = NDArray[np.int64]

_AROUND = ((-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1))
"""The neighbours of a pixel, clockwise from above on the left; the k-th is bit k of a code."""

_BY_HALVES = {
    "neither": (48, 129),
    "first": (3, 6, 11, 12, 14, 131, 134, 161, 194, 198),
    "second": (24, 26, 56, 96, 104, 108, 176, 192, 224),
    "both": (10, 40, 130, 160),
}
"""Codes in which scikit-image departs from the paper: the half of a round in which a pixel goes.

Found by trying, on all images of 3 x 3 pixels and 9000 larger ones. Steps of a slanting line go,
which the paper keeps two pixels thick, and ends are eaten from one side only.
"""

_NEIGHBOURS = tuple(step for step in product((-1, 0, 1), repeat=3) if any(step))
"""The neighbours of a voxel; the k-th is bit k of a code."""

_SIDES = ((0, -1, 0), (0, 1, 0), (0, 0, 1), (0, 0, -1), (1, 0, 0), (-1, 0, 0))
"""From which a solid is peeled, in this order."""


def thin(shape: Mask) -> Mask:
    """Return the skeleton of a 2-D or 3-D shape: as many pieces and holes, one pixel thin.

    Example:
        >>> thin(np.ones((3, 5), bool)).astype(int)
        array([[0, 0, 0, 1, 0],
               [1, 1, 1, 0, 0],
               [0, 0, 0, 0, 0]])
    """
    padded = np.pad(np.ascontiguousarray(shape), 1)
    if shape.ndim == 2:
        _thin_plane(padded)
    else:
        _thin_solid(padded)
    return padded[(slice(1, -1),) * shape.ndim]


def _thin_plane(shape: Mask) -> None:
    """Thin in place; the border of the array is empty."""
    inner = shape[1:-1, 1:-1]
    height, width = shape.shape
    changed = True
    while changed:
        changed = False
        for removable in _removable_pixels():
            codes = np.zeros(inner.shape, dtype=np.uint8)
            for bit, (y, x) in enumerate(_AROUND):
                there = shape[1 + y : height - 1 + y, 1 + x : width - 1 + x]
                codes |= there.view(np.uint8) << np.uint8(bit)
            gone = inner & removable[codes]
            if gone.any():
                inner[gone] = False
                changed = True


@cache
def _removable_pixels() -> tuple[Mask, Mask]:
    """Return which of 256 neighbourhoods a pixel goes from, in either half of a round."""
    bits = (np.arange(256)[:, None] >> np.arange(8)) & 1
    above, right, below, left = (bits[:, k] == 1 for k in (1, 3, 5, 7))
    count = bits.sum(1)
    once = (np.diff(bits, axis=1, append=bits[:, :1]) == 1).sum(1) == 1
    keeps = once & (count >= 2) & (count <= 6)
    first = keeps & ~(above & right & below) & ~(right & below & left)
    second = keeps & ~(above & right & left) & ~(above & below & left)
    for half, codes in _BY_HALVES.items():
        first[list(codes)] = half in ("first", "both")
        second[list(codes)] = half in ("second", "both")
    return first, second


def _thin_solid(shape: Mask) -> None:
    """Thin in place; the border of the array is empty."""
    flat = shape.reshape(-1)
    strides = np.array([shape.shape[1] * shape.shape[2], shape.shape[2], 1])
    offsets = np.array(_NEIGHBOURS) @ strides
    weights = 1 << np.arange(len(offsets))
    changed = True
    while changed:
        changed = False
        for side in np.array(_SIDES) @ strides:
            places = np.flatnonzero(flat)
            places = places[~flat[places + side]]
            codes = flat[places[:, None] + offsets] @ weights
            known, back = np.unique(codes, return_inverse=True)
            goes = np.array([_may_go(code) for code in known.tolist()], dtype=bool)
            # Two that may go may not go both: each is looked at again, as it is by then.
            for place in places[goes[back]].tolist():
                if _is_in_one_piece(int(flat[place + offsets] @ weights)):
                    flat[place] = False
                    changed = True


@cache
def _may_go(code: int) -> bool:
    """Whether a voxel with these neighbours is no end of a line, and leaves no hole or break."""
    return code.bit_count() != 1 and _leaves_no_hole(code) and _is_in_one_piece(code)


def _leaves_no_hole(code: int) -> bool:
    """Whether the Euler characteristic stays: what others share of the voxel's surface has 1."""
    shared = 0
    for cell, sharing in _cells():
        shared += (-1) ** cell.count(0) * bool(code & sharing)
    return shared == 1


@cache
def _cells() -> list[tuple[tuple[int, ...], int]]:
    """Return corners, edges and faces of a voxel, each with the neighbours that have it too."""
    found = []
    for cell in _NEIGHBOURS:
        wanted = [(axis, way) for axis, way in enumerate(cell) if way]
        sharing = [
            all(each[axis] in (0, way) for axis, way in wanted)
            and all(each[axis] == 0 for axis, way in enumerate(cell) if not way)
            for each in _NEIGHBOURS
        ]
        found.append((cell, sum(1 << k for k, is_there in enumerate(sharing) if is_there)))
    return found


@cache
def _is_in_one_piece(code: int) -> bool:
    """Whether the neighbours hang together without the voxel, edges and corners included."""
    reached, front = 0, code & -code
    while front:
        reached |= front
        beside = 0
        while front:
            lowest = front & -front
            beside |= _beside()[lowest.bit_length() - 1]
            front ^= lowest
        front = beside & code & ~reached
    return reached == code


@cache
def _beside() -> list[int]:
    """Return, of each neighbour, the code of those that touch it."""
    around = np.array(_NEIGHBOURS)
    touches = np.abs(around[:, None] - around).max(-1) == 1
    return [int(each @ (1 << np.arange(len(around)))) for each in touches]
