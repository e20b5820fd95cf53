"""The majority vote: the class most raters chose."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from multirater.fuse.em import Fit, confusion_of
from multirater.fuse.expectation import posterior_counts, vote_fractions
from multirater.fuse.fitting import result_of, row_labels
from multirater.fuse.problem import Inputs, LabelInput, pose
from multirater.fuse.result import FusionResult


def majority_vote(
    labels: LabelInput, n_classes: int | None = None, **inputs: Unpack[Inputs]
) -> FusionResult:
    """Return the class most raters chose.

    A tie goes to the lowest class index; `n_ties` counts them. The probability is the share of
    votes, as in `mean`; the confusion matrices compare each rater with the vote, not with the
    shares.

    Example:
        >>> result = majority_vote(np.array([[0, 2], [1, 1], [-1, 1]]))
        >>> result.label.tolist(), result.n_ties
        ([0, 1], 1)
    """
    problem = pose(labels, n_classes, **inputs)
    answers = problem.answers
    prior = answers.class_frequency()
    fractions = vote_fractions(answers, prior)
    label, _ = row_labels(answers, fractions)
    decided = np.eye(answers.n_classes)[np.maximum(label, 0)]
    counts = posterior_counts(answers, decided)
    cm = confusion_of(counts)
    fit = Fit(cm, counts, prior, fractions, np.empty(0), True)
    return result_of("majority-vote", problem, fit, weight=np.ones(answers.n_raters))
