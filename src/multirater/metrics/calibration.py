"""How far class probabilities can be believed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multirater.errors import Fault, InputError

N_BINS = 15
"""Bins of confidence, as is usual (Guo 2017)."""

_LEAST = 1e-12


def log_loss_error(truth: ArrayLike, probability: ArrayLike) -> NDArray[np.float64]:
    """Surprise at the true class of each item, in nats.

    Args:
        truth: class indices (n_items,), -1 where unknown.
        probability: (n_items, n_classes), rows sum to one.

    Returns:
        (n_items,), NaN where the truth is unknown.

    Example:
        >>> log_loss_error([0, 1, -1], [[0.5, 0.5], [0.0, 1.0], [1.0, 0.0]]).round(3).tolist()
        [0.693, 0.0, nan]
    """
    true, given = _checked(truth, probability)
    picked = given[np.arange(len(true)), np.maximum(true, 0)]
    return np.where(true >= 0, -np.log(np.maximum(picked, _LEAST)) + 0.0, np.nan)


def calibration_error(
    truth: ArrayLike, probability: ArrayLike, *, weights: ArrayLike | None = None
) -> float:
    """Expected calibration error: how far confidence and accuracy are apart, from 0 to 1.

    Items are put into fifteen bins by the probability of their likeliest class; within each bin its
    mean is compared with how often that class is true.

    Args:
        truth: class indices (n_items,), -1 where unknown.
        probability: (n_items, n_classes), rows sum to one.
        weights: (n_items,), how many items each one stands for.

    Returns:
        The mean difference over items; NaN when no truth is known.

    Example:
        >>> calibration_error([0, 0, 1, 1], [[0.75, 0.25]] * 4)
        0.25
    """
    true, given = _checked(truth, probability)
    times = np.ones(len(true)) if weights is None else np.asarray(weights, dtype=float)
    times = np.where(true >= 0, times, 0.0)
    if not times.any():
        return float("nan")
    confidence, right = given.max(1), given.argmax(1) == true
    place = np.clip(np.ceil(confidence * N_BINS).astype(int) - 1, 0, N_BINS - 1)
    gap = np.bincount(place, weights=times * (confidence - right), minlength=N_BINS)
    return float(np.abs(gap).sum() / times.sum())


def _checked(
    truth: ArrayLike, probability: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    true, given = np.asarray(truth, dtype=np.int64), np.asarray(probability, dtype=float)
    if given.ndim != 2 or true.shape != given.shape[:1]:
        raise InputError(
            Fault(
                f"truth of shape {true.shape} and probabilities of shape {given.shape}",
                expected="(n_items,) and (n_items, n_classes)",
            )
        )
    return true, given
