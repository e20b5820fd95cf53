"""Labels of the arena fused without training, and by network and raters together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from multirater import fuse
from multirater.evaluation.case_scores import compare
from multirater.training.posterior import NetworkFuser
from multirater.types import Case, Dataset, LabelMap, Source

Fuse: TypeAlias = Callable[[NDArray[np.int16], int], NDArray[np.int16]]
"""From labels (n_raters, n_cases, *space) and a number of classes to fused labels."""


def _case_by_case(method: Callable[..., fuse.FusionResult]) -> Fuse:
    return lambda labels, n: np.stack(
        [method(labels[:, case], n).label for case in range(labels.shape[1])]
    )


FUSIONS: dict[str, Fuse] = {
    "majority vote": _case_by_case(fuse.majority_vote),
    "STAPLE": _case_by_case(fuse.staple),
    "pooled STAPLE": lambda labels, n: fuse.staple(labels, n, disputed_only=True).label,
    "Dawid-Skene": lambda labels, n: fuse.dawid_skene(labels, n).label,
}
"""Pooled: over the disputed pixels of all cases."""


def stacked(dataset: Dataset) -> NDArray[np.int16]:
    """Return the labels of all cases, (n_raters, n_cases, *space), -1 where missing."""
    return np.stack([case.read_labels(dataset.raters).array for case in dataset], axis=1)


def with_pooled_staple(dataset: Dataset) -> Dataset:
    """Replace the raters by their fusion."""
    assert dataset.classes is not None
    fused = FUSIONS["pooled STAPLE"](stacked(dataset), len(dataset.classes))
    cases = tuple(
        replace(case, labels={"fused": Source(partial(_label, case, label))})
        for case, label in zip(dataset, fused, strict=True)
    )
    return replace(dataset, cases=cases, raters=("fused",))


def _label(case: Case, label: NDArray[np.int16]) -> LabelMap:
    return LabelMap(label.astype(np.int16), case.read_labels().geometry, "fused")


def fused_dice(dataset: Dataset, run: Path) -> dict[str, float]:
    """Return the Dice of fused labels with the truth, on the labelled cases, by fusion."""
    assert dataset.classes is not None
    n, labels = len(dataset.classes), stacked(dataset)
    truth = [case.read_truth() for case in dataset]
    found = {name: method(labels, n) for name, method in FUSIONS.items()}
    learned = NetworkFuser(run)
    found["learned"] = np.stack([learned(case, case.read_labels()).label for case in dataset])
    return {
        f"fused: {name}": float(
            np.mean(
                [
                    compare(true.array, label, dataset.classes.names)["Dice", "all"]
                    for true, label in zip(truth, fused, strict=True)
                    if true is not None
                ]
            )
        )
        for name, fused in found.items()
    }
