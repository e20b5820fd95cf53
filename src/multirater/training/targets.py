"""What a method trains on: the raters' labels as they are, or one label made of them.

Fuse-then-train is training on a data set whose only rater is the fusion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.fuse.methods import NEEDS_SPACE, method_named
from multirater.types import Case, Dataset, Geometry, LabelMap, Source

Prepare = Callable[..., Dataset]
"""Turns a data set into the one that is trained on; may take options of the method by name."""


def as_they_are(dataset: Dataset) -> Dataset:
    """Train on every rater's label."""
    require_labels(dataset)
    return dataset


def require_labels(dataset: Dataset) -> None:
    """Refuse a data set without masks or class labels, and say what may help."""
    if any(case.labels for case in dataset):
        return
    fix = "add labels of raters"
    if any(case.drawings for case in dataset):
        fix = "learn from coarse drawings with --method coarse"
    raise InputError(Fault("no case has a label", expected="masks or class labels", fix=fix))


def on_truth(dataset: Dataset) -> Dataset:
    """Train on the truth: the ceiling of what can be learned."""
    without = [case for case in dataset if case.split in ("", "train") and case.truth is None]
    if without:
        raise InputError(
            Fault("has no truth to train on", fix="choose another method", case=without[0].name)
        )
    cases = tuple(
        replace(case, labels={} if case.truth is None else {"truth": case.truth})
        for case in dataset
    )
    return replace(dataset, cases=cases, raters=("truth",))


@dataclass(frozen=True)
class SpatialStapleOptions:
    """Options of the training method `spatial-staple`.

    Attributes:
        window: side of the window in which raters are judged, in the unit of the spacing: about a
            quarter of an image's side. One that is larger than the image gives what `staple` does.
    """

    window: float = 31.0

    def __post_init__(self) -> None:
        if self.window <= 0:
            raise InputError(Fault(f"option window = {self.window}", expected="more than 0"))


def on_fused(dataset: Dataset, method: str, **options: Any) -> Dataset:
    """Train on one fused label per case: drawings fused case by case, class labels all together.

    Args:
        dataset: with the labels of raters.
        method: of fusion.
        options: of that method, for drawings.
    """
    require_labels(dataset)
    if dataset.kind == "classes":
        return _on_fused_classes(dataset, method)
    n_classes = None if dataset.classes is None else len(dataset.classes)
    cases = tuple(
        replace(case, labels={method: Source(partial(_fused, case, n_classes, method, options))})
        if case.labels
        else case
        for case in dataset
    )
    return replace(dataset, cases=cases, raters=(method,))


def _on_fused_classes(dataset: Dataset, method: str) -> Dataset:
    """Fuse the table of all answers, as raters of class labels are only known from many cases."""
    labelled = [case for case in dataset if case.labels]
    answers = np.stack([case.read_labels(dataset.raters).array for case in labelled], axis=1)
    assert dataset.classes is not None
    label = _label(method, answers, len(dataset.classes), raters=dataset.raters)
    maps = {
        case.name: LabelMap(np.asarray(each), Geometry((), (), ()), f"fused by {method}")
        for case, each in zip(labelled, label, strict=True)
    }
    cases = tuple(
        replace(case, labels={method: Source(partial(maps.__getitem__, case.name))})
        if case.name in maps
        else case
        for case in dataset
    )
    return replace(dataset, cases=cases, raters=(method,))


def fused(method: str) -> Prepare:
    """Return the preparation that fuses by a method."""
    return partial(on_fused, method=method)


def _fused(case: Case, n_classes: int | None, method: str, options: Mapping[str, Any]) -> LabelMap:
    labels = case.read_labels()
    space = {"spacing": labels.geometry.spacing} if method in NEEDS_SPACE else {}
    label = _label(method, labels.array, n_classes, raters=labels.raters, **space, **options)
    return LabelMap(label, labels.geometry, f"fused by {method}")


def _label(
    method: str, answers: NDArray[np.int16], n_classes: int | None, **options: Any
) -> NDArray[np.int16]:
    return np.asarray(method_named(method)(answers, n_classes, **options).label, dtype=np.int16)
