"""Class probabilities against the truth, and against the share of raters who drew a class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from multirater.metrics import soft_dice_score
from multirater.types import MISSING

SOFT_DICE, WITH_MEAN = "soft Dice", "soft Dice with mean of raters"

ALL = "all"

Key: TypeAlias = tuple[str, str]
"""A measure and a class."""


def soft_scores(
    probability: NDArray[Any],
    truth: NDArray[Any] | None,
    labels: Sequence[NDArray[Any]],
    classes: Sequence[str],
) -> dict[Key, float]:
    """Soft Dice of each class but the first, and their mean over those that occur.

    Args:
        probability: (n_classes, *space).
        truth: class indices (*space), -1 where unknown; None without one.
        labels: of the raters, each (*space), -1 where not labelled.
        classes: names by index.

    Returns:
        By measure and class; nothing for what there is nothing to compare with.

    Example:
        >>> soft = np.array([[1.0, 0.4, 0.0], [0.0, 0.6, 1.0]])
        >>> drawn = [np.array([0, 1, 1]), np.array([0, 0, 1])]
        >>> round(soft_scores(soft, None, drawn, ["no", "yes"])[WITH_MEAN, "yes"], 3)
        0.933
    """
    found: dict[Key, float] = {}
    if truth is not None:
        found |= _against(shares([truth], len(classes)), probability, classes, SOFT_DICE)
    if labels:
        found |= _against(shares(labels, len(classes)), probability, classes, WITH_MEAN)
    return found


def shares(labels: Sequence[NDArray[Any]], n_classes: int) -> NDArray[np.float64]:
    """Share of labels of each class, (n_classes, *space); NaN where nobody labelled."""
    n_labels = np.sum([label != MISSING for label in labels], axis=0)
    with np.errstate(invalid="ignore"):
        return np.stack(
            [np.sum([label == k for label in labels], axis=0) / n_labels for k in range(n_classes)]
        )


def _against(
    wanted: NDArray[np.float64], found: NDArray[Any], classes: Sequence[str], measure: str
) -> dict[Key, float]:
    each = {name: soft_dice_score(wanted[k], found[k]) for k, name in enumerate(classes) if k > 0}
    occurs = [
        value
        for k, value in enumerate(each.values(), start=1)
        if np.nanmax(wanted[k], initial=0) > 0 or found[k].max(initial=0) > 0.5
    ]
    whole = float(np.mean(occurs)) if occurs else 1.0
    return {(measure, ALL): whole} | {(measure, name): value for name, value in each.items()}
