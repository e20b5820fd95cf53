"""Dice and IoU of label maps.

Pixels where either map is -1 are left out. A class that neither map holds counts as a perfect match
(1.0), because drawing nothing where nothing is, is right; means over classes leave it out. When
no pixel is labelled in both maps there is nothing to compare, and the score is NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multirater.errors import Fault, InputError
from multirater.metrics.class_indices import as_label_pair, count_classes, require_same_shape
from multirater.metrics.confusion import confusion_counts
from multirater.metrics.known import ratio_or_nan

Overlap = Literal["dice", "iou"]


def dice_score(
    reference: ArrayLike, prediction: ArrayLike, *, foreground: int | None = None
) -> float:
    """Dice, 2·|A∩B| / (|A| + |B|), of two label maps.

    Args:
        reference: class indices (*space) of any dimension, or booleans; -1 is left out.
        prediction: same shape and rule.
        foreground: the class to measure. When not given, the mean over all classes but 0 that occur
            in either map; for binary masks that is the Dice of class 1.

    Returns:
        0 to 1; 1.0 when both maps are empty of foreground; NaN when no pixel is labelled in both.

    Example:
        >>> dice_score([0, 1, 1, 0], [0, 1, 0, 0])
        0.6666666666666666
    """
    return overlap_of_counts(_counts(reference, prediction), "dice", foreground)


def iou_score(
    reference: ArrayLike, prediction: ArrayLike, *, foreground: int | None = None
) -> float:
    """Intersection over union, |A∩B| / |A∪B|; arguments and rules as `dice_score`.

    Example:
        >>> iou_score([0, 1, 1, 0], [0, 1, 0, 0])
        0.5
    """
    return overlap_of_counts(_counts(reference, prediction), "iou", foreground)


def mean_iou_score(reference: ArrayLike, prediction: ArrayLike) -> float:
    """mIoU: IoU averaged over the classes present in either map, **background included**.

    Example:
        >>> mean_iou_score([0, 0, 1, 1], [0, 0, 0, 1])
        0.5833333333333333
    """
    return mean_iou_of_counts(_counts(reference, prediction))


def class_dice_scores(
    reference: ArrayLike, prediction: ArrayLike, n_classes: int
) -> NDArray[np.float64]:
    """Dice of every class, (n_classes,), class 0 included.

    Returns:
        1.0 for a class that is in neither map; all NaN when no pixel is labelled in both.

    Example:
        >>> class_dice_scores([0, 1, 1, 0], [0, 1, 0, 0], 3).tolist()
        [0.8, 0.6666666666666666, 1.0]
    """
    return _scores_of_all(confusion_counts(reference, prediction, n_classes), "dice")


def class_iou_scores(
    reference: ArrayLike, prediction: ArrayLike, n_classes: int
) -> NDArray[np.float64]:
    """IoU of every class, (n_classes,), class 0 included; rules as `class_dice_scores`.

    Example:
        >>> class_iou_scores([0, 1, 1, 0], [0, 1, 0, 0], 3).tolist()
        [0.6666666666666666, 0.5, 1.0]
    """
    return _scores_of_all(confusion_counts(reference, prediction, n_classes), "iou")


def soft_dice_score(
    reference_probability: ArrayLike,
    predicted_probability: ArrayLike,
    thresholds: Sequence[float] = (0.1, 0.3, 0.5, 0.7, 0.9),
) -> float:
    """Dice of two soft maps, averaged over thresholds (the convention of QUBIQ and MrPrism).

    At each threshold both maps become the masks `probability > threshold`, so that not only the
    outline most raters agree on counts, but also how far opinions spread.

    Args:
        reference_probability: (*space) in [0, 1], for instance the mean of the raters' masks. NaN
            pixels are left out.
        predicted_probability: same shape and rule.
        thresholds: where to cut.

    Returns:
        0 to 1; a threshold at which both masks are empty counts 1.0; NaN when no pixel is known.

    Example:
        >>> soft_dice_score([0.0, 0.4, 1.0], [0.0, 0.2, 1.0])
        0.9333333333333332
    """
    reference = np.asarray(reference_probability, dtype=np.float64)
    predicted = np.asarray(predicted_probability, dtype=np.float64)
    require_same_shape(reference, predicted)
    known = ~(np.isnan(reference) | np.isnan(predicted))
    reference, predicted = reference[known], predicted[known]
    return float(np.mean([dice_score(reference > cut, predicted > cut) for cut in thresholds]))


def overlap_of_counts(
    counts: NDArray[Any], score: Overlap, foreground: int | None, *, empty: float = 1.0
) -> float:
    """Dice or IoU from a table [class of one, class of the other]; see `dice_score`.

    Args:
        counts: pixels by class.
        score: which of the two.
        foreground: the class to measure; the mean over all but class 0 when not given.
        empty: what two maps without the class get.
    """
    return float(overlaps_of_tables(counts, score, foreground, empty=empty))


def overlaps_of_tables(
    counts: NDArray[Any], score: Overlap, foreground: int | None, *, empty: float = 1.0
) -> NDArray[np.float64]:
    """Dice or IoU from many tables (..., class of one, class of the other); NaN for empty tables.

    Example:
        >>> tables = np.array([[[8, 1], [1, 2]], [[0, 0], [0, 0]], [[9, 0], [0, 0]]])
        >>> overlaps_of_tables(tables, "dice", None).round(3).tolist()
        [0.667, nan, 1.0]
    """
    if foreground is not None and foreground < 0:
        raise InputError(
            Fault(
                f"foreground {foreground}", expected="a class index, 0 or more", fix="name a class"
            )
        )
    scores = class_overlaps(counts, score)
    wanted = scores[..., 1:] if foreground is None else scores[..., foreground : foreground + 1]
    present = ~np.isnan(wanted)
    n_present = present.sum(-1)
    mean = np.where(present, wanted, 0.0).sum(-1) / np.maximum(n_present, 1)
    known = np.where(n_present > 0, mean, empty)
    return np.asarray(np.where(counts.any((-2, -1)), known, np.nan))


def mean_iou_of_counts(counts: NDArray[Any]) -> float:
    """MIoU from a table [class of one, class of the other]; see `mean_iou_score`."""
    return float(np.nanmean(class_overlaps(counts, "iou"))) if counts.any() else float("nan")


def class_overlaps(counts: NDArray[Any], score: Overlap) -> NDArray[np.float64]:
    """Dice or IoU per class from tables (..., class, class), NaN for those neither map holds."""
    if score not in ("dice", "iou"):
        raise InputError(
            Fault(f"score {score!r}", expected="'dice' or 'iou'", fix="choose one of them")
        )
    common = np.diagonal(counts, axis1=-2, axis2=-1).astype(np.float64)
    sizes = counts.sum(axis=-2) + counts.sum(axis=-1)
    part, whole = (2 * common, sizes) if score == "dice" else (common, sizes - common)
    return ratio_or_nan(part, whole)


def _counts(reference: ArrayLike, prediction: ArrayLike) -> NDArray[Any]:
    pair = as_label_pair(reference, prediction)
    return confusion_counts(*pair, count_classes(*pair))


def _scores_of_all(counts: NDArray[Any], score: Overlap) -> NDArray[np.float64]:
    scores = class_overlaps(counts, score)
    return np.where(np.isnan(scores), 1.0, scores) if counts.any() else scores
