"""Distances between the outlines of two masks, in millimetres."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multirater.errors import Fault, InputError
from multirater.metrics.class_indices import as_label_pair


def hausdorff_distance(
    reference: ArrayLike,
    prediction: ArrayLike,
    *,
    foreground: int = 1,
    spacing: Sequence[float] | None = None,
    percentile: float = 100,
) -> float:
    """Hausdorff distance: how far the outlines are apart where they are furthest apart.

    The surface of a mask is its pixels with a neighbour along an axis outside the mask; beyond the
    image is outside. Each surface pixel looks for the nearest one of the other mask; the percentile
    is taken in both directions and the larger one returned.

    Args:
        reference: booleans or class indices (*space), 2-D or 3-D. Pixels that are -1 in either map
            are outside in both.
        prediction: same shape and rule.
        foreground: the class whose mask is measured.
        spacing: millimetres between pixels along each array axis; 1 when not given.
        percentile: 95 for the usual robust form.

    Returns:
        Millimetres. 0 when both masks are empty, infinity when one is, NaN when no pixel is
        labelled in both maps.

    Example:
        >>> hausdorff_distance([[1, 0, 0, 0]], [[1, 0, 0, 1]], spacing=(1.0, 0.5))
        1.5
    """
    if not 0 <= percentile <= 100:
        raise InputError(
            Fault(f"percentile {percentile}", expected="0 to 100", fix="use 95 or 100")
        )
    both_ways = _nearest_distances(reference, prediction, foreground, spacing)
    return max(_percentile(distances, percentile) for distances in both_ways)


def surface_distance(
    reference: ArrayLike,
    prediction: ArrayLike,
    *,
    foreground: int = 1,
    spacing: Sequence[float] | None = None,
) -> float:
    """Average symmetric surface distance: the mean over the surface pixels of both masks.

    Arguments, definition of the surface and results for empty masks as `hausdorff_distance`.

    Example:
        >>> surface_distance([[1, 0, 0, 0]], [[1, 0, 0, 1]])
        1.0
    """
    return float(
        np.mean(np.concatenate(_nearest_distances(reference, prediction, foreground, spacing)))
    )


def _nearest_distances(
    reference: ArrayLike, prediction: ArrayLike, foreground: int, spacing: Sequence[float] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """From each surface pixel to the other surface, both ways; one value when a mask is empty."""
    first, second = as_label_pair(reference, prediction)
    scale = _as_spacing(spacing, first.ndim)
    labelled = (first >= 0) & (second >= 0)
    mask_a, mask_b = labelled & (first == foreground), labelled & (second == foreground)
    if not labelled.any():
        return _everywhere(np.nan)
    if not (mask_a.any() and mask_b.any()):
        return _everywhere(np.inf if mask_a.any() or mask_b.any() else 0.0)
    points_a, points_b = (_surface_points(mask, scale) for mask in (mask_a, mask_b))
    return _to_nearest(points_a, points_b), _to_nearest(points_b, points_a)


def _everywhere(value: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.array([value]), np.array([value])


def _percentile(distances: NDArray[np.float64], percentile: float) -> float:
    # A lone value may be infinite, which the interpolation of np.percentile turns into NaN.
    return float(distances[0] if len(distances) == 1 else np.percentile(distances, percentile))


def _surface_points(mask: NDArray[np.bool_], spacing: tuple[float, ...]) -> NDArray[np.float64]:
    """Positions (n_points, n_axes) of the surface, in millimetres from pixel 0."""
    from scipy.ndimage import binary_erosion, find_objects

    box = find_objects(mask.astype(np.int8))[0]
    part = mask[box]
    corner = np.array([side.start for side in box])
    return np.asarray((np.argwhere(part & ~binary_erosion(part)) + corner) * spacing)


def _to_nearest(points: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.spatial import KDTree

    return np.asarray(KDTree(others).query(points)[0])


def _as_spacing(spacing: Sequence[float] | None, ndim: int) -> tuple[float, ...]:
    scale = (1.0,) * ndim if spacing is None else tuple(float(step) for step in spacing)
    if len(scale) != ndim or not all(np.isfinite(step) and step > 0 for step in scale):
        raise InputError(
            Fault(
                f"spacing {spacing} for masks with {ndim} axes",
                expected="a positive distance in millimetres per array axis",
                fix="give the spacing in the order of the array's axes",
            )
        )
    return scale
