"""From the values in a label file to class indices, and back.

Label files come as class indices, as 0 and 255, as one channel per class, or in colours. Which
rule was used is stated in `LabelMap.rule`; a file that fits none is refused, never guessed at.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.formats import read_label_array, suffix_of, write_image
from multirater.types import MISSING, Classes, Geometry, Image, LabelMap

Grid: TypeAlias = tuple[tuple[int, ...], Geometry]
"""Size and geometry of the image a label belongs to."""

_AMBIGUOUS = {".npy", ".npz", ".tif", ".tiff"}
"""Formats in which a third axis may be depth or channels: the image decides."""


def read_label(
    path: Path, *, classes: Classes | None = None, like: Callable[[], Grid] | None = None
) -> LabelMap:
    """Read a label file as class indices (*space), -1 where not labelled.

    Args:
        path: the file.
        classes: the classes that may occur; any index when not given.
        like: tells size and geometry of the image, asked only where the format needs it.
    """
    try:
        image = _read_array(path, like)
        indices, rule = decode_labels(image.array, classes)
    except InputError as error:
        raise error.at(file=path) from None
    return LabelMap(indices, image.geometry, rule)


def _read_array(path: Path, like: Callable[[], Grid] | None) -> Image:
    suffix = suffix_of(path)
    grid = like() if like is not None and (suffix in _AMBIGUOUS or suffix == ".dcm") else None
    if suffix == ".dcm" and grid is not None:
        from multirater.io.dicom_seg import is_dicom_seg, read_dicom_seg

        if is_dicom_seg(path):
            return read_dicom_seg(path, like=grid)
    return read_label_array(path, ndim=None if grid is None else len(grid[0]))


def decode_labels(array: NDArray[Any], classes: Classes | None) -> tuple[NDArray[np.int16], str]:
    """Turn file values (channels, *space) into class indices (*space) and name the rule.

    Example:
        >>> decode_labels(np.array([[[0, 255]]], dtype=np.uint8), None)
        (array([[0, 1]], dtype=int16), '0 is background, 255 is foreground')
    """
    array = _without_redundant_channels(array)
    if len(array) == 1:
        return _decode_values(_whole_numbers(array[0]), classes)
    if classes is not None and len(array) == 3 and all(item.colour for item in classes.items):
        return _decode_colours(array, classes), "colours of the classes"
    return _decode_channels(array, classes)


def _without_redundant_channels(array: NDArray[Any]) -> NDArray[Any]:
    """Drop an opaque alpha channel, and the copies of a grey image stored as colour."""
    if len(array) in (2, 4) and array.dtype == np.uint8 and (array[-1] == 255).all():
        array = array[:-1]
    if len(array) == 3 and (array[0] == array[1]).all() and (array[0] == array[2]).all():
        array = array[:1]
    return array


def _whole_numbers(values: NDArray[Any]) -> NDArray[Any]:
    if not np.issubdtype(values.dtype, np.floating):
        return values
    if np.isnan(values).any():
        raise InputError(
            Fault(
                f"{int(np.isnan(values).sum())} label values are NaN",
                expected="whole numbers",
                fix="store unlabelled pixels as -1, or as a value declared in classes.csv",
            )
        )
    if not (values == np.round(values)).all():
        fraction = values[values != np.round(values)].flat[0]
        raise InputError(
            Fault(
                f"label values are fractions such as {fraction:g}",
                expected="whole numbers: class indices",
                fix="threshold probabilities before using them as labels",
            )
        )
    return values.astype(np.int64)


def _decode_values(values: NDArray[Any], classes: Classes | None) -> tuple[NDArray[np.int16], str]:
    present = distinct(values)
    if classes is not None and any(item.value is not None for item in classes.items):
        return _decode_declared(values, present, classes), "values declared in classes.csv"
    unlabelled = None if classes is None else classes.unlabelled
    to_index = {int(v): int(v) for v in present}
    rule = "class indices"
    if unlabelled is not None and unlabelled in to_index:
        to_index[unlabelled] = MISSING
        rule = f"class indices, {unlabelled} is unlabelled"
    elif 255 in to_index and set(to_index) <= {0, 255} and (classes is None or len(classes) == 2):
        to_index[255] = 1
        rule = "0 is background, 255 is foreground"
    _require_known(to_index, classes)
    return _map_values(values, to_index), rule


def _require_known(to_index: dict[int, int], classes: Classes | None) -> None:
    highest = np.iinfo(np.int16).max if classes is None else len(classes) - 1
    unknown = sorted(v for v, index in to_index.items() if not MISSING <= index <= highest)
    if not unknown:
        return
    shown = ", ".join(map(str, unknown[:5])) + (", ..." if len(unknown) > 5 else "")
    many = len(to_index) > 64
    raise InputError(
        Fault(
            f"unknown class index {shown}",
            expected="class indices" if classes is None else f"class indices 0 to {highest}",
            fix="this looks like an image or a lossy file, not a label: check the path"
            if many
            else "mend the label, or declare the class (or its value) in classes.csv",
        )
    )


def _decode_declared(
    values: NDArray[Any], present: NDArray[Any], classes: Classes
) -> NDArray[np.int16]:
    declared = {
        index if item.value is None else item.value: index
        for index, item in enumerate(classes.items)
    }
    if classes.unlabelled is not None:
        declared[classes.unlabelled] = MISSING
    unknown = sorted({int(v) for v in present} - set(declared))
    if unknown:
        raise InputError(
            Fault(
                f"label value {', '.join(map(str, unknown[:5]))} is not declared",
                expected=f"one of {', '.join(map(str, sorted(declared)))}, from classes.csv",
                fix="mend the label, or declare the value in classes.csv",
            )
        )
    return _map_values(values, {value: declared[value] for value in map(int, present)})


def _decode_colours(array: NDArray[Any], classes: Classes) -> NDArray[np.int16]:
    packed = (array[0].astype(np.int64) << 16) | (array[1].astype(np.int64) << 8) | array[2]
    declared = {int(item.colour.lstrip("#"), 16): index for index, item in enumerate(classes.items)}
    unknown = [int(v) for v in distinct(packed) if int(v) not in declared]
    if unknown:
        raise InputError(
            Fault(
                f"colour #{unknown[0]:06x} stands for no class",
                expected=f"one of {', '.join(item.colour for item in classes.items)}",
                fix="mend the label, or declare the colour in classes.csv",
            )
        )
    return _map_values(packed, {int(v): declared[int(v)] for v in distinct(packed)})


def _decode_channels(array: NDArray[Any], classes: Classes | None) -> tuple[NDArray[np.int16], str]:
    """One channel per class; without a channel for the background when some pixels have none."""
    values = set(map(int, distinct(_whole_numbers(array))))
    if not (values <= {0, 1} or values <= {0, 255}):
        raise InputError(
            Fault(
                f"{len(array)} channels with {len(values)} different values",
                expected="one channel of class indices, or one channel per class with 0/1 or 0/255",
                fix="a colour image is not a label, unless its colours are in classes.csv",
            )
        )
    active = array != 0
    how_many = active.sum(0)
    if how_many.max() > 1:
        raise InputError(
            Fault(
                f"{int((how_many > 1).sum())} pixels belong to several classes at once",
                expected="at most one channel set per pixel",
                fix="decide for one class per pixel, or give each class a data set of its own",
            )
        )
    none_set = how_many == 0
    index = active.argmax(0).astype(np.int16)
    if classes is not None and len(classes) == len(array):
        index[none_set] = MISSING
        return index, "one channel per class, unlabelled where none is set"
    if classes is not None and len(classes) != len(array) + 1:
        raise InputError(
            Fault(
                f"{len(array)} channels",
                expected=f"{len(classes)} (one per class), or one fewer (without background)",
                fix="correct classes.csv or the label",
            )
        )
    if classes is None and not none_set.any():
        return index, "one channel per class"
    index += 1
    index[none_set] = 0
    return index, "one channel per class, background where none is set"


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct whole numbers in an array, sorted; fast for the usual small ranges."""
    if values.size == 0:
        return np.empty(0, dtype=np.int64)
    low, high = int(values.min()), int(values.max())
    if high - low > 1 << 16:
        return np.unique(values)
    flat = values.ravel() if low == 0 else values.ravel().astype(np.int64) - low
    return np.flatnonzero(np.bincount(flat)) + low


def _map_values(values: NDArray[Any], to_index: dict[int, int]) -> NDArray[np.int16]:
    if all(value == index for value, index in to_index.items()):
        return values.astype(np.int16)
    sources = np.array(sorted(to_index))
    targets = np.array([to_index[int(value)] for value in sources], dtype=np.int16)
    return np.asarray(targets[np.searchsorted(sources, values)])


def write_label(
    label: LabelMap, path: Path, *, classes: Classes | None = None, overwrite: bool = False
) -> None:
    """Write class indices to a file, in the smallest type that holds them.

    Unlabelled pixels become the value that `classes` declares for them, or -1 in formats that can
    hold it.
    """
    values = encode_labels(label.array, classes, signed=suffix_of(path) not in (".png", ".dcm"))
    write_image(Image(values[None], label.geometry), path, overwrite=overwrite)


def encode_labels(
    array: NDArray[np.int16], classes: Classes | None, *, signed: bool
) -> NDArray[Any]:
    """Turn class indices into the values that stand for them in a file."""
    to_value = {int(index): int(index) for index in distinct(array)}
    if classes is not None:
        for index, item in enumerate(classes.items):
            if index in to_value and item.value is not None:
                to_value[index] = item.value
        if MISSING in to_value and classes.unlabelled is not None:
            to_value[MISSING] = classes.unlabelled
    low, high = min(to_value.values(), default=0), max(to_value.values(), default=0)
    if low < 0 and not signed:
        raise InputError(
            Fault(
                "unlabelled pixels (-1) in a format without negative values",
                fix="declare a value for unlabelled pixels in classes.csv, or write NIfTI, NRRD, "
                "MetaImage, TIFF or NPZ",
            )
        )
    kind = np.int16 if low < 0 else (np.uint8 if high < 256 else np.uint16)
    indices = np.array(sorted(to_value))
    values = np.array([to_value[int(index)] for index in indices], dtype=kind)
    return np.asarray(values[np.searchsorted(indices, array)])
