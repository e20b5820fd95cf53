"""What raters do where they disagree, by network and labels together.

Over all pixels a rater is right nearly always, and a matrix that says so overrules everybody else
at the few pixels that are in question. And counted against a verdict that follows this rater it
says so all the more. So matrices are counted at disputed pixels alone, against what the image and
all raters make likely there: expectation and maximisation as in STAPLE, with the network's truth
for a prior that differs from pixel to pixel.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from multirater.fuse.spatial_staple import expected_confusions
from multirater.types import MISSING

Array = NDArray[np.float64]
Labels = NDArray[np.integer]

_ROUNDS = 3
"""Enough to forget what counting begins with. With more, raters who err alike drift to a party of
their own, as in STAPLE."""

_PRIOR_COUNT = 0.5
_LEAST = 1e-4


def is_disputed(labels: Labels) -> NDArray[np.bool_]:
    """Where at least two labels differ, (*space), of labels (n_raters, *space), -1 for missing.

    Example:
        >>> is_disputed(np.array([[0, 1, -1], [0, 0, 1]])).tolist()
        [False, True, False]
    """
    highest = labels.max(0)
    lowest = np.where(labels == MISSING, highest, labels).min(0)
    return np.asarray(lowest != highest)


def matrices_where_disputed(prior: Array, labels: Labels, verdict: Labels) -> Array:
    """Return matrices (n_raters, true, observed) of the disputed pixels.

    Args:
        prior: of the truth by the network, (n_pixels, n_classes).
        labels: (n_raters, n_pixels), -1 where missing.
        verdict: that counting begins with, (n_pixels,).
    """
    n_classes = prior.shape[1]
    chosen = is_disputed(labels)
    labels, prior = labels[:, chosen], prior[chosen].T
    log_prior = np.log(np.maximum(prior, _LEAST))
    # By halves: from the verdict alone nobody who was followed could ever be wrong.
    likely = (np.eye(n_classes)[verdict[chosen]].T + prior) / 2
    matrices = np.tile(np.eye(n_classes), (len(labels), 1, 1))
    for _ in range(_ROUNDS if chosen.any() else 0):
        counts = expected_confusions(labels, likely) + _PRIOR_COUNT
        matrices = counts / counts.sum(2, keepdims=True)
        likely = _posterior(log_prior, matrices, labels)
    return matrices


def _posterior(log_prior: Array, matrices: Array, labels: Labels) -> Array:
    """Return class probabilities (n_classes, n_pixels)."""
    joint = log_prior.copy()
    for matrix, own in zip(np.log(matrices), labels, strict=True):
        given = own != MISSING
        joint[:, given] += matrix[:, own[given]]
    joint = np.exp(joint - joint.max(0))
    return np.asarray(joint / joint.sum(0))
