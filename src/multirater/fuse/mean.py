"""The mean of the labels: each class gets the share of raters who chose it (a soft label)."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from multirater.fuse.em import Fit, confusion_of
from multirater.fuse.expectation import posterior_counts, vote_fractions
from multirater.fuse.fitting import result_of
from multirater.fuse.problem import Inputs, LabelInput, pose
from multirater.fuse.result import FusionResult


def mean(
    labels: LabelInput, n_classes: int | None = None, **inputs: Unpack[Inputs]
) -> FusionResult:
    """Return the share of raters per class as probability, the largest share as label.

    Among classes with equal shares the lowest index wins; `n_ties` counts them. An item that
    nobody labelled gets the label -1 and, as probability, the overall share of each class.
    The confusion matrices compare each rater with the soft label.

    Example:
        >>> result = mean(np.array([[0, 1], [1, 1], [0, 1]]))
        >>> (3 * result.probability).round().tolist()
        [[2.0, 0.0], [1.0, 3.0]]
    """
    problem = pose(labels, n_classes, **inputs)
    answers = problem.answers
    prior = answers.class_frequency()
    fractions = vote_fractions(answers, prior)
    counts = posterior_counts(answers, fractions)
    cm = confusion_of(counts)
    fit = Fit(cm, counts, prior, fractions, np.empty(0), True)
    return result_of("mean", problem, fit, weight=np.ones(answers.n_raters))
