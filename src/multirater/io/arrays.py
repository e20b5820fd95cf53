"""A data set from arrays in memory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.types import MISSING, Case, Classes, Dataset, Geometry, Image, LabelMap, Source

T = TypeVar("T")


def dataset_from_arrays(
    labels: Sequence[NDArray[Any]] | NDArray[Any],
    *,
    images: Sequence[NDArray[Any]] | NDArray[Any] | None = None,
    truths: Sequence[NDArray[Any]] | NDArray[Any] | None = None,
    raters: Sequence[str] | None = None,
    cases: Sequence[str] | None = None,
    splits: Sequence[str] | None = None,
    classes: Classes | None = None,
    spacing: Sequence[float] | None = None,
) -> Dataset:
    """Make a data set of arrays.

    Args:
        labels: per case (n_raters, *space), class indices, -1 where missing. A rater whose whole
            label is -1 did not label the case.
        images: per case (*space), or (channels, *space).
        truths: per case (*space).
        raters: names; rater 1, rater 2, ... when not given.
        cases: names; their numbers when not given.
        splits: `train`, `test`, ... per case.
        classes: the classes; counted when not given.
        spacing: millimetres per axis, the same for all cases.

    Example:
        >>> data = dataset_from_arrays(np.zeros((2, 3, 8, 8), dtype=int))
        >>> len(data), data.raters
        (2, ('rater 1', 'rater 2', 'rater 3'))
    """
    n_raters = np.shape(labels[0])[0]
    names = tuple(raters or (f"rater {number + 1}" for number in range(n_raters)))
    width = len(str(len(labels) - 1))
    made = []
    for number, label in enumerate(labels):
        drawn = np.asarray(label)
        _require_integers(drawn)
        geometry = _geometry(drawn.ndim - 1, spacing)
        made.append(
            Case(
                name=str(cases[number]) if cases else f"{number:0{width}d}",
                image=None if images is None else _given(_image(images[number], geometry)),
                labels={
                    name: _given(LabelMap(each.astype(np.int16), geometry))
                    for name, each in zip(names, drawn, strict=True)
                    if (each != MISSING).any()
                },
                truth=None
                if truths is None
                else _given(LabelMap(np.asarray(truths[number]).astype(np.int16), geometry)),
                split=str(splits[number]) if splits is not None else "",
            )
        )
    highest = max(int(np.max(label, initial=MISSING)) for label in labels)
    return Dataset(tuple(made), names, "masks", classes or Classes.numbered(max(highest + 1, 2)))


def _geometry(ndim: int, spacing: Sequence[float] | None) -> Geometry:
    default = Geometry.default(ndim)
    if spacing is None:
        return default
    return Geometry(tuple(map(float, spacing)), default.origin, default.direction)


def _image(array: NDArray[Any], geometry: Geometry) -> Image:
    image = np.asarray(array)
    return Image(image[None] if image.ndim == geometry.ndim else image, geometry)


def _given(value: T) -> Source[T]:
    return Source(partial(_identity, value))


def _identity(value: T) -> T:
    return value


def _require_integers(array: NDArray[Any]) -> None:
    if array.dtype.kind not in "biu":
        raise InputError(
            Fault(f"labels are of type {array.dtype}", expected="integers: class indices, or -1")
        )
