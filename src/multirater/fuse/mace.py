"""MACE (Hovy et al. 2013): a rater either knows the answer or spams in a way of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from multirater.fuse.em import Stopping, require_pseudo_count
from multirater.fuse.fitting import Prior, fuse_by_em
from multirater.fuse.problem import Inputs, LabelInput
from multirater.fuse.result import FusionResult

_FIRST_COMPETENCE = 0.8


@dataclass(frozen=True)
class KnowOrSpam:
    """cm = competence * identity + (1 - competence) * spam, the spam the same for every class."""

    dirichlet: float

    def __post_init__(self) -> None:
        require_pseudo_count(self.dirichlet)

    def start(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Begin with competent raters who spam as they label."""
        spam = _normalise(counts.sum(1) + 1e-9)
        return _compose(np.full(len(counts), _FIRST_COMPETENCE), spam)

    def maximise(self, counts: NDArray[np.float64], cm: NDArray[np.float64]) -> NDArray[np.float64]:
        """Split right answers into known ones and lucky spam, by the previous matrices."""
        competence, spam = decompose(cm)
        lucky = (1 - competence[:, None]) * spam
        known_share = competence[:, None] / np.maximum(competence[:, None] + lucky, 1e-300)
        known = np.diagonal(counts, axis1=1, axis2=2) * known_share
        spammed = np.maximum(counts.sum(1) - known, 0.0)
        total = counts.sum((1, 2)) + 2 * self.dirichlet
        competence = np.where(
            total > 0, (known.sum(1) + self.dirichlet) / np.maximum(total, 1e-300), 0.5
        )
        return _compose(competence, _normalise(spammed + self.dirichlet))

    def log_prior(self, cm: NDArray[np.float64]) -> float:
        """Log density of symmetric priors on competence and spam."""
        if self.dirichlet == 0:
            return 0.0
        competence, spam = decompose(cm)
        parts = np.concatenate([competence, 1 - competence, spam.ravel()])
        return float(self.dirichlet * np.log(np.maximum(parts, 1e-300)).sum())


def decompose(cm: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Recover competence (n_raters,) and spam (n_raters, n_classes) from matrices of this form."""
    n_classes = cm.shape[1]
    column = np.arange(n_classes)
    spammed = cm[:, (column + 1) % n_classes, column]
    share = spammed.sum(1)
    return 1 - share, _normalise(spammed)


def _compose(competence: NDArray[np.float64], spam: NDArray[np.float64]) -> NDArray[np.float64]:
    n_classes = spam.shape[1]
    known = competence[:, None, None] * np.eye(n_classes)
    return np.asarray(known + ((1 - competence[:, None]) * spam)[:, None, :])


def _normalise(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    total = rows.sum(1, keepdims=True)
    return np.asarray(np.where(total > 0, rows / np.maximum(total, 1e-300), 1 / rows.shape[1]))


def mace(
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
    """Estimate each rater's competence and habit of spamming, and the true class of each item.

    The choice for crowds with raters who click the same answer, or answer at random. The arguments
    are those of `dawid_skene`.

    Example:
        >>> answers = np.array([[0, 1, 2, 0], [0, 1, 2, 0], [0, 1, 2, 0], [1, 1, 1, 1]])
        >>> result = mace(answers)
        >>> result.label.tolist(), bool(result.skill[3] < 0.5)
        ([0, 1, 2, 0], True)
    """
    return fuse_by_em(
        "mace",
        labels,
        n_classes,
        inputs,
        model=KnowOrSpam(dirichlet),
        prior=prior,
        stopping=Stopping(max_iter, tol),
        start=start,
    )
