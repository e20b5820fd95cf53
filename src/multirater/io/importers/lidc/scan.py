"""What LIDC-IDRI says of one CT scan: the outlines that its readers drew.

Points are pixel indices (x, y) = (column, row) of the axial slices; `z` is the third component of
the slice's DICOM ImagePositionPatient, in mm.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Contour:
    """One outline on one slice: the first pixels outside of what it encloses.

    Attributes:
        z: height of the slice in mm.
        includes: whether the inside belongs to the nodule; otherwise it is cut out of it.
        points: (n_points, 2), columns x and y; the last point is followed by the first.
    """

    z: float
    includes: bool
    points: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NoduleDrawing:
    """What one reader drew around one nodule; `session` is the reader's number, where it is known.

    The reader of a drawing is known in the XML files, and is not in the database.
    """

    contours: tuple[Contour, ...]
    session: int | None = None


@dataclass(frozen=True, eq=False)
class Scan:
    """One CT series with its drawings, in the order in which the source lists them.

    Attributes:
        name: what the names of its cases begin with.
        series: its SeriesInstanceUID.
        drawings: of all readers and nodules.
        heights: z of its slices in mm, increasing.
        tolerance: drawings whose outlines are no further apart than this may be of one nodule.
        pixel_spacing: mm, the same for x and y; None where the source does not tell.
    """

    name: str
    series: str
    drawings: tuple[NoduleDrawing, ...]
    heights: NDArray[np.float64]
    tolerance: float
    pixel_spacing: float | None


def slice_of(z: float, heights: NDArray[np.float64]) -> int:
    """Return the index of the slice nearest to a height.

    Example:
        >>> slice_of(12.4, np.array([10.0, 12.5, 15.0]))
        1
    """
    return int(np.abs(heights - z).argmin())


def slice_spacing(heights: NDArray[np.float64]) -> float:
    """Return the usual distance of neighbouring slices in mm; 1 for a single slice.

    Example:
        >>> slice_spacing(np.array([10.0, 12.5, 15.0, 22.5]))
        2.5
    """
    # Differences of decimal heights carry noise in their last digits.
    return round(float(np.median(np.diff(heights))), 6) if len(heights) > 1 else 1.0


def heights_of(drawings: Iterable[NoduleDrawing]) -> NDArray[np.float64]:
    """Return the heights of the slices as far as outlines tell.

    Readers outline a nodule on neighbouring slices, so the usual step within a drawing is the
    distance of slices; wider steps between outlined slices are filled evenly.

    Example:
        >>> point = np.zeros((1, 2), dtype=np.int64)
        >>> drawn = NoduleDrawing(tuple(Contour(z, True, point) for z in (5.0, 2.5, 10.0, 0.0)))
        >>> heights_of([drawn]).tolist()
        [0.0, 2.5, 5.0, 7.5, 10.0]
    """
    per_drawing = [_distinct_heights(drawing.contours) for drawing in drawings]
    outlined = np.unique(np.concatenate(per_drawing))
    steps = np.concatenate([np.diff(each) for each in per_drawing])
    spacing = float(np.median(steps)) if len(steps) else slice_spacing(outlined)
    # Each gap by itself, so that rounded heights do not add up to a drift over the whole scan.
    parts = [
        np.linspace(low, high, max(1, round((high - low) / spacing)), endpoint=False)
        for low, high in pairwise(outlined)
    ]
    return np.concatenate([*parts, outlined[-1:]])


def _distinct_heights(contours: Iterable[Contour]) -> NDArray[np.float64]:
    return np.unique(np.round([contour.z for contour in contours], 3))
