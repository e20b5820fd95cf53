"""How far predicted confusion matrices of a rater are from what the rater made of the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.metrics import confusion_counts, confusion_rms_error
from multirater.simulate import true_confusion

_BLOCK = 1 << 18
"""Pixels whose confusion matrices are compared at a time: volumes do not fit in memory at once."""


def squared_cm_error(
    truth: NDArray[Any], label: NDArray[Any], cm: NDArray[Any]
) -> tuple[float, int]:
    """Compare a rater's predicted matrices with the true ones, over the rows that are known.

    Args:
        truth: class indices (*space).
        label: what the rater drew, (*space).
        cm: predicted matrices (true, observed, *space), or (true, observed) for all pixels.

    Returns:
        The sum of squared differences, and the number of entries behind it. The root of their
        ratio is `metrics.confusion_rms_error` of `simulate.true_confusion`.

    Example:
        >>> squares, n = squared_cm_error(np.array([0, 1]), np.array([0, 0]), np.eye(2))
        >>> round(squares, 6), n
        (2.0, 4)
    """
    n_classes = len(cm)
    true, observed = truth.ravel(), label.ravel()
    if cm.ndim == 2:
        return squared_cm_error_of_counts(confusion_counts(true, observed, n_classes), cm)
    maps = cm.reshape(n_classes, n_classes, -1)
    total, n_entries = 0.0, 0
    for start in range(0, true.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        known = np.moveaxis(true_confusion(true[part], observed[part], n_classes), -1, 0)
        guess = np.moveaxis(maps[..., part], -1, 0)
        n = int(np.isfinite(known).sum())
        if n:
            rms = confusion_rms_error(known, np.broadcast_to(guess, known.shape))
            total, n_entries = total + rms**2 * n, n_entries + n
    return total, n_entries


def squared_cm_error_of_counts(counts: NDArray[Any], cm: NDArray[Any]) -> tuple[float, int]:
    """Do the same with one matrix for all pixels, from how many were seen as what."""
    n_classes, total = len(cm), 0.0
    for true, observed in np.argwhere(counts):
        known = np.full((n_classes, n_classes), np.nan)
        known[true] = np.arange(n_classes) == observed
        error = confusion_rms_error(known, cm)
        total += float(counts[true, observed]) * n_classes * error**2
    return total, int(counts.sum()) * n_classes


def row_sums(
    truth: NDArray[Any], label: NDArray[Any], cm: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Sum, over the pixels of each true class that the rater labelled, the row of that class."""
    return np.stack(
        [
            cm[true][:, (truth == true) & (label >= 0)].sum(axis=1, dtype=np.float64)
            for true in range(len(cm))
        ]
    )
