"""Whether outlines are drawn too large or too small, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_PIXELS = 500
"""Pixels on either side of an outline that are measured; of more, an even choice."""


def outline_offsets(
    reference: NDArray[Any],
    drawings: NDArray[Any],
    *,
    foreground: int = 1,
    spacing: Sequence[float] | None = None,
) -> NDArray[np.float64]:
    """How far outside (positive) or inside (negative) of a reference outlines run.

    The outline of a drawing runs between its pixels and their neighbours. The pixels on either
    side of it have signed distances to the reference's outline. The offset is the mean of the two
    sides' medians (of long outlines over an even choice of the pixels), so that a stray blob does
    not pass for a drawing that is too large all around.

    Args:
        reference: class indices (*space), 2-D or 3-D; -1 counts as outside.
        drawings: class indices (n_drawings, *space), same rule.
        foreground: the class that is outlined.
        spacing: distance between pixels along each array axis; 1 when not given.

    Returns:
        (n_drawings,), in the unit of `spacing`; NaN where the reference or a drawing holds no
        such class, or fills the image.

    Example:
        >>> true = np.zeros((9, 9), int); true[3:6, 3:6] = 1
        >>> larger = np.zeros((9, 9), int); larger[2:7, 2:7] = 1
        >>> outline_offsets(true, np.stack([true, larger])).tolist()
        [0.0, 1.0]
    """
    inside, drawn = reference == foreground, drawings == foreground
    offsets = np.full(len(drawings), np.nan)
    box = _box(inside | drawn.any(0))
    inside = inside[box]
    if not inside.any() or inside.all():
        return offsets
    steps = (1.0,) * reference.ndim if spacing is None else tuple(map(float, spacing))
    distance = _SignedDistance.to(inside, np.array(steps))
    for number, mask in enumerate(drawn):
        mask = mask[box]
        edge = np.flatnonzero(_both_sides(mask))
        if len(edge):
            own = mask.ravel()[edge]
            sides = (distance.at(_some(edge[own])), distance.at(_some(edge[~own])))
            offsets[number] = np.mean([np.median(side) for side in sides])
    return offsets


def _some(pixels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Choose evenly among many pixels: their median hardly changes, and the time does."""
    return pixels[:: -(-len(pixels) // _MOST_PIXELS)]


def _box(mask: NDArray[np.bool_]) -> tuple[slice, ...]:
    """The smallest box around a mask, with a pixel to spare on every side."""
    box = []
    for axis in range(mask.ndim):
        hits = np.flatnonzero(mask.any(tuple(a for a in range(mask.ndim) if a != axis)))
        ends = (hits[0], hits[-1]) if len(hits) else (0, 0)
        box.append(slice(max(int(ends[0]) - 1, 0), int(ends[1]) + 2))
    return tuple(box)


@dataclass(frozen=True, eq=False)
class _SignedDistance:
    """Distances from pixel centres to the outline of a mask, negative inside.

    Only pixels beside the outline can be nearest to it, and only those that are asked for are
    measured: of a volume that is a small part.

    Attributes:
        mask: (*space).
        steps: distance between pixels along each axis.
        inner: positions of the pixels of the mask beside its outline.
        outer: the same outside.
    """

    mask: NDArray[np.bool_]
    steps: NDArray[np.float64]
    inner: Any
    outer: Any

    @staticmethod
    def to(mask: NDArray[np.bool_], steps: NDArray[np.float64]) -> _SignedDistance:
        from scipy.spatial import KDTree

        edge = np.flatnonzero(_both_sides(mask))
        own = mask.ravel()[edge]
        inner, outer = (_positions(each, mask.shape, steps) for each in (edge[own], edge[~own]))
        return _SignedDistance(mask, steps, KDTree(inner), KDTree(outer))

    def at(self, pixels: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the distances of pixels, given by their place in the flat mask.

        Distances between pixel centres overshoot the outline, which lies halfway between them.
        """
        half = 0.5 * float(np.exp(np.mean(np.log(self.steps))))
        inside = self.mask.ravel()[pixels]
        found = np.empty(len(pixels))
        for side, tree, sign in ((inside, self.outer, -1), (~inside, self.inner, 1)):
            if side.any():
                near, _ = tree.query(_positions(pixels[side], self.mask.shape, self.steps))
                found[side] = sign * (near - half)
        return found


def _positions(
    pixels: NDArray[np.intp], space: tuple[int, ...], steps: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Turn places in the flat array into positions (n, ndim) in the unit of the steps."""
    return np.asarray(np.stack(np.unravel_index(pixels, space), axis=1) * steps)


def _both_sides(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Pixels of a mask with a neighbour outside it, and those neighbours."""
    edge = np.zeros_like(mask)
    for axis in range(mask.ndim):
        before, after = (
            tuple(part if a == axis else slice(None) for a in range(mask.ndim))
            for part in (slice(None, -1), slice(1, None))
        )
        differ = mask[before] != mask[after]
        edge[before] |= differ
        edge[after] |= differ
    return edge
