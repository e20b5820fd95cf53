"""STAPLE (Warfield 2004), binary and multi-class, on the histogram of rater patterns."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

import numpy as np

from multirater.fuse.answers import Answers
from multirater.fuse.dawid_skene import FreeMatrices
from multirater.fuse.em import Stopping
from multirater.fuse.expectation import vote_fractions
from multirater.fuse.fitting import Prior, fuse_by_em
from multirater.fuse.problem import Inputs, LabelInput
from multirater.fuse.result import FusionResult
from multirater.types import MISSING


def staple(
    labels: LabelInput,
    n_classes: int | None = None,
    *,
    prior: Prior = "frequency",
    dirichlet: float = 0.0,
    disputed_only: bool = False,
    max_iter: int = 1000,
    tol: float = 1e-13,
    start: FusionResult | None = None,
    **inputs: Unpack[Inputs],
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
        disputed_only: estimate the raters from the pixels they disagree on; where they agree,
            their label stands. The result no longer depends on how much background is in view.
        max_iter: largest number of steps.
        tol: relative change of the log-likelihood at which to stop.
        start: an earlier result to go on from.
        **inputs: names, gold labels and more, see `Inputs`.

    Example:
        >>> masks = np.array([[0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 1, 1]])
        >>> staple(masks, prior=0.5).label.tolist()
        [0, 1, 1, 0]
    """
    return fuse_by_em(
        "staple",
        labels,
        n_classes,
        inputs,
        model=FreeMatrices(dirichlet),
        prior=prior,
        stopping=Stopping(max_iter, tol),
        start=start,
        adjust=_only_disputed if disputed_only else None,
    )


def _only_disputed(answers: Answers) -> Answers:
    """Take rows on which all raters agree for given, and out of the estimates."""
    share = vote_fractions(answers, np.full(answers.n_classes, 1 / answers.n_classes))
    agreed = share.max(1) == 1.0
    gold = np.where(agreed, share.argmax(1), MISSING)
    if answers.gold is not None:
        gold = np.where(answers.gold != MISSING, answers.gold, gold)
    return replace(answers, gold=gold, weight=np.where(agreed, 0.0, answers.weight))
