"""Axial slices of equal size and spacing around what raters drew, cut from a volume."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.io.formats.grid import fit_ndim, geometry_from_steps, steps_of
from multirater.types import MISSING, Geometry, Image, Labels


@dataclass(frozen=True)
class SliceGrid:
    """A stack of square slices.

    Attributes:
        n_slices: along z.
        size: pixels along y and x.
        geometry: of the stack, axes (z, y, x).
    """

    n_slices: int
    size: int
    geometry: Geometry

    def plane(self, index: int) -> Geometry:
        """Return the 2-D geometry of a slice."""
        steps = steps_of(self.geometry)
        origin = np.asarray(self.geometry.origin) + steps @ [index, 0, 0]
        return fit_ndim((1, self.size, self.size), geometry_from_steps(steps, origin), 2)[1]


def grid_around(
    labels: Labels, *, size: int, spacing_mm: float, isotropic: bool
) -> SliceGrid | None:
    """Lay slices around the middle of all drawings; None when nobody drew anything.

    The slices begin and end with the first and last one that any rater drew on, and keep the
    volume's directions.

    Args:
        labels: (n_raters, z, y, x); everything above 0 is drawn.
        size: pixels of a slice along y and x.
        spacing_mm: between pixels.
        isotropic: whether slices are that far apart too; else as in the volume.
    """
    inside = np.argwhere((labels.array > 0).any(axis=0))
    if not len(inside):
        return None
    low, high = inside.min(axis=0), inside.max(axis=0)
    old = np.asarray(labels.geometry.spacing)
    new = np.array([spacing_mm if isotropic else old[0], spacing_mm, spacing_mm])
    half = (size - 1) / 2 * new / old  # in voxels of the volume
    first = [low[0], *((low + high) / 2 - half)[1:]]
    steps = steps_of(labels.geometry)
    geometry = geometry_from_steps(
        steps / old * new, np.asarray(labels.geometry.origin) + steps @ first
    )
    # The addend keeps the last slice where a distance is a whole number but for rounding.
    n_slices = int((high[0] - low[0]) * old[0] / new[0] + 1e-6) + 1
    return SliceGrid(n_slices, size, geometry)


def resample_image(image: Image, grid: SliceGrid, *, outside: float) -> NDArray[np.float32]:
    """Interpolate the first channel linearly; returns (z, y, x), `outside` beyond the image."""
    import SimpleITK as sitk  # noqa: N813

    values = image.array[0].astype(np.float32)
    return np.asarray(_resample(values, image.geometry, grid, sitk.sitkLinear, outside))


def resample_labels(labels: Labels, grid: SliceGrid) -> NDArray[np.int16]:
    """Take the nearest label; returns (n_raters, z, y, x), -1 beyond what was labelled."""
    import SimpleITK as sitk  # noqa: N813

    take = partial(
        _resample,
        old=labels.geometry,
        grid=grid,
        interpolator=sitk.sitkNearestNeighbor,
        outside=MISSING,
    )
    return np.stack([take(label) for label in labels.array])


def _resample(
    array: NDArray[Any], old: Geometry, grid: SliceGrid, interpolator: int, outside: float
) -> NDArray[Any]:
    import SimpleITK as sitk  # noqa: N813

    from multirater.io.formats.itk import as_itk

    space = (1, grid.n_slices, grid.size, grid.size)
    like = as_itk(Image(np.broadcast_to(np.uint8(0), space), grid.geometry))
    source = as_itk(Image(array[None], old))
    moved = sitk.Resample(source, like, sitk.Transform(), interpolator, float(outside))
    return np.asarray(sitk.GetArrayFromImage(moved))
