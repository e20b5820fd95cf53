"""What is noted of the labels of a case while they are in memory, to judge the study by later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.types import MISSING, LabelMap


@dataclass(frozen=True, eq=False, slots=True)
class DrawnFacts:
    """Labels of a case in a few numbers.

    Attributes:
        centre: (n_raters, ndim), centre of what was drawn of any class but 0, in pixels; NaN where
            nothing was.
        border: (n_raters,), share of the pixels at the border of the image that were drawn; NaN
            without label.
        step: (n_raters,), pixels that all outlines keep as distance from each other along every
            axis: 1 in a drawing of this size, 2 in one enlarged twice; 0 where outlines are too
            few to tell.
        same_as_truth: (n_raters,), whether label and truth are equal wherever both say something.
        has_truth: (n_raters,), whether there is both a label and a truth.
        truth_border: as `border`, of the truth.
        truth_counts: pixels of the truth by class, from class 0 on; None without one.
    """

    centre: NDArray[np.float64]
    border: NDArray[np.float64]
    step: NDArray[np.int64]
    same_as_truth: NDArray[np.bool_]
    has_truth: NDArray[np.bool_]
    truth_border: float
    truth_counts: NDArray[np.int64] | None = None


_FEWEST_OUTLINES = 4
"""Places where a drawing changes along an axis, below which their distances say nothing."""


def drawn_facts(
    labels: Mapping[str, LabelMap], truth: LabelMap | None, raters: Sequence[str]
) -> DrawnFacts:
    """Note what the labels of a case look like.

    Args:
        labels: by rater, all of one size.
        truth: of the same size, if it is known.
        raters: all raters, in order.

    Example:
        >>> from multirater.types import Geometry
        >>> drawn = LabelMap(np.kron(np.eye(6, dtype=np.int16), np.ones((2, 2), dtype=np.int16)),
        ...                  Geometry.default(2))
        >>> found = drawn_facts({"anna": drawn}, drawn, ["anna"])
        >>> found.step.tolist(), found.same_as_truth.tolist(), found.centre.tolist()
        ([2], [True], [[5.5, 5.5]])
    """
    known = [truth] if truth is not None else []
    ndim = max((label.array.ndim for label in [*labels.values(), *known]), default=0)
    n_raters = len(raters)
    centre, border = np.full((n_raters, ndim), np.nan), np.full(n_raters, np.nan)
    step = np.zeros(n_raters, dtype=np.int64)
    same, has_truth = np.zeros(n_raters, dtype=bool), np.zeros(n_raters, dtype=bool)
    for number, rater in enumerate(raters):
        if rater not in labels:
            continue
        array = labels[rater].array
        if ndim:
            drawn = array > 0
            box = _box(drawn)
            border[number] = border_share(array)
            if box is not None:
                centre[number] = _centre_in(drawn[box], box)
                step[number] = _step_in(array, box)
        if truth is not None:
            has_truth[number] = True
            same[number] = _same(array, truth.array)
    on_border = border_share(truth.array) if truth is not None and ndim else np.nan
    counts = None
    if truth is not None:
        counts = np.bincount(truth.array[truth.array != MISSING].ravel())
    return DrawnFacts(centre, border, step, same, has_truth, on_border, counts)


def _centre_in(drawn: NDArray[np.bool_], box: tuple[slice, ...]) -> list[float]:
    """Return the centre of what was drawn in a box, (ndim,), in pixels."""
    total = np.count_nonzero(drawn)
    return [
        float(_sums(drawn, axis) @ np.arange(side.start, side.stop) / total)
        for axis, side in enumerate(box)
    ]


def border_share(array: NDArray[Any]) -> float:
    """Return the share of the pixels at the border that were drawn; NaN where none is labelled."""
    sides = [array[(slice(None),) * axis + (end,)] for axis in range(array.ndim) for end in (0, -1)]
    labels = np.concatenate([side.ravel() for side in sides])
    n_labelled = np.count_nonzero(labels != MISSING)
    return np.count_nonzero(labels > 0) / n_labelled if n_labelled else float("nan")


def _step_in(array: NDArray[Any], box: tuple[slice, ...]) -> int:
    """Return the distance, in pixels, that outlines keep along every axis; 0 where unknown."""
    steps = []
    array = array[tuple(slice(max(side.start - 1, 0), side.stop + 1) for side in box)]
    for axis in range(array.ndim):
        low = [slice(None)] * array.ndim
        high = list(low)
        low[axis], high[axis] = slice(None, -1), slice(1, None)
        changes = array[tuple(high)] != array[tuple(low)]
        places = changes.any(axis=_other_axes(array.ndim, axis)).nonzero()[0]
        if len(places) >= _FEWEST_OUTLINES:
            steps.append(int(np.gcd.reduce(places[1:] - places[:-1])))
    return min(steps, default=0) if len(steps) >= min(array.ndim, 2) else 0


def _box(drawn: NDArray[np.bool_]) -> tuple[slice, ...] | None:
    """Return the smallest box around what was drawn, so that the rest is looked at once."""
    box: list[slice] = []
    for axis in range(drawn.ndim):
        # Each axis is looked through within the box found so far.
        inside = drawn[tuple(box)]
        places = np.asarray(inside.any(axis=_other_axes(drawn.ndim, axis))).nonzero()[0]
        if not places.size:
            return None
        box.append(slice(int(places[0]), int(places[-1]) + 1))
    return tuple(box)


def _sums(values: NDArray[np.bool_], axis: int) -> NDArray[np.intp]:
    """Count along all axes but one."""
    return np.asarray(values.sum(axis=_other_axes(values.ndim, axis), dtype=np.intp))


@cache
def _other_axes(ndim: int, axis: int) -> tuple[int, ...]:
    return tuple(other for other in range(ndim) if other != axis)


def _same(label: NDArray[Any], truth: NDArray[Any]) -> bool:
    if label.shape != truth.shape:
        return False
    known = (label != MISSING) & (truth != MISSING)
    return bool(known.any() and (label == truth)[known].all())
