"""Dawid and Skene (1979): one confusion matrix per rater, estimated together with the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from multirater.fuse.em import Stopping, require_pseudo_count
from multirater.fuse.fitting import Prior, fuse_by_em
from multirater.fuse.problem import Inputs, LabelInput
from multirater.fuse.result import FusionResult

_FEWEST = 1e-10
"""Expected counts below this are raised to it: nothing a rater says is ever impossible."""

_UNUSED = 1e-20
"""The same for labels a rater never uses, which weigh nothing beside those they use."""


@dataclass(frozen=True)
class FreeMatrices:
    """Every entry of every confusion matrix is free; `dirichlet` is added to each count."""

    dirichlet: float

    def __post_init__(self) -> None:
        require_pseudo_count(self.dirichlet)

    def start(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Normalise rows. A class a rater never met begins as: they use their labels alike."""
        if counts.min() >= _FEWEST:
            raised = counts + self.dirichlet
            return np.asarray(raised / raised.sum(2, keepdims=True))
        used = counts.sum(1, keepdims=True) > 0
        raised = np.maximum(counts + self.dirichlet, np.where(used, _FEWEST, _UNUSED))
        return np.asarray(raised / raised.sum(2, keepdims=True))

    def maximise(self, counts: NDArray[np.float64], cm: NDArray[np.float64]) -> NDArray[np.float64]:
        """Normalise rows; a class that never occurs gets a uniform row."""
        found = self.start(counts)
        never = counts.sum(2) == 0
        if never.any():
            found[never] = 1 / counts.shape[2]
        return found

    def log_prior(self, cm: NDArray[np.float64]) -> float:
        """Log density of symmetric Dirichlet priors with parameter 1 + dirichlet."""
        if self.dirichlet == 0:
            return 0.0
        return float(self.dirichlet * np.log(np.maximum(cm, 1e-300)).sum())


def dawid_skene(
    labels: LabelInput,
    n_classes: int | None = None,
    *,
    prior: Prior = "estimated",
    dirichlet: float = 0.0,
    max_iter: int = 1000,
    tol: float = 1e-7,
    start: FusionResult | None = None,
    **inputs: Unpack[Inputs],
) -> FusionResult:
    """Estimate each rater's confusion matrix and the true class of each item.

    Args:
        labels: a long table (task, rater|worker|annotator, label), a wide table, or an array
            (n_raters, *items), -1 or NaN where missing.
        n_classes: number of classes of an array; the largest index plus one when not given.
        prior: class probabilities: `"estimated"` in every step, `"frequency"` of the labels, or
            given as (n_classes,).
        dirichlet: pseudo-count per matrix entry. Without it, too, no probability is exactly zero:
            nothing a rater says counts as less than 1e-10 of an answer.
        max_iter: largest number of steps.
        tol: relative change of the log-likelihood at which to stop.
        start: an earlier result to go on from, when new answers were added.
        **inputs: names, gold labels and more, see `Inputs`.

    Example:
        >>> result = dawid_skene(np.array([[0, 1, 1, 0], [0, 1, 1, 0], [1, 1, 0, 0]]))
        >>> result.label.tolist()
        [0, 1, 1, 0]
    """
    return fuse_by_em(
        "dawid-skene",
        labels,
        n_classes,
        inputs,
        model=FreeMatrices(dirichlet),
        prior=prior,
        stopping=Stopping(max_iter, tol),
        start=start,
    )
