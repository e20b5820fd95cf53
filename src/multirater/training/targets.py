"""What a method trains on: the raters' labels as they are, or one label made of them.

Fuse-then-train is training on a data set whose only rater is the fusion.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from multirater.errors import Fault, InputError, MultiraterWarning
from multirater.fuse.methods import NEEDS_SPACE, method_named
from multirater.types import Case, Dataset, LabelMap, Source

Prepare = Callable[[Dataset], Dataset]


def as_they_are(dataset: Dataset) -> Dataset:
    """Train on every rater's label."""
    return dataset


def on_truth(dataset: Dataset) -> Dataset:
    """Train on the truth: the ceiling of what can be learned."""
    without = [case for case in dataset if case.split in ("", "train") and case.truth is None]
    if without:
        raise InputError(
            Fault("has no truth to train on", fix="choose another method", case=without[0].name)
        )
    cases = tuple(
        replace(case, labels={"truth": case.truth}) if case.truth is not None else case
        for case in dataset
    )
    return replace(dataset, cases=cases, raters=("truth",))


def on_fused(dataset: Dataset, method: str) -> Dataset:
    """Train on one fused label per case, each case fused by itself."""
    n_classes = None if dataset.classes is None else len(dataset.classes)
    cases = tuple(
        replace(case, labels={method: Source(partial(_fused, case, n_classes, method))})
        if case.labels
        else case
        for case in dataset
    )
    return replace(dataset, cases=cases, raters=(method,))


def fused(method: str) -> Prepare:
    """Return the preparation that fuses by a method."""
    return partial(on_fused, method=method)


def _fused(case: Case, n_classes: int | None, method: str) -> LabelMap:
    labels = case.read_labels()
    options = {"spacing": labels.geometry.spacing} if method in NEEDS_SPACE else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MultiraterWarning)
        result = method_named(method)(labels.array, n_classes, raters=labels.raters, **options)
    return LabelMap(result.label, labels.geometry, f"fused by {method}")
