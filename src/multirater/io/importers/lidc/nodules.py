"""Which drawings of a scan are of the same nodule.

LIDC-IDRI does not say so. The rule here is that of `pylidc`, so that counts agree with the
literature: drawings are linked when their outlines come as close as a tolerance, in *voxels*, equal
to the slice thickness in *mm*; linked drawings are a nodule. Where that makes a nodule of more than
four drawings the tolerance of the whole scan shrinks, by a tenth each time and to 0.1 at least.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from multirater.io.importers.lidc.scan import NoduleDrawing, Scan, slice_of

MOST_READERS = 4
"""How many radiologists read each scan."""

_SHRINK, _SMALLEST = 0.9, 0.1

_CASE = re.compile(r"(?P<patient>.+?)(-scan-\d+)?-nodule-\d+")


def patient_of(case: str) -> str:
    """Return whose nodule a case is: the patient, or the scan where the files do not name one.

    Example:
        >>> patient_of("LIDC-IDRI-0132-scan-2-nodule-1"), patient_of("LIDC-IDRI-0001-nodule-1")
        ('LIDC-IDRI-0132', 'LIDC-IDRI-0001')
    """
    match = _CASE.fullmatch(case)
    return match["patient"] if match else case


@dataclass(frozen=True, eq=False)
class Nodule:
    """What the readers of a scan drew around one nodule.

    Attributes:
        case: its name, `<scan>-nodule-<number>`, numbered from the lowest to the highest.
        series: SeriesInstanceUID of the scan.
        drawings: by rater; several for a reader who drew the nodule in parts.
        heights: z of the scan's slices, in mm.
        pixel_spacing: mm, None when not known.
    """

    case: str
    series: str
    drawings: dict[str, tuple[NoduleDrawing, ...]]
    heights: NDArray[np.float64]
    pixel_spacing: float | None

    @property
    def n_readers(self) -> int:
        """How many readers drew it."""
        return len(self.drawings)


def find_nodules(scan: Scan) -> list[Nodule]:
    """Return the nodules of a scan from the lowest to the highest, whoever drew them."""
    clouds = [_voxels(drawing, scan.heights) for drawing in scan.drawings]
    group = _groups(_distances(clouds, scan.tolerance), scan.tolerance)
    centres = np.array([cloud[:, 2].mean() for cloud in clouds])
    order = sorted(range(group.max() + 1), key=lambda each: centres[group == each].mean())
    return [
        Nodule(
            f"{scan.name}-nodule-{number}",
            scan.series,
            _by_reader(scan.drawings[i] for i in np.flatnonzero(group == each)),
            scan.heights,
            scan.pixel_spacing,
        )
        for number, each in enumerate(order, start=1)
    ]


def _voxels(drawing: NoduleDrawing, heights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the outline as voxel indices (n_points, 3): x, y and slice."""
    parts = [
        np.insert(contour.points, 2, slice_of(contour.z, heights), axis=1)
        for contour in drawing.contours
    ]
    return np.concatenate(parts)


def _distances(clouds: Sequence[NDArray[np.int64]], reach: float) -> NDArray[np.float64]:
    """Return the distance of the closest points of each two clouds, where it can be in reach."""
    low, high = (np.array([bound(cloud, axis=0) for cloud in clouds]) for bound in (np.min, np.max))
    trees = [KDTree(cloud) for cloud in clouds]
    distances = np.where(np.eye(len(clouds), dtype=bool), 0.0, np.inf)
    for i, j in combinations(range(len(clouds)), 2):
        between_boxes = np.maximum(np.maximum(low[i] - high[j], low[j] - high[i]), 0)
        if np.linalg.norm(between_boxes) <= reach:
            nearest, _ = trees[j].query(clouds[i])
            distances[i, j] = distances[j, i] = nearest.min()
    return distances


def _groups(distances: NDArray[np.float64], tolerance: float) -> NDArray[np.int32]:
    while True:
        _, group = connected_components(distances <= tolerance, directed=False)
        tolerance *= _SHRINK
        if np.bincount(group).max() <= MOST_READERS or tolerance < _SMALLEST:
            return np.asarray(group)


def _by_reader(drawings: Iterable[NoduleDrawing]) -> dict[str, tuple[NoduleDrawing, ...]]:
    """Give each drawing to its reader: the session, or else its place among the drawings."""
    readers: dict[int, tuple[NoduleDrawing, ...]] = {}
    for place, drawing in enumerate(drawings, start=1):
        number = place if drawing.session is None else drawing.session
        readers[number] = (*readers.get(number, ()), drawing)
    return {f"reader {number}": readers[number] for number in sorted(readers)}
