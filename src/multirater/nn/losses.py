"""The likelihood of what raters drew, and the trace that tells truth from error.

All in log space. A rater who did not label a case, and a pixel a rater did not label (-1), are
left out of the likelihood and of the trace.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import torch
from torch import Tensor

from multirater.nn.confusion import Columns, columns_of
from multirater.types import MISSING

Likelihood: TypeAlias = Literal["marginal", "joint"]
"""`marginal` multiplies the raters' own likelihoods, exact when the truth is certain given the
image (Zhang 2020, eq. 1); `joint` shares one unknown truth among them (Raykar, Dawid-Skene). With
one label per case they are the same."""


def rater_nll(
    log_probability: Tensor, log_cm: Tensor, labels: Tensor, likelihood: Likelihood = "marginal"
) -> Tensor:
    """Negative log-likelihood of the raters' labels, in nats per label.

    Args:
        log_probability: of the truth, (B, L, *space).
        log_cm: log confusion matrices (B, R, true, observed, *space), from a confusion head; case
            and space axes may have size 1.
        labels: class indices (B, R, *space), -1 where missing.
        likelihood: `marginal` or `joint`.

    Example:
        >>> certain = torch.tensor([[[0.0], [-1e9]]])
        >>> log_cm = torch.tensor([[0.8, 0.2], [0.3, 0.7]]).log()[None, None, ..., None]
        >>> float(rater_nll(certain, log_cm, torch.tensor([[[1]]])).exp().round(decimals=3))
        5.0
    """
    return columns_nll(log_probability, columns_of(log_cm, labels), labels, likelihood)


def columns_nll(
    log_probability: Tensor,
    columns: Columns,
    labels: Tensor,
    likelihood: Likelihood = "marginal",
    class_weight: Tensor | None = None,
) -> Tensor:
    """Do the same from the entries that the labels single out, which any head can give.

    `class_weight` (L,) says how much a label of each class counts. With the joint likelihood a
    pixel counts as the mean of its labels.
    """
    log_probability = _precise(log_probability)
    weight = label_weights(labels, class_weight, log_probability.dtype)
    total = weight.sum().clamp(min=1e-12)
    if likelihood == "marginal":
        each = torch.logsumexp(log_probability[:, None] + columns.log_likelihood, dim=2)
        return -(each * weight).sum() / total
    shared = torch.logsumexp(log_probability + columns.log_likelihood.sum(1), dim=1)
    per_label = weight.sum(1) / (labels != MISSING).sum(1).clamp(min=1)
    return -(shared * per_label).sum() / total


def plain_nll(
    log_probability: Tensor, labels: Tensor, class_weight: Tensor | None = None
) -> Tensor:
    """Cross-entropy with every rater's label taken for the truth, in nats per label.

    The likelihood when all matrices are the identity: what to train on while they warm up.

    Args:
        log_probability: of the truth, (B, L, *space).
        labels: class indices (B, R, *space), -1 where missing.
        class_weight: (L,), how much a label of each class counts; None for equal.

    Example:
        >>> log_p = torch.tensor([[[0.25], [0.75]]]).log()
        >>> float(plain_nll(log_p, torch.tensor([[[0], [-1]]])).exp())
        4.0
    """
    return _mean_nll(log_probability.gather(1, labels.clamp(min=0)), labels, class_weight)


def overlap_loss(log_probability: Tensor, labels: Tensor) -> Tensor:
    """One less the soft Dice of the objects, over all cases of a batch together.

    Cross-entropy counts pixels, so that a thin or small object weighs little beside its
    background; this counts objects. Pixels that are not labelled are left out.

    Args:
        log_probability: of the truth, (B, L, *space).
        labels: class indices (B, R, *space), -1 where missing; the mean over raters counts.

    Example:
        >>> log_p = torch.tensor([[[0.0, -9e9], [-9e9, 0.0]]])
        >>> float(overlap_loss(log_p, torch.tensor([[[0, 1]]])).round(decimals=3))
        0.0
    """
    from monai.losses import MaskedDiceLoss

    probability = _precise(log_probability).exp()
    dice = MaskedDiceLoss(include_background=False, to_onehot_y=True, batch=True)
    each = [
        dice(probability, own.clamp(min=0), (own != MISSING).to(probability.dtype))
        for own in labels.split(1, dim=1)  # type: ignore[no-untyped-call]
    ]
    return torch.stack(each).mean()


def drawn_nll(log_drawn: Tensor, labels: Tensor, class_weight: Tensor | None = None) -> Tensor:
    """Cross-entropy of what each rater drew with what they would draw, in nats per label.

    Args:
        log_drawn: log probabilities (B, R, L, *space).
        labels: class indices (B, R, *space), -1 where missing.
        class_weight: (L,), how much a label of each class counts; None for equal.
    """
    picked = log_drawn.gather(2, labels.clamp(min=0)[:, :, None])[:, :, 0]
    return _mean_nll(picked, labels, class_weight)


def _mean_nll(picked: Tensor, labels: Tensor, class_weight: Tensor | None) -> Tensor:
    """Mean of log probabilities (B, R, *space), of labels that are there, negative."""
    picked = _precise(picked)
    weight = label_weights(labels, class_weight, picked.dtype)
    return -(picked * weight).sum() / weight.sum().clamp(min=1e-12)


def _precise(values: Tensor) -> Tensor:
    """Return at least single precision: sums over pixels are worthless in half of it."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


def label_weights(labels: Tensor, class_weight: Tensor | None, dtype: torch.dtype) -> Tensor:
    """Return how much each label counts: 0 where missing, else 1 or the weight of its class."""
    drawn = (labels != MISSING).to(dtype)
    return drawn if class_weight is None else drawn * class_weight[labels.clamp(min=0)]


def trace_penalty(log_cm: Tensor, labels: Tensor) -> Tensor:
    """Mean trace of the confusion matrices, over the labelled pixels of the raters present.

    Minimising it, against the likelihood, prefers the explanation with the most confused raters:
    among all that fit, the true one (Zhang 2020, theorem 1).
    """
    return mean_trace(columns_of(log_cm, labels).trace, labels)


def mean_trace(trace: Tensor, labels: Tensor) -> Tensor:
    """Mean of traces (B, R, *space) where labels (B, R, *space) are not missing."""
    drawn = labels != MISSING
    return trace.masked_fill(~drawn, 0.0).sum() / drawn.sum().clamp(min=1)
