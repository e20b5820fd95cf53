"""From the values in a label file to class indices; `encoded_labels` goes back.

Labels come as class indices, as 0 and 255, as one channel per class, or in colours. Which rule was
used is stated; values that fit none are refused, never guessed at.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.formats.ground import holds, without_opacity
from multirater.io.formats.stray import MOST_STRAYS, OFFER, Stray, place_of, require_few, settled
from multirater.types import MISSING, Classes

INDICES = "class indices"
CHANNELS = "one channel per class"
CHANNELS_WITHOUT_BACKGROUND = "one channel per class, background where none is set"
CHANNELS_WITH_GAPS = "one channel per class, unlabelled where none is set"
COLOURS = "colours of the classes"
DECLARED = "values declared in classes.csv"
FOREGROUND = "0 is background, {} is foreground"
_FULL = re.compile(r"0 is background, (\d+) is foreground")

HIGHEST_UNDECLARED = 127
"""Larger values are likely grey levels, so that they are class indices only if declared as such."""

_VALUES_OF_AN_IMAGE = (16, 64)
"""Values of a file from which on it is no label: where most pixels hold odd ones, and else."""

_FULL_SCALE = (255, 65535)
_FOREGROUND = {full: FOREGROUND.format(full) for full in _FULL_SCALE}


def full_value(rule: str) -> int:
    """Return the value that stood for the foreground of a mask by a rule; 0 where it was an index.

    Example:
        >>> full_value(FOREGROUND.format(65535)), full_value(INDICES)
        (65535, 0)
    """
    found = _FULL.match(rule)
    return 0 if found is None else int(found[1])


def decode_labels(
    array: NDArray[Any],
    classes: Classes | None,
    *,
    is_picture: bool = True,
    may_be_transparent: bool = False,
    unlabelled: int | None = None,
    stray: Stray | None = None,
) -> tuple[NDArray[np.int16], str]:
    """Turn file values (channels, *space) into class indices (*space) and name the rule.

    Args:
        array: whole numbers, as integers, floating point or bool.
        classes: the classes that may occur; when not given, indices up to `HIGHEST_UNDECLARED`.
        is_picture: whether channels may be colours and opacity. Then a last of 2 or 4 channels
            that is full everywhere is opacity and three empty channels are black; else they are
            classes.
        may_be_transparent: whether transparent pixels of pictures are *not labelled*.
        unlabelled: the value that means *not labelled* in this file, in place of what the classes
            say; of several channels, the value of all, or a colour as 0xrrggbb.
        stray: how values and colours that stand for no class are read; they are refused when not
            given.

    Example:
        >>> decode_labels(np.array([[[0, 255]]], dtype=np.uint8), None)
        (array([[0, 1]], dtype=int16), '0 is background, 255 is foreground')
    """
    array, is_transparent = _whole_numbers(array), False
    if is_picture:
        array, is_transparent = without_opacity(array, may_be_transparent=may_be_transparent)
    if unlabelled is None:
        indices, rule = _decode(array, classes, is_picture, stray)
    else:
        indices, rule = _decode_stated(array, classes, is_picture, unlabelled)
    return indices, f"{rule}, transparent is unlabelled" if is_transparent else rule


def _decode_stated(
    array: NDArray[Any], classes: Classes | None, is_picture: bool, stated: int
) -> tuple[NDArray[np.int16], str]:
    """Decode a file whose value for unlabelled pixels is stated: that of the classes is void."""
    blank = holds(array, stated)
    declared = None if classes is None else classes.unlabelled
    bare = None if classes is None else replace(classes, unlabelled=None, other_unlabelled=())
    try:
        values = np.where(blank, MISSING, array.astype(np.int64))
        indices, rule = _decode(values, bare, is_picture)
    except InputError as error:
        if declared in (None, stated):
            raise
        note = f"; {stated}, stated for this file, takes the place of {declared} in classes.csv"
        noted = [replace(fault, expected=fault.expected + note) for fault in error.faults]
        raise InputError(noted) from None
    if blank.any() and not blank.all() and (indices == MISSING).all():
        raise InputError(
            Fault(
                f"nothing is labelled: all pixels hold {stated}, which is stated to mean so, or "
                "another value that does",
                expected="labelled pixels, or a file of one value",
                fix="correct the stated value",
            )
        )
    return indices, f"{rule}, {stated} is unlabelled"


def _decode(
    array: NDArray[Any], classes: Classes | None, is_picture: bool, stray: Stray | None = None
) -> tuple[NDArray[np.int16], str]:
    if classes is not None and len(array) == 3 and all(item.colour for item in classes.items):
        indices = _decode_colours(array, classes, stray)
        if indices is not None:
            return indices, COLOURS
    if len(array) == 3 and (array == array[:1]).all() and (is_picture or array.any()):
        array = array[:1]  # grey stored as colour
    if len(array) == 1:
        return _decode_values(array[0], classes, stray)
    if is_picture and classes is None:
        _require_colour(array)
    return _decode_channels(array, classes)


def _require_colour(array: NDArray[Any]) -> None:
    """Refuse black drawings on transparency, whose opacity would pass for a class of its own."""
    if len(array) in (2, 4) and not array[:-1].any() and array[-1].any():
        raise InputError(
            Fault(
                "is black everywhere, and differs by its opacity alone",
                expected="class indices, 0 and 255, or one channel per class",
                fix="save what was drawn without transparency; if the channels are classes, "
                "declare them in classes.csv",
            )
        )


def _whole_numbers(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind != "f":
        if values.dtype == np.uint64:
            _require_small(float(values.max(initial=0)))
        return values
    if not np.isfinite(values).all():
        n_nan, n_bad = int(np.isnan(values).sum()), int((~np.isfinite(values)).sum())
        raise InputError(
            Fault(
                f"{n_bad} label values are {'NaN' if n_nan == n_bad else 'NaN or infinite'}",
                expected="whole numbers",
                fix="store unlabelled pixels as -1, or as a value declared in classes.csv",
            )
        )
    whole = values == np.round(values)
    if not whole.all():
        raise InputError(
            Fault(
                f"label values are fractions such as {values[~whole].flat[0]:g}",
                expected="whole numbers: class indices",
                fix="threshold probabilities before using them as labels",
            )
        )
    _require_small(float(np.abs(values).max(initial=0)))
    return values.astype(np.int64)


def _require_small(largest: float) -> None:
    if largest > _LARGEST:
        raise InputError(
            Fault(
                f"label values are as large as {largest:g}",
                expected="class indices",
                fix="look at what the file holds: this is no label",
            )
        )


_LARGEST = 2.0**53
"""Whole numbers up to here are exact; larger ones would turn into others."""


def _decode_values(
    values: NDArray[Any], classes: Classes | None, stray: Stray | None = None
) -> tuple[NDArray[np.int16], str]:
    present = set(distinct(values).tolist())
    if stray is not None and present - {MISSING} - (known := _known_values(values, classes)):
        indices, rule = _decode_values(settled(values, known, stray), classes)
        return indices, f"{rule}, strays are {stray}"
    if classes is not None and classes.have_values:
        return _map_values(values, _declared_index(values, present, classes)), DECLARED
    to_index = {value: value for value in present}
    rule = INDICES
    blank = {} if classes is None else {v: i for v, i in classes.by_value().items() if i == MISSING}
    full = max(present, default=0)
    if unlabelled := sorted((blank.keys() & present) - {MISSING}):
        to_index |= dict.fromkeys(unlabelled, MISSING)
        rule = f"{INDICES}, {first_few(unlabelled)} is unlabelled"
    elif (
        full in _FULL_SCALE
        and present <= {MISSING, 0, full}
        and (classes is None or len(classes) == 2)
    ):
        to_index[full] = 1
        rule = _FOREGROUND[full]
    _require_known(values, to_index, classes)
    return _map_values(values, to_index), rule


def _known_values(values: NDArray[Any], classes: Classes | None) -> set[int]:
    """Return the values that stand for something, which files that tell nothing leave open.

    They are class indices or a mask of 0 and full scale, whichever makes fewer pixels strays.
    """
    if classes is not None and (classes.have_values or len(classes) > 2):
        return set(classes.by_value())
    highest = HIGHEST_UNDECLARED if classes is None else len(classes) - 1
    indices = set(range(highest + 1))
    full = next((full for full in _FULL_SCALE if values.max(initial=0) <= full), 0)
    candidates = [{0, full}, indices] if full else [indices]
    blank = set() if classes is None else {v for v, i in classes.by_value().items() if i == MISSING}
    strays = [int((~np.isin(values, [*each, MISSING, *blank])).sum()) for each in candidates]
    return candidates[int(np.argmin(strays))] | blank


def _require_known(values: NDArray[Any], to_index: dict[int, int], classes: Classes | None) -> None:
    highest = HIGHEST_UNDECLARED if classes is None else len(classes) - 1
    unknown = sorted(v for v, index in to_index.items() if not MISSING <= index <= highest)
    if not unknown:
        return
    expected = f"class indices 0 to {highest}"
    expected += ", the largest without classes.csv" if classes is None else ""
    strays = _strays(to_index) if classes is None or len(classes) == 2 else []
    is_odd = np.isin(values, strays or unknown)
    few, many = _VALUES_OF_AN_IMAGE
    if len(to_index) > (few if is_odd.mean() > MOST_STRAYS else many):
        fix = "this looks like an image or a lossy file, not a label: check the path"
    elif strays:
        full = max(to_index)
        expected += f"; 0 and {full} alone would be a mask of two classes"
        fix = (
            f"mend the pixels of value {first_few(strays)}, or declare all values in "
            f"classes.csv, or {OFFER}"
        )
    elif len(unknown) == 1 and to_index.keys() <= {MISSING, 0, *unknown}:
        # All that was drawn: as a slip it would vanish.
        fix = (
            f"if {unknown[0]} is the object, say so in classes.csv, in three lines: "
            f"`index,name,value`, `0,background,0`, `1,object,{unknown[0]}`"
        )
    else:
        fix = f"mend the label, or declare the class (or its value) in classes.csv, or {OFFER}"
    raise InputError(
        Fault(
            f"unknown class index {first_few(unknown)} among the values "
            f"{first_few(sorted(to_index))}: {place_of(is_odd)}",
            expected=expected,
            fix=fix,
        )
    )


def _strays(to_index: dict[int, int]) -> list[int]:
    """Return the values that keep a file from being a mask of 0 and full scale."""
    full = max(to_index)
    if full not in _FULL_SCALE or 0 not in to_index or to_index[full] == MISSING:
        return []
    return sorted(to_index.keys() - {MISSING, 0, full})


def _declared_index(values: NDArray[Any], present: set[int], classes: Classes) -> dict[int, int]:
    declared = classes.by_value()
    unknown = sorted(present - set(declared))
    if unknown:
        raise InputError(
            Fault(
                f"label value {first_few(unknown)} is not declared: "
                f"{place_of(np.isin(values, unknown))}",
                expected=f"one of {', '.join(map(str, sorted(declared)))}, from classes.csv",
                fix=f"mend the label, or declare the value in classes.csv, or {OFFER}",
            )
        )
    return {value: declared[value] for value in present}


def _decode_colours(
    array: NDArray[Any], classes: Classes, stray: Stray | None
) -> NDArray[np.int16] | None:
    """Look up the colours; None if they are no colours but copies of grey, or channels of 0/1."""
    labelled = ~holds(array, MISSING)
    painted = array[:, labelled]
    low, high = int(painted.min(initial=0)), int(painted.max(initial=0))
    if low < 0 or high > 255:
        return None
    red, green, blue = painted.astype(np.int64)
    packed = (red << 16) | (green << 8) | blue
    declared = {int(item.colour.lstrip("#"), 16): index for index, item in enumerate(classes.items)}
    present = [int(value) for value in distinct(packed)]
    unknown = [value for value in present if value not in declared]

    def indices(classes: dict[int, int]) -> NDArray[np.int16]:
        found: NDArray[np.int16] = np.full(labelled.shape, MISSING, dtype=np.int16)
        found[labelled] = _map_values(packed, {value: classes[value] for value in present})
        return found

    if not unknown:
        return indices(declared)
    is_grey = all(value >> 16 == value >> 8 & 255 == value & 255 for value in present)
    if is_grey or high <= 1:
        return None
    is_stray = np.zeros(labelled.shape, dtype=bool)
    is_stray[labelled] = np.isin(packed, unknown)
    if stray is not None:
        require_few(is_stray)
        closest = {value: _closest_colour(value, declared) for value in unknown}
        return indices(
            declared | (closest if stray == "nearest" else dict.fromkeys(unknown, MISSING))
        )
    raise InputError(
        Fault(
            f"colour #{unknown[0]:06x} stands for no class: {place_of(is_stray)}",
            expected=f"one of {', '.join(item.colour for item in classes.items)}",
            fix=f"mend the label, or declare the colour in classes.csv, or {OFFER}; if the "
            "channels stand for classes, leave the colours in classes.csv empty",
        )
    )


def _closest_colour(value: int, declared: dict[int, int]) -> int:
    """Return the class of the colour that is closest in red, green and blue."""

    def distance(colour: int) -> int:
        return sum(((value >> by & 255) - (colour >> by & 255)) ** 2 for by in (16, 8, 0))

    return declared[min(declared, key=distance)]


def _decode_channels(array: NDArray[Any], classes: Classes | None) -> tuple[NDArray[np.int16], str]:
    """One channel per class; without a channel for the background when some pixels have none."""
    blank = holds(array, MISSING)
    active = _active(np.where(blank, 0, array))
    how_many = active.sum(0)
    if how_many.max(initial=0) > 1:
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
        return index, CHANNELS_WITH_GAPS if none_set.any() else CHANNELS
    if classes is not None and len(classes) != len(array) + 1:
        raise InputError(
            Fault(
                f"{len(array)} channels",
                expected=f"{len(classes)} (one per class), or one fewer (without background)",
                fix="correct classes.csv or the label",
            )
        )
    if classes is None and not none_set.any():
        return index, CHANNELS
    index += 1
    index[none_set] = 0
    index[blank] = MISSING
    return index, CHANNELS_WITHOUT_BACKGROUND


def _active(array: NDArray[Any]) -> NDArray[np.bool_]:
    values = {int(value) for value in distinct(array)}
    if not (values <= {0, 1} or values <= {0, 255}):
        raise InputError(
            Fault(
                f"{len(array)} channels with {len(values)} different values",
                expected="one channel of class indices, or one channel per class with 0/1 or 0/255",
                fix="a colour image is not a label, unless its colours are in classes.csv",
            )
        )
    return np.asarray(array != 0)


_FEW_VALUES = 8


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct whole numbers in an array, sorted; fast for the usual small ranges.

    Example:
        >>> distinct(np.array([[3, -1], [3, 0]]))
        array([-1,  0,  3])
    """
    if values.size == 0:
        return np.empty(0, dtype=np.int64)
    if values.dtype == np.uint8 and values.size <= 1 << 16:  # small pictures: one pass
        return np.bincount(values.reshape(-1)).nonzero()[0]
    low, high = int(values.min()), int(values.max())
    if high - low > 1 << 16 or high > np.iinfo(np.int64).max:
        return np.unique(values)
    if high - low <= _FEW_VALUES:  # looked for one by one, without another copy of a volume
        between = [value for value in range(low + 1, high) if (values == value).any()]
        return np.array(sorted({low, *between, high}), dtype=np.int64)
    flat = values.ravel()
    if low != 0 or flat.dtype == np.uint64:  # which older numpy does not count
        flat = flat.astype(np.int64) - low
    return np.flatnonzero(np.bincount(flat)) + low


def _map_values(values: NDArray[Any], to_index: dict[int, int]) -> NDArray[np.int16]:
    if all(value == index for value, index in to_index.items()):
        return values.astype(np.int16)
    if values.dtype == np.uint8:
        table = np.zeros(256, dtype=np.int16)
        for value, index in to_index.items():
            table[value] = index
        return table.take(values)
    sources = np.array(sorted(to_index))
    targets = np.array([to_index[int(value)] for value in sources], dtype=np.int16)
    return np.asarray(targets[np.searchsorted(sources, values)])


def first_few(values: list[int]) -> str:
    """Return values as text, no more than five of them."""
    return ", ".join(map(str, values[:5])) + (", ..." if len(values) > 5 else "")
