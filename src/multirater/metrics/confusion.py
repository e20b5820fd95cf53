"""Confusion matrices: counting them, and how far an estimate is from the truth.

The orientation is scikit-learn's everywhere: `cm[..., true, observed]`, **rows sum to one**. Papers
that write A[observed, true] with columns summing to one need `np.swapaxes(cm, -1, -2)` once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multirater.errors import Fault, InputError
from multirater.metrics.class_indices import (
    as_item_weights,
    as_label_pair,
    require_classes_below,
    require_same_shape,
)
from multirater.metrics.known import mean_of_known, ratio_or_nan

ROW_SUM_TOLERANCE = 1e-3
"""Loose enough for matrices that come from 16- and 32-bit networks."""


def confusion_counts(
    reference: ArrayLike,
    prediction: ArrayLike,
    n_classes: int,
    *,
    weights: ArrayLike | None = None,
) -> NDArray[Any]:
    """Count how often each true class was observed as each class.

    Args:
        reference: true class indices (*space); -1 (or NaN) leaves the pixel out.
        prediction: observed class indices, same shape and rule.
        n_classes: size of the table.
        weights: (*space), how many pixels each entry stands for.

    Returns:
        (n_classes, n_classes) as [true, observed]; integers, or floats when weights are given.

    Example:
        >>> confusion_counts([0, 0, 1, -1], [0, 1, 1, 1], 2).tolist()
        [[1, 1], [0, 1]]
    """
    true, observed = as_label_pair(reference, prediction)
    require_classes_below(n_classes, true, observed)
    side = n_classes + 1
    # Missing labels land in row or column 0, which is cut off: no masks, one copy.
    cell = true.ravel().astype(np.intp)
    cell += 1
    cell *= side
    cell += observed.ravel()
    cell += 1
    flat_weights = None if weights is None else as_item_weights(weights, true.shape)
    table = np.bincount(cell, weights=flat_weights, minlength=side * side)
    return table.reshape(side, side)[1:, 1:]


def confusion_rates(counts: ArrayLike) -> NDArray[np.float64]:
    """Turn counts [..., true, observed] into confusion matrices whose rows sum to one.

    A true class that never occurred tells nothing about the rater: its row is NaN, which the error
    measures below leave out when it stands in the true matrix.

    Example:
        >>> confusion_rates([[3, 1], [0, 0]]).tolist()
        [[0.75, 0.25], [nan, nan]]
    """
    table = np.asarray(counts, dtype=np.float64)
    _require_square(table)
    return ratio_or_nan(table, table.sum(axis=-1, keepdims=True))


def confusion_rms_error(cm: ArrayLike, estimated: ArrayLike) -> float:
    """Root mean square difference over all entries of all matrices (Zhang 2020).

    Args:
        cm: true confusion matrices [..., true, observed], rows sum to one. NaN entries are unknown
            and left out (of a simulated rater only the row of the true class is known at a pixel).
        estimated: same shape, finite wherever `cm` is known.

    Returns:
        0 for a perfect estimate; NaN when no entry is known.

    Example:
        >>> round(confusion_rms_error(np.eye(2), [[0.9, 0.1], [0.1, 0.9]]), 6)
        0.1
    """
    difference = _difference(cm, estimated)
    known = difference[~np.isnan(difference)]
    return float(np.sqrt(np.mean(known**2))) if known.size else float("nan")


def confusion_frobenius_error(cm: ArrayLike, estimated: ArrayLike) -> float:
    """Mean over raters of ||cm - estimated||² (Frobenius) / n_classes (Tanno 2019).

    This is the squared distance between rows, averaged over rows, then over raters. A row of `cm`
    that holds NaN is unknown and leaves the average, and so does a rater without a known row.

    Args:
        cm: true confusion matrices [..., true, observed], rows sum to one.
        estimated: same shape, finite wherever `cm` is known.

    Example:
        >>> round(confusion_frobenius_error(np.eye(2), [[0.9, 0.1], [0.1, 0.9]]), 6)
        0.02
    """
    row_errors = (_difference(cm, estimated) ** 2).sum(axis=-1)
    per_rater = mean_of_known(row_errors, axis=-1)
    return float(mean_of_known(per_rater.ravel(), axis=0))


def skill_score(cm: ArrayLike) -> NDArray[np.float64]:
    """Mean diagonal of each confusion matrix [..., true, observed]: 1 is perfect.

    Returns:
        One value per matrix, shape `cm.shape[:-2]`. Rows that are NaN are left out.

    Example:
        >>> skill_score([np.eye(2), [[0.5, 0.5], [0.5, 0.5]]]).tolist()
        [1.0, 0.5]
    """
    matrices = _as_confusion_matrices(cm, "the confusion matrix")
    return mean_of_known(np.diagonal(matrices, axis1=-2, axis2=-1), axis=-1)


def _difference(cm: ArrayLike, estimated: ArrayLike) -> NDArray[np.float64]:
    true = _as_confusion_matrices(cm, "the true confusion matrix")
    guess = _as_confusion_matrices(estimated, "the estimated confusion matrix")
    require_same_shape(true, guess)
    if np.any(np.isnan(guess) & ~np.isnan(true)):
        raise InputError(
            Fault(
                "the estimated confusion matrix holds NaN where the true one is known",
                expected="an estimate for every known entry",
                fix="fill rows nobody observed, for instance with 1 / n_classes",
            )
        )
    return guess - true


def _as_confusion_matrices(cm: ArrayLike, name: str) -> NDArray[np.float64]:
    matrices = np.asarray(cm, dtype=np.float64)
    _require_square(matrices)
    if _sums_to_one(matrices, axis=-1):
        return matrices
    fix = "divide every row by its sum (confusion_rates does it for counts)"
    if _sums_to_one(matrices, axis=-2):
        fix = "its columns sum to one: transpose it with np.swapaxes(cm, -1, -2)"
    raise InputError(
        Fault(
            f"{name} has rows that do not sum to one",
            expected="cm[..., true, observed] with rows that sum to one",
            fix=fix,
        )
    )


def _sums_to_one(matrices: NDArray[np.float64], axis: int) -> bool:
    sums = matrices.sum(axis=axis)
    return bool(np.all(np.isnan(sums) | (np.abs(sums - 1) <= ROW_SUM_TOLERANCE)))


def _require_square(matrices: NDArray[np.float64]) -> None:
    if matrices.ndim < 2 or matrices.shape[-1] != matrices.shape[-2]:
        raise InputError(
            Fault(
                f"confusion matrices of shape {matrices.shape}",
                expected="shape (..., n_classes, n_classes)",
                fix="move the class axes last: cm[..., true, observed]",
            )
        )
