"""Which part of a case a figure shows: a slice of a volume, cut to where something was drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.types import MISSING

_MARGIN = 0.3
"""Kept around the drawings on each side, as a share of their longer side."""

_SMALLEST = 48
"""Pixels: nothing is cut to less than this side."""

_WORTH_CUTTING = 0.7
"""A cut that leaves more than this share of a side is not worth its note."""


@dataclass(frozen=True)
class Cutout:
    """A part of an array whose last axes are space.

    Attributes:
        rows: of the plane.
        columns: of the plane.
        slice: position along the first axis of a volume; None in 2-D.
        note: in words, what of the case is shown; empty for all of it.
    """

    rows: slice
    columns: slice
    slice: int | None = None
    note: str = ""

    def of(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the part (..., rows, columns) of an array (..., *space)."""
        flat = array if self.slice is None else array[..., self.slice, :, :]
        return flat[..., self.rows, self.columns]


def disagreement_map(labels: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """Share of raters who are not with the majority, per pixel.

    Args:
        labels: class indices (n_raters, *space), -1 where not labelled.

    Returns:
        (*space), 0 to 1 - 1/n_classes; NaN where fewer than two raters labelled.

    Example:
        >>> disagreement_map(np.array([[0, 1, -1], [0, 1, 1], [0, 0, -1]])).round(2).tolist()
        [0.0, 0.33, nan]
    """
    n_present = (labels != MISSING).sum(0)
    most = np.zeros(labels.shape[1:], dtype=np.int64)
    for k in range(int(labels.max(initial=0)) + 1):
        most = np.maximum(most, (labels == k).sum(0))
    return np.where(n_present >= 2, 1 - most / np.maximum(n_present, 1), np.nan)


def choose_plane(
    labels: NDArray[np.integer[Any]], others: NDArray[np.integer[Any]] | None = None
) -> Cutout:
    """Choose the slice with the most disagreement, cut to where anybody drew anything.

    Args:
        labels: class indices (n_raters, *space), 2-D or 3-D, -1 where not labelled.
        others: estimated or true labels (n, *space), which must be seen too.

    Example:
        >>> labels = np.zeros((2, 9, 20, 20), dtype=int)
        >>> labels[0, 6, 4:8, 4:8] = 1
        >>> choose_plane(labels).slice, choose_plane(labels).note
        (6, 'slice 7 of 9')
    """
    everything = labels if others is None else np.concatenate([labels, others])
    foreground: NDArray[np.bool_] = np.any(everything > 0, axis=0)
    number, parts = None, []
    if foreground.ndim == 3:
        number = _busiest(np.nan_to_num(disagreement_map(labels)), foreground)
        parts.append(f"slice {number + 1} of {len(foreground)}")
        foreground = foreground[number]
    rows, columns = _cut(foreground)
    if (rows, columns) != (slice(None), slice(None)):
        parts.append("cut to the drawings")
    return Cutout(rows, columns, number, ", ".join(parts))


def _busiest(disagreement: NDArray[np.float64], foreground: NDArray[np.bool_]) -> int:
    """Find the slice with most disagreement; where nobody differs, with most foreground."""
    for values in (disagreement, foreground):
        per_slice = values.sum((1, 2))
        if per_slice.any():
            return int(per_slice.argmax())
    return len(foreground) // 2


def _cut(foreground: NDArray[np.bool_]) -> tuple[slice, slice]:
    """Find the square around the foreground, with a margin; all of it when little is gained."""
    whole = slice(None), slice(None)
    if not foreground.any():
        return whole
    bounds = [np.flatnonzero(foreground.any(axis)) for axis in (1, 0)]
    longest = max(int(each[-1] - each[0]) + 1 for each in bounds)
    side = max(round(longest * (1 + 2 * _MARGIN)), _SMALLEST)
    if all(side > _WORTH_CUTTING * size for size in foreground.shape):
        return whole
    rows, columns = (
        _around(int(each[0] + each[-1]) // 2, side, size)
        for each, size in zip(bounds, foreground.shape, strict=True)
    )
    return rows, columns


def _around(middle: int, side: int, size: int) -> slice:
    start = min(max(middle - side // 2, 0), max(size - side, 0))
    return slice(start, min(start + side, size))
