"""Whether outlines are drawn too large or too small, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


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
    sides' medians, so that a stray blob does not pass for a drawing that is too large all around.

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
    distance = _signed_distance(inside, steps)
    for number, mask in enumerate(drawn):
        mask = mask[box]
        edge = _both_sides(mask)
        if edge.any():
            sides = (distance[edge & mask], distance[edge & ~mask])
            offsets[number] = np.mean([np.median(side) for side in sides])
    return offsets


def _box(mask: NDArray[np.bool_]) -> tuple[slice, ...]:
    """The smallest box around a mask, with a pixel to spare on every side."""
    box = []
    for axis in range(mask.ndim):
        hits = np.flatnonzero(mask.any(tuple(a for a in range(mask.ndim) if a != axis)))
        ends = (hits[0], hits[-1]) if len(hits) else (0, 0)
        box.append(slice(max(int(ends[0]) - 1, 0), int(ends[1]) + 2))
    return tuple(box)


def _signed_distance(mask: NDArray[np.bool_], spacing: tuple[float, ...]) -> NDArray[np.float64]:
    """Distance from pixel centres to the outline, negative inside.

    Distances between pixel centres overshoot the outline, which lies halfway between them.
    """
    from scipy.ndimage import distance_transform_edt

    half = 0.5 * float(np.exp(np.mean(np.log(spacing))))
    outside = distance_transform_edt(~mask, sampling=spacing)
    inside = distance_transform_edt(mask, sampling=spacing)
    return np.asarray(np.where(mask, half - inside, outside - half))


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
