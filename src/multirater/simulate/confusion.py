"""The true confusion matrices of simulated raters, whose errors are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multirater.errors import Fault, InputError
from multirater.simulate.inputs import as_label_map


def true_confusion(truth: ArrayLike, label: ArrayLike, n_classes: int) -> NDArray[np.float32]:
    """Return the CM of a simulated rater at every pixel.

    A simulated rater is deterministic once its errors are drawn, so at a pixel the row of the true
    class is one-hot: all weight on the class that was drawn. What the rater would have drawn if
    another class had been true is not known: those rows are NaN. So is everything where the truth
    or the label is missing. An error between CMs is therefore taken over the rows that are known.

    Args:
        truth: class indices (*space), -1 where not known.
        label: what the rater drew, (*space), -1 where not labelled.
        n_classes: number of classes, background included.

    Returns:
        (n_classes, n_classes, *space), `[true, observed, *space]`.

    Example:
        >>> true_confusion([1], [0], 2)[..., 0]
        array([[nan, nan],
               [ 1.,  0.]], dtype=float32)
    """
    true, observed = _checked(truth, label, n_classes)
    cm = np.full((n_classes, n_classes, *true.shape), np.nan, dtype=np.float32)
    known = observed >= 0
    for row in range(n_classes):
        here = known & (true == row)
        cm[row][:, here] = observed[here] == np.arange(n_classes)[:, None]
    return cm


def mean_confusion(
    truth: ArrayLike | Sequence[ArrayLike], label: ArrayLike | Sequence[ArrayLike], n_classes: int
) -> NDArray[np.float64]:
    """Return the CM of a rater over an image, or over all cases of a data set.

    Args:
        truth: class indices of any shape, or a list of such arrays, one per case.
        label: what the rater drew, of the same shape or shapes.
        n_classes: number of classes, background included.

    Returns:
        (n_classes, n_classes), `cm[true, observed]`: the share of each class's pixels that the
        rater gave each label. Rows of classes that never occur are NaN. Pixels where truth or
        label is missing do not count.

    Example:
        >>> mean_confusion([0, 0, 1, 1], [0, 0, 0, 1], 2)
        array([[1. , 0. ],
               [0.5, 0.5]])
    """
    counts = np.zeros((n_classes, n_classes))
    for one_truth, one_label in _cases(truth, label):
        true, observed = _checked(one_truth, one_label, n_classes)
        known = (true >= 0) & (observed >= 0)
        pairs = true[known].astype(np.intp) * n_classes + observed[known]
        counts += np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes)
    totals = counts.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(counts, totals, out=np.full_like(counts, np.nan), where=totals > 0))


def _cases(
    truth: ArrayLike | Sequence[ArrayLike], label: ArrayLike | Sequence[ArrayLike]
) -> list[tuple[ArrayLike, ArrayLike]]:
    """Return one pair per case; a plain list of numbers is one case."""
    if isinstance(truth, Sequence) and any(np.ndim(case) > 0 for case in truth):
        return list(zip(truth, cast(Sequence[ArrayLike], label), strict=True))
    return [(cast(ArrayLike, truth), cast(ArrayLike, label))]


def _checked(
    truth: ArrayLike, label: ArrayLike, n_classes: int
) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    true, observed = as_label_map(truth), as_label_map(label)
    if true.shape != observed.shape:
        raise InputError(
            Fault(
                f"the label has shape {observed.shape}",
                expected=f"{true.shape}, the shape of the truth",
                fix="compare a label with the truth of its own case",
            )
        )
    highest = max(true.max(initial=-1), observed.max(initial=-1))
    if highest >= n_classes:
        raise InputError(
            Fault(
                f"there is a class {highest}",
                expected=f"class indices below {n_classes}",
                fix="give the number of all classes, background included",
            )
        )
    return true, observed
