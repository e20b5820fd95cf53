"""The one-coin model: a rater is right with one probability, whatever the class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from multirater.fuse.em import Stopping, require_pseudo_count
from multirater.fuse.fitting import Prior, fuse_by_em
from multirater.fuse.problem import Inputs, LabelInput
from multirater.fuse.result import FusionResult


@dataclass(frozen=True)
class OneCoin:
    """Matrices with one number each: right with probability s, else any other class alike."""

    dirichlet: float

    def __post_init__(self) -> None:
        require_pseudo_count(self.dirichlet)

    def start(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Take the share of agreement with the vote."""
        return self.maximise(counts, counts)

    def maximise(self, counts: NDArray[np.float64], cm: NDArray[np.float64]) -> NDArray[np.float64]:
        """Set each rater's skill to the expected share of right answers."""
        n_classes = counts.shape[2]
        right = np.trace(counts, axis1=1, axis2=2) + self.dirichlet
        total = counts.sum((1, 2)) + 2 * self.dirichlet
        skill = np.where(total > 0, right / np.maximum(total, 1e-300), 1 / n_classes)
        return one_coin_cm(skill, n_classes)

    def log_prior(self, cm: NDArray[np.float64]) -> float:
        """Log density of a symmetric Beta prior on each skill."""
        if self.dirichlet == 0:
            return 0.0
        skill = cm[:, 0, 0]
        both = np.log(np.maximum(skill, 1e-300)) + np.log(np.maximum(1 - skill, 1e-300))
        return float(self.dirichlet * both.sum())


def one_coin_cm(skill: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Return matrices (n_raters, n_classes, n_classes) with `skill` (n_raters,) on the diagonal."""
    if n_classes == 1:
        return np.ones((len(skill), 1, 1))
    wrong = (1 - skill) / (n_classes - 1)
    identity = np.eye(n_classes)
    return np.asarray(skill[:, None, None] * identity + wrong[:, None, None] * (1 - identity))


def one_coin(
    labels: LabelInput,
    n_classes: int | None = None,
    *,
    prior: Prior = "estimated",
    dirichlet: float = 0.01,
    max_iter: int = 1000,
    tol: float = 1e-7,
    start: FusionResult | None = None,
    **inputs: Unpack[Inputs],
) -> FusionResult:
    """Estimate one skill per rater and the true class of each item.

    The safer choice when raters gave few labels each: one number per rater instead of a matrix.
    The arguments are those of `dawid_skene`.

    Example:
        >>> result = one_coin(np.array([[0, 1, 2], [0, 1, 2], [0, 2, 1]]))
        >>> result.label.tolist()
        [0, 1, 2]
    """
    return fuse_by_em(
        "one-coin",
        labels,
        n_classes,
        inputs,
        model=OneCoin(dirichlet),
        prior=prior,
        stopping=Stopping(max_iter, tol),
        start=start,
    )
