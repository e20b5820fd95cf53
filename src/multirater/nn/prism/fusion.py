"""Fusing raters' labels by confidences (MrPrism, eq. 4 and 5).

The confidence of rater m is the log-likelihood w[m, k, t] = log P(m draws t | the truth is k), as
in the proof of Proposition 1: then fusing by

    y = softmax over k of (sum over m of w[m, k, what m drew] + prior)

is Bayes' rule. (Read as a product of two vectors over classes, as eq. 4 is printed, the formula
would lower the probability of a class with every rater who votes for it, since logarithms of
probabilities are negative.)
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def thresholded(probability: Tensor) -> Tensor:
    """Return the most probable class as votes, (B, R, L, *space).

    For two classes that is a threshold of one half. Gradients pass as if there were none: else
    nothing could be learned from what the votes lead to.
    """
    hard = functional.one_hot(probability.argmax(2), probability.shape[2]).movedim(-1, 2)
    return hard + probability - probability.detach()


def fuse(confidence: Tensor, votes: Tensor, log_prior: Tensor | float = 0.0) -> Tensor:
    """Fuse votes by confidences; return the log probability of the truth, (B, L, *space).

    Args:
        confidence: log-likelihoods (B, R, true, drawn, *space).
        votes: (B, R, drawn, *space), zero where missing.
        log_prior: of the truth, (B, L, *space); uniform when not given.

    Example:
        >>> reliable = torch.tensor([[0.9, 0.1], [0.2, 0.8]]).log().reshape(1, 1, 2, 2, 1)
        >>> from multirater.nn.posterior import one_hot
        >>> drew_one = one_hot(torch.tensor([[[1]]]), 2)
        >>> fuse(reliable, drew_one).exp().flatten()
        tensor([0.1111, 0.8889])
    """
    evidence = (confidence * votes[:, :, None]).sum((1, 3))
    return functional.log_softmax(evidence + log_prior, dim=1)


def drawn_by(log_truth: Tensor, confidence: Tensor) -> Tensor:
    """Return the log probability of what each rater draws, (B, R, L, *space).

    Args:
        log_truth: (B, L, *space).
        confidence: log-likelihoods (B, R, true, drawn, *space).
    """
    return torch.logsumexp(log_truth[:, None, :, None] + confidence, dim=2)
