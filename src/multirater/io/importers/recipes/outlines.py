"""Outlines of two structures, one inside the other, as masks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from multirater.extras import extra

_SMALLEST = 0.02
"""Share of the whole that an enclosed region must have; smaller ones are gaps in the line."""


def enclosed(outlines: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return what two nested outlines enclose: the outer one, and the inner one.

    The lines themselves belong to what they enclose. The inner structure is the roundest region
    between lines: the rim around it is a ring or, where the lines touch, a crescent. All False
    where nothing is enclosed.

    Args:
        outlines: (y, x), True on either line; gaps of a pixel are closed.

    Example:
        >>> lines = np.zeros((7, 7), dtype=bool)
        >>> lines[0, :], lines[6, :], lines[:, 0], lines[:, 6] = True, True, True, True
        >>> outer, inner = enclosed(lines)
        >>> int(outer.sum()), int(inner.sum())
        (49, 0)
    """
    from scipy import ndimage

    with extra():
        from skimage.measure import label, regionprops

    closed = ndimage.binary_closing(np.pad(outlines, 2), np.ones((3, 3)))[2:-2, 2:-2]
    closed |= outlines
    outer = _largest(ndimage.binary_fill_holes(closed))
    regions = regionprops(label(outer & ~closed, connectivity=1))
    smallest = _SMALLEST * outer.sum()
    large = [region for region in regions if region.area >= smallest]
    inner = np.zeros_like(outer)
    if not large:
        return inner, inner
    if len(large) > 1:
        roundest = max(large, key=lambda region: region.solidity)
        inner[tuple(roundest.coords.T)] = True
        inner = ndimage.binary_dilation(inner, np.ones((3, 3))) & (inner | closed)
    return outer, inner


def _largest(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the largest connected part: specks elsewhere are no outline."""
    with extra():
        from skimage.measure import label

    parts = label(mask, connectivity=2)
    sizes = np.bincount(parts.ravel())[1:]
    if not sizes.size:
        return mask
    return np.asarray(parts == 1 + int(sizes.argmax()))
