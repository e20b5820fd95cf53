"""A vote on the patterns of many cases, block by block: what it says of the raters."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from multirater.fuse.answers import Answers
from multirater.fuse.em import confusion_of
from multirater.fuse.expectation import posterior_counts, vote_fractions
from multirater.fuse.fitting import row_labels
from multirater.fuse.identifiability import assess_counts, swap_drop
from multirater.fuse.pattern_blocks import PatternBlocks
from multirater.fuse.result import FusionResult
from multirater.fuse.weighted_vote import vote_weights, weighted_shares

Array = NDArray[np.float64]


def pooled_weighted_vote(
    blocks: PatternBlocks, raters: tuple[Hashable, ...], classes: tuple[Hashable, ...]
) -> FusionResult:
    """Return what `weighted_vote` does, but for labels and probabilities (None).

    Args:
        blocks: the patterns of all cases.
        raters: names.
        classes: names.
    """
    weight = vote_weights(blocks)

    def shares(answers: Answers, prior: Array) -> Array:
        return weighted_shares(answers, weight, prior)

    return _voted("weighted-vote", blocks, raters, classes, shares, weight)


def pooled_majority_vote(
    blocks: PatternBlocks, raters: tuple[Hashable, ...], classes: tuple[Hashable, ...]
) -> FusionResult:
    """Return what `majority_vote` does, but for labels and probabilities; see above."""
    weight = np.ones(blocks.n_raters)
    return _voted("majority-vote", blocks, raters, classes, vote_fractions, weight)


def _voted(
    method: str,
    blocks: PatternBlocks,
    raters: tuple[Hashable, ...],
    classes: tuple[Hashable, ...],
    shares: Callable[[Answers, Array], Array],
    weight: Array,
) -> FusionResult:
    prior = blocks.class_frequency()
    counts = np.zeros((blocks.n_raters, blocks.n_classes, blocks.n_classes))
    n_ties = 0
    for answers in blocks:
        label, ties = row_labels(answers, shares(answers, prior))
        decided = np.eye(answers.n_classes)[np.maximum(label, 0)]
        counts += posterior_counts(answers, decided)
        n_ties += ties
    cm = confusion_of(counts)
    report = assess_counts(
        cm,
        counts,
        raters,
        classes,
        swap_drop=lambda pair: sum(swap_drop(answers, cm, prior, pair) for answers in blocks),
        outvoted=lambda _: 0.0,
    )
    return FusionResult(
        label=None,
        probability=None,
        cm=cm,
        counts=counts,
        prior=prior,
        raters=raters,
        classes=classes,
        log_likelihood=np.empty(0),
        n_iter=0,
        converged=True,
        n_ties=n_ties,
        # A vote models no rater, so it cannot fall for one.
        identifiability=replace(report, follows=None),
        method=method,
        weight=weight,
    )
