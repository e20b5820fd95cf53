"""STAPLE (Warfield 2004), binary and multi-class, on the histogram of rater patterns."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from multirater.fuse.answers import Answers
from multirater.fuse.dawid_skene import FreeMatrices
from multirater.fuse.em import Stopping, vote_fractions
from multirater.fuse.fitting import Prior, fuse_by_em
from multirater.fuse.problem import LabelInput, pose
from multirater.fuse.result import FusionResult
from multirater.types import MISSING


def staple(
    labels: LabelInput,
    n_classes: int | None = None,
    *,
    prior: Prior = "frequency",
    dirichlet: float = 0.0,
    roi: Any = None,
    disputed_only: bool = False,
    gold: Any = None,
    pooled: bool = False,
    max_iter: int = 1000,
    tol: float = 1e-12,
    start: FusionResult | None = None,
    raters: Sequence[Hashable] | None = None,
    classes: Sequence[Hashable] | None = None,
    rater_axis: int = 0,
) -> FusionResult:
    """Estimate the true segmentation and each rater's confusion matrix.

    Args:
        labels: class indices (n_raters, *space), -1 where missing; with `pooled` a sequence of
            such arrays, one per case; or a table.
        n_classes: number of classes; the largest index plus one when not given.
        prior: class probabilities: `"frequency"` of the labels (STAPLE's own choice),
            `"estimated"` anew in every step, the probability of the foreground, (n_classes,)
            probabilities, or a map (n_classes, *space).
        dirichlet: pseudo-count added to every entry of a matrix, in pixels.
        roi: True where pixels count for the estimate of raters and prior (*space; one per case
            when pooled). The label is still given everywhere.
        disputed_only: estimate the raters from the pixels they disagree on; where they agree,
            their label stands. The result no longer depends on how much background is in view.
        gold: known classes (*space), -1 where unknown.
        pooled: whether `labels` is a sequence of cases that share one matrix per rater.
        max_iter: largest number of steps.
        tol: relative change of the log-likelihood at which to stop.
        start: an earlier result to go on from.
        raters: names of the raters.
        classes: names of the classes.
        rater_axis: the array axis that holds the raters.

    Example:
        >>> masks = np.array([[0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 1, 1]])
        >>> staple(masks, prior=0.5).label.tolist()
        [0, 1, 1, 0]
    """
    problem = pose(
        labels,
        n_classes,
        raters=raters,
        classes=classes,
        rater_axis=rater_axis,
        pooled=pooled,
        gold=gold,
        roi=roi,
        prior_map=prior if _is_map(prior) else None,
    )
    answers = problem.answers
    if answers.row_prior is not None:
        prior = "frequency"
    if disputed_only:
        answers = _only_disputed(answers)
    stopping = Stopping(max_iter, tol)
    problem = replace(problem, answers=answers)
    return fuse_by_em("staple", problem, FreeMatrices(dirichlet), prior, stopping, start)


def _is_map(prior: Prior) -> bool:
    return not isinstance(prior, str) and np.ndim(prior) > 1


def _only_disputed(answers: Answers) -> Answers:
    """Take rows on which all raters agree for given, and out of the estimates."""
    share = vote_fractions(answers, np.full(answers.n_classes, 1 / answers.n_classes))
    agreed = share.max(1) == 1.0
    gold = np.where(agreed, share.argmax(1), MISSING)
    if answers.gold is not None:
        gold = np.where(answers.gold != MISSING, answers.gold, gold)
    return replace(answers, gold=gold, weight=np.where(agreed, 0.0, answers.weight))
