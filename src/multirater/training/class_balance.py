"""How much the classes weigh, so that rare ones are not drowned."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import torch
from numpy.typing import NDArray

from multirater.training.drawn_targets import kind_of
from multirater.types import Case


def balanced_weights(cases: Iterable[Case], n_classes: int) -> torch.Tensor:
    """Return weights inverse to how often each class occurs, one on average over all labels.

    "Not k" is the other class when there are two; with more it is no label of any class.

    Args:
        cases: those to train on, as the method prepared them.
        n_classes: classes, background included.
    """
    counts = np.zeros(n_classes)
    for case in cases:
        for rater in case.labels:
            label = case.read_label(rater).array
            if kind_of(rater) != "negative":
                counts += _counted(label, n_classes)
            elif n_classes == 2:
                counts += _counted(label, n_classes)[::-1]
    weight = counts.sum() / np.maximum(counts, 1) / max((counts > 0).sum(), 1)
    return torch.tensor(np.where(counts > 0, weight, 1.0), dtype=torch.float32)


def _counted(label: NDArray[np.int16], n_classes: int) -> NDArray[np.int64]:
    return np.bincount(label[label >= 0], minlength=n_classes)
