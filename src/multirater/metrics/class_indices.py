"""The border of the metrics: what counts as a label array, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multirater.errors import Fault, InputError
from multirater.types import MISSING, MOST_CLASSES


def as_class_indices(labels: ArrayLike) -> NDArray[np.signedinteger[Any]]:
    """Read `labels` as class indices of a type that can hold -1."""
    array: NDArray[Any] = class_indices(labels)
    return array if array.dtype.kind == "i" else array.astype(np.int64)


def unmasked(values: ArrayLike) -> NDArray[Any]:
    """Return an array in which what numpy calls masked is missing: -1 of whole numbers, else NaN.

    Raises:
        InputError: rows of different lengths are no array.

    Example:
        >>> unmasked(np.ma.masked_equal(np.array([0, 1, 9], dtype=np.uint8), 9)).tolist()
        [0, 1, -1]
    """
    try:
        if isinstance(values, list | tuple) and any(np.ma.isMA(each) for each in values):
            values = np.ma.stack(values)
        if not np.ma.isMA(values):
            return np.asarray(values)
    except ValueError as error:
        raise InputError(
            Fault(f"labels are no array: {error}", expected="arrays of one size")
        ) from None
    masked: Any = values
    if masked.dtype.kind in "biu":
        return np.asarray(masked.astype(np.int64).filled(MISSING))
    return np.asarray(masked.filled(np.nan)) if masked.dtype.kind == "f" else np.asarray(masked)


def class_indices(labels: ArrayLike) -> NDArray[np.integer[Any]]:
    """Read `labels` as class indices: booleans become 0 and 1, NaN and what is masked -1.

    The input is never written to; integer arrays come back as they are, unsigned ones too.
    """
    array = unmasked(labels)
    if array.dtype == np.bool_:
        return array.view(np.int8)
    if array.dtype.kind == "f":
        array = _whole_numbers(array)
    elif array.dtype.kind not in "iu":
        raise InputError(
            Fault(
                f"labels are of type {array.dtype}",
                expected="class indices as integers, booleans, or floats with NaN for missing",
                fix="number the classes 0, 1, 2, ...",
            )
        )
    if array.dtype == np.uint64 and int(array.max(initial=0)) > np.iinfo(np.int64).max:
        raise InputError(
            Fault(
                f"label {int(array.max())}",
                expected="class indices from 0",
                fix="number the classes 0, 1, 2, ...",
            )
        )
    lowest = 0 if array.dtype.kind == "u" else int(array.min(initial=0))
    if lowest < MISSING:
        raise InputError(
            Fault(
                f"label {lowest}",
                expected="class indices from 0, and -1 where not labelled",
                fix="write -1 for every value that means not labelled",
            )
        )
    return array


def _whole_numbers(array: NDArray[Any]) -> NDArray[np.int64]:
    filled = np.where(np.isnan(array), MISSING, array)
    broken = ~np.isfinite(filled) | (filled != np.round(filled))
    if broken.any():
        raise InputError(
            Fault(
                f"labels hold fractions such as {filled[broken].flat[0]:g}",
                expected="class indices, -1 or NaN where a rater did not label",
                fix="turn probabilities into labels first",
            )
        )
    return filled.astype(np.int64)


def as_label_pair(
    first: ArrayLike, second: ArrayLike
) -> tuple[NDArray[np.signedinteger[Any]], NDArray[np.signedinteger[Any]]]:
    """Read two label maps of the same space."""
    pair = as_class_indices(first), as_class_indices(second)
    require_same_shape(*pair)
    return pair


def as_rating_rows(
    labels: ArrayLike,
) -> tuple[NDArray[np.signedinteger[Any]], tuple[int, ...]]:
    """Read labels (n_raters, *items) as (n_raters, n_items), and give the shape of the items."""
    ratings = as_class_indices(labels)
    if ratings.ndim == 0:
        raise InputError(
            Fault("a single label", expected="labels of shape (n_raters, *items)", fix="add axes")
        )
    items = ratings.shape[1:]
    return ratings.reshape(len(ratings), math.prod(items)), items


def require_same_shape(first: NDArray[Any], second: NDArray[Any]) -> None:
    """Refuse arrays that cannot be compared entry by entry."""
    if first.shape != second.shape:
        raise InputError(
            Fault(
                f"arrays of shape {first.shape} and {second.shape}",
                expected="two arrays of the same shape",
                fix="compare labels that lie on the same grid",
            )
        )


def count_classes(*labels: NDArray[Any]) -> int:
    """One more than the highest index that occurs, so that a table can hold every class."""
    n_classes = max(int(array.max(initial=0)) for array in labels) + 1
    if n_classes > MOST_CLASSES:
        raise InputError(
            Fault(
                f"label {n_classes - 1}",
                expected=f"class indices below {MOST_CLASSES}",
                fix="number the classes 0, 1, 2, ...",
            )
        )
    return n_classes


def require_classes_below(n_classes: int, *labels: NDArray[Any]) -> None:
    """Refuse a label that is not among the declared classes."""
    highest = max(int(array.max(initial=MISSING)) for array in labels)
    if highest >= n_classes:
        raise InputError(
            Fault(
                f"label {highest}",
                expected=f"class indices 0 to {n_classes - 1}, since n_classes is {n_classes}",
                fix="raise n_classes, or correct the label",
            )
        )


def as_item_weights(weights: ArrayLike | None, items: tuple[int, ...]) -> NDArray[np.float64]:
    """Read how many items each column stands for, flattened; one each when not given."""
    if weights is None:
        return np.ones(math.prod(items))
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != items:
        raise InputError(
            Fault(
                f"weights of shape {array.shape}",
                expected=f"one weight per item, shape {items}",
                fix="give the weights the shape of the labels without the rater axis",
            )
        )
    if not np.all(np.isfinite(array) & (array >= 0)):
        raise InputError(
            Fault(
                "a weight that is negative or not finite",
                expected="how many items share each column, 0 or more",
            )
        )
    return array.ravel()
