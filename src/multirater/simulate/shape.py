"""The geometry that the drawing simulators work in: thickness, centre lines, uneven outlines.

Distances are in millimetres (pixels when no spacing is given), so that thick slices do not turn a
round lesion into a flat one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from multirater.simulate.thinning import thin

Mask = NDArray[np.bool_]
Field = NDArray[np.float64]


def depth(shape: Mask, spacing: NDArray[np.float64]) -> Field:
    """Return how far each pixel of the shape lies from the nearest pixel outside; 0 outside.

    The border of the image is no outline: a shape that is cut off by the border goes on behind it.
    Only when the shape fills the image there is no other outline, and the border is used.
    """
    from scipy.ndimage import distance_transform_edt

    if not shape.all():
        return np.asarray(distance_transform_edt(shape, sampling=spacing))
    padded = distance_transform_edt(np.pad(shape, 1), sampling=spacing)
    return np.asarray(padded[(slice(1, -1),) * shape.ndim])


def half_thickness(depths: Field) -> float:
    """Return the mean half thickness of a shape from its `depth`.

    Twice the mean depth is half the width of a stroke, two thirds of the radius of a disc and half
    the radius of a ball; and, since depth is measured to the middle of the first pixel outside,
    up to one pixel more. So the thinnest line still has a half thickness of two pixels.
    """
    return 2.0 * float(depths[depths > 0].mean())


def level(shape: Mask, spacing: NDArray[np.float64]) -> tuple[Field, float]:
    """Return the signed distance to the outline in half thicknesses, and the half thickness.

    The level is negative inside and positive outside; the outline lies where it changes sign.
    """
    inside, outside = depth(shape, spacing), depth(~shape, spacing)
    unit = half_thickness(inside)
    return (outside - inside) / unit, unit


def centre_line(shape: Mask) -> Mask:
    """Return the skeleton of a 2-D or 3-D shape; never empty unless the shape is."""
    line = thin(shape) if shape.ndim in (2, 3) else np.zeros_like(shape)
    if shape.any() and not line.any():
        line.flat[np.argmax(depth(shape, np.ones(shape.ndim)))] = True
    return line


def smooth_noise(
    space: tuple[int, ...], wavelength: float, spacing: NDArray[np.float64], *, seed: int
) -> Field:
    """Return a random field of mean 0 and standard deviation 1 that varies over `wavelength` mm.

    Added to a level, it makes an outline uneven in the way of a hand: hollows and bumps, not
    single pixels.
    """
    from scipy.ndimage import gaussian_filter

    white = np.random.default_rng(seed).standard_normal(space)
    # A filter wider than the image costs time and leaves nothing but a constant.
    sigma = np.minimum(wavelength / spacing, np.asarray(space) / 4)
    smooth = np.asarray(gaussian_filter(white, sigma, truncate=3.0))
    spread = float(smooth.std())
    return (smooth - smooth.mean()) / spread if spread > 0 else np.zeros(space)


def lowest(field: Field, candidates: Mask, count: int) -> Mask:
    """Return a mask of the `count` candidates with the lowest values (all, if there are fewer).

    Among equal values, those that come first in the array are chosen.
    """
    if count <= 0:
        return np.zeros_like(candidates)
    values = field[candidates]
    if count >= values.size:
        return candidates.copy()
    limit = np.partition(values, count - 1)[count - 1]
    chosen = values < limit
    ties = np.flatnonzero(values == limit)
    chosen[ties[: count - np.count_nonzero(chosen)]] = True
    picked = np.zeros_like(candidates)
    picked[candidates] = chosen
    return picked
