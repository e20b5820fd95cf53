"""A data set from arrays in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.formats.axes import channels_first
from multirater.io.formats.grid import COARSEST, FINEST, is_step, size_text
from multirater.metrics.class_indices import unmasked
from multirater.types import (
    MISSING,
    Case,
    Classes,
    Dataset,
    Geometry,
    Image,
    LabelClass,
    LabelMap,
    Source,
)

T = TypeVar("T")
Arrays: TypeAlias = Sequence[NDArray[Any]] | NDArray[Any]


def dataset_from_arrays(
    labels: Arrays,
    *,
    images: Arrays | None = None,
    truths: Arrays | None = None,
    raters: Sequence[str] | None = None,
    cases: Sequence[str] | None = None,
    splits: Sequence[str] | None = None,
    patients: Sequence[str] | None = None,
    diagnoses: Sequence[str] | None = None,
    classes: Classes | None = None,
    spacing: Sequence[float] | None = None,
) -> Dataset:
    """Make a data set of arrays.

    Args:
        labels: per case (n_raters, *space), class indices, -1 where missing. A rater whose whole
            label is -1 did not label the case. Without axes of space, (n_cases, n_raters), each
            label is the class of a whole image.
        images: per case (*space), or (channels, *space); with class labels also (n_features,).
        truths: per case (*space).
        raters: names; rater 1, rater 2, ... when not given.
        cases: names; their numbers when not given.
        splits: `train`, `test`, ... per case.
        patients: whose image it is, per case.
        diagnoses: of whole cases, by name; empty where none is known.
        classes: the classes; counted when not given.
        spacing: millimetres per axis, the same for all cases.

    Raises:
        InputError: with everything that does not fit together.

    Example:
        >>> data = dataset_from_arrays(np.zeros((2, 3, 8, 8), dtype=int))
        >>> len(data), data.raters
        (2, ('rater 1', 'rater 2', 'rater 3'))
    """
    drawn = [unmasked(label) for label in labels]
    known = None if truths is None else [unmasked(truth) for truth in truths]
    pictures = None if images is None else [_picture(image) for image in images]
    width = len(str(max(len(drawn) - 1, 0)))
    names = list(map(str, cases if cases is not None else _numbers(len(drawn), width)))
    n_raters = len(drawn[0]) if drawn and drawn[0].ndim else 0
    who = list(map(str, raters if raters is not None else _rater_names(n_raters)))
    lists = {"images": pictures, "truths": known, "cases": names, "splits": splits}
    lists |= {"patients": patients, "diagnoses": diagnoses}
    _require_fit(drawn, {name: each for name, each in lists.items() if each is not None}, who)
    counted = classes or _counted([*drawn, *(known or [])], is_class=drawn[0].ndim == 1)
    _require_values(names, drawn, pictures, known, len(counted), spacing)
    made = [
        _case(
            name,
            drawn[i],
            None if pictures is None else pictures[i],
            None if known is None else known[i],
            _name(splits[i]) if splits is not None else "",
            _name(patients[i]) if patients is not None else "",
            who,
            spacing,
        )
        for i, name in enumerate(names)
    ]
    if diagnoses is not None:
        made = [
            replace(case, diagnosis=_name(each)) for case, each in zip(made, diagnoses, strict=True)
        ]
    _require_labels_of(who, made)
    return Dataset(tuple(made), tuple(who), "classes" if drawn[0].ndim == 1 else "masks", counted)


def _picture(image: NDArray[Any]) -> NDArray[Any]:
    """Return an image as an array; what is masked is no number, and refused by who learns."""
    if np.ma.is_masked(image):
        return np.asarray(np.ma.asarray(image, dtype=np.float64).filled(np.nan))
    return np.asarray(image)


def _name(value: Any) -> str:
    """Return a name; None and NaN, as tables have them, are none."""
    return "" if value is None or value != value else str(value)


def _numbers(n_cases: int, width: int) -> list[str]:
    return [f"{number:0{width}d}" for number in range(n_cases)]


def _rater_names(n_raters: int) -> list[str]:
    return [f"rater {number + 1}" for number in range(n_raters)]


def _case(
    name: str,
    drawn: NDArray[Any],
    picture: NDArray[Any] | None,
    truth: NDArray[Any] | None,
    split: str,
    patient: str,
    raters: Sequence[str],
    spacing: Sequence[float] | None,
) -> Case:
    geometry = _geometry(drawn.ndim - 1, spacing)
    labels = {
        rater: _given(LabelMap(label.astype(np.int16), geometry))
        for rater, label in zip(raters, drawn, strict=True)
        if (label != MISSING).any()
    }
    image = None if picture is None else _given(_image(picture, geometry, spacing))
    known = None if truth is None else _given(LabelMap(truth.astype(np.int16), geometry))
    return Case(name, image, labels, known, split, patient=patient)


def _geometry(ndim: int, spacing: Sequence[float] | None) -> Geometry:
    default = Geometry.default(ndim)
    if spacing is None or ndim == 0:
        return default
    return Geometry(tuple(map(float, spacing)), default.origin, default.direction)


def _image(picture: NDArray[Any], geometry: Geometry, spacing: Sequence[float] | None) -> Image:
    if geometry.ndim:
        return Image(picture[None] if picture.ndim == geometry.ndim else picture, geometry)
    if picture.ndim == 1:
        return Image(picture, geometry)
    array = channels_first(picture)
    return Image(array, _geometry(array.ndim - 1, spacing))


def _given(value: T) -> Source[T]:
    return Source(partial(_identity, value))


def _identity(value: T) -> T:
    return value


def _counted(arrays: Sequence[NDArray[Any]], *, is_class: bool) -> Classes:
    whole = [array for array in arrays if array.dtype.kind in "biu" and array.size]
    highest = max((int(array.max()) for array in whole), default=MISSING)
    if highest == 255 and all(np.isin(array, (MISSING, 0, 255)).all() for array in whole):
        raise InputError(
            Fault(
                "labels are 0 and 255, as image files store masks",
                expected="class indices",
                fix="give `masks > 0`; or name 256 classes if 255 is meant as a class",
            )
        )
    n_classes = min(max(highest + 1, 2), np.iinfo(np.int16).max + 1)
    if is_class:
        return Classes(tuple(LabelClass(str(index)) for index in range(n_classes)))
    return Classes.numbered(n_classes)


def _require_fit(
    labels: Sequence[NDArray[Any]], lists: dict[str, Sequence[Any]], raters: Sequence[str]
) -> None:
    """Check that there is something, and of everything as many as of labels."""
    if not labels:
        raise InputError(Fault("the data set is empty", expected="at least one case"))
    faults = [
        Fault(f"{len(each)} {name}", expected=f"{len(labels)}, as many as labels")
        for name, each in lists.items()
        if len(each) != len(labels)
    ]
    for kind, names in (("case", lists["cases"]), ("rater", raters)):
        twice = [name for name, count in Counter(names).items() if count > 1]
        faults += [Fault(f"two {kind}s are called {name}", fix="rename one") for name in twice]
    n_axes = labels[0].ndim
    if n_axes not in (1, 3, 4):
        expected = "(n_raters, *space) with 2 or 3 axes of space, or (n_raters,)"
        faults.append(Fault(f"labels per case have shape {labels[0].shape}", expected=expected))
    faults += [
        Fault(f"labels have shape {label.shape}", expected=f"{len(raters)} raters, {n_axes} axes")
        for label in labels
        if label.ndim != n_axes or (n_axes and len(label) != len(raters))
    ]
    if faults:
        raise InputError(faults)


def _require_labels_of(raters: Sequence[str], cases: Sequence[Case]) -> None:
    idle = [rater for rater in raters if not any(rater in case.labels for case in cases)]
    if idle:
        raise InputError(
            [
                Fault(
                    "rater has no labels",
                    expected="at least one label of every rater",
                    fix="leave the rater out of the arrays",
                    rater=rater,
                )
                for rater in idle
            ]
        )


def _require_values(
    names: Sequence[str],
    labels: Sequence[NDArray[Any]],
    images: Sequence[NDArray[Any]] | None,
    truths: Sequence[NDArray[Any]] | None,
    n_classes: int,
    spacing: Sequence[float] | None,
) -> None:
    faults: list[Fault] = []
    if spacing is not None and not all(is_step(each) for each in spacing):
        raise InputError(
            Fault(f"spacing is {list(spacing)}", expected=f"{FINEST:g} to {COARSEST:g} mm per axis")
        )
    for i, name in enumerate(names):
        space = labels[i].shape[1:]
        found = [*_index_faults(labels[i], n_classes)]
        if truths is not None:
            truth = [fault.at(rater="(truth)") for fault in _index_faults(truths[i], n_classes)]
            found += [*truth, *_size_faults("truth", truths[i].shape, {space})]
        if images is not None:
            found += _image_faults(images[i], space)
        if spacing is not None and space and len(spacing) != len(space):
            found.append(Fault(f"spacing has {len(spacing)} values", expected=f"{len(space)}"))
        faults += [fault.at(case=name) for fault in found]
    if faults:
        raise InputError(faults)


def _index_faults(array: NDArray[Any], n_classes: int) -> Iterator[Fault]:
    if array.dtype.kind not in "biu":
        yield Fault(
            f"labels are of type {array.dtype}",
            expected="integers: class indices, or -1",
            fix="labels.astype(int), with -1 instead of NaN",
        )
    elif array.size and not MISSING <= int(array.min()) <= int(array.max()) < n_classes:
        yield Fault(
            f"class indices from {array.min()} to {array.max()}",
            expected=f"0 to {n_classes - 1}, or -1 where not labelled",
            fix="number the classes from 0, or declare all of them",
        )


def _image_faults(image: NDArray[Any], space: tuple[int, ...]) -> Iterator[Fault]:
    if image.dtype.kind not in "biuf":
        yield Fault(
            f"image is of type {image.dtype}",
            expected="real numbers",
            fix="images.astype(float); of complex numbers their size or phase",
        )
    if space:
        sizes = {space, (image.shape[0], *space) if image.ndim else space}
        yield from _size_faults("image", image.shape, sizes)


def _size_faults(what: str, shape: tuple[int, ...], sizes: set[tuple[int, ...]]) -> Iterator[Fault]:
    if shape not in sizes:
        yield Fault(
            f"{what} has size {size_text(shape)}",
            expected=" or ".join(size_text(size) for size in sorted(sizes, key=len)),
            fix="give it the axes of the labels; channels come first",
        )
