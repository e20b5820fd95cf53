"""From class indices to the values that stand for them in a label file."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.formats.label_values import distinct, first_few
from multirater.types import MISSING, Classes


def encode_labels(
    array: NDArray[np.int16], classes: Classes | None, *, signed: bool
) -> NDArray[Any]:
    """Turn class indices into the values that stand for them in a file, in the smallest type.

    Args:
        array: class indices (*space), -1 where not labelled.
        classes: says the values; indices as they are when not given.
        signed: whether the file can hold negative values.

    Raises:
        InputError: an index is no class, or unlabelled pixels have no value to stand for them.
    """
    present = [int(index) for index in distinct(array)]
    highest = np.iinfo(np.int16).max if classes is None else len(classes) - 1
    unknown = [index for index in present if not MISSING <= index <= highest]
    if unknown:
        raise InputError(
            Fault(
                f"unknown class index {first_few(unknown)}",
                expected=f"class indices 0 to {highest}, or -1 where not labelled",
                fix="mend the label, or name all classes",
            )
        )
    to_value = {index: _value_of(index, classes) for index in present}
    low, high = min(to_value.values(), default=0), max(to_value.values(), default=0)
    if low < 0 and not signed:
        raise InputError(
            Fault(
                "unlabelled pixels (-1) in a format without negative values",
                fix="declare a value for unlabelled pixels in classes.csv, or write NIfTI, NRRD, "
                "MetaImage, TIFF or NPZ",
            )
        )
    if all(index == value for index, value in to_value.items()):
        return array.astype(_smallest(low, high))
    indices = np.array(sorted(to_value), dtype=np.int64)
    values = np.array([to_value[index] for index in indices.tolist()], dtype=_smallest(low, high))
    return np.asarray(values[np.searchsorted(indices, array)])


def _value_of(index: int, classes: Classes | None) -> int:
    if classes is None:
        return index
    value = classes.unlabelled if index == MISSING else classes.items[index].value
    return index if value is None else value


def _smallest(low: int, high: int) -> type[np.integer[Any]]:
    kinds = (np.int16, np.int32) if low < 0 else (np.uint8, np.uint16, np.uint32)
    return next(k for k in kinds if np.iinfo(k).min <= low and high <= np.iinfo(k).max)
