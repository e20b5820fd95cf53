"""The truth behind labels, given one confusion matrix per rater: what EM methods share.

Shapes: B cases, R labels per case, L classes, space of any dimension, or none.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from multirater.nn.confusion import Columns
from multirater.nn.losses import label_weights
from multirater.nn.raters import Raters
from multirater.types import MISSING


def log_posterior(log_prior: Tensor, columns: Columns) -> Tensor:
    """Combine what is known beforehand with what raters said, (B, L, *space).

    q(t) is proportional to p(t) times the product over raters of cm[r, t, label].

    Args:
        log_prior: log p(t), (B or 1, L, *space).
        columns: of the labels.
    """
    return functional.log_softmax(log_prior + columns.log_likelihood.sum(1), dim=1)


def votes(labels: Tensor, n_classes: int) -> Tensor:
    """Return the share of the labels for each class, (B, L, *space); 0 without any label."""
    counted = one_hot(labels, n_classes).sum(1)
    return counted / counted.sum(1, keepdim=True).clamp(min=1)


def one_hot(labels: Tensor, n_classes: int) -> Tensor:
    """Return labels (B, R, *space) as (B, R, L, *space), all zero where missing."""
    known = functional.one_hot(labels.clamp(min=0), n_classes).movedim(-1, 2)
    return (known * (labels != MISSING)[:, :, None]).float()


def expected_counts(posterior: Tensor, labels: Tensor, raters: Raters, n_raters: int) -> Tensor:
    """Count how often raters said each class of each true one, (n_raters, true, observed).

    Args:
        posterior: probability of the truth, (B, L, *space).
        labels: (B, R, *space), -1 where missing.
        raters: who gave them.
        n_raters: of the data set.
    """
    n_classes = posterior.shape[1]
    said = one_hot(labels, n_classes).reshape(*labels.shape[:2], n_classes, -1)
    true = posterior.reshape(len(posterior), n_classes, -1)
    with torch.autocast(true.device.type, enabled=False):  # counts of pixels are exact
        each = torch.einsum("btp,brop->brto", true.float(), said)
    counts = each.new_zeros(n_raters, n_classes, n_classes)
    if isinstance(raters, Tensor):
        return counts.index_add_(0, raters.flatten(), each.flatten(0, 1))
    return counts.index_add_(0, torch.tensor(list(raters), device=each.device), each.sum(0))


def soft_nll(
    log_truth: Tensor, posterior: Tensor, labels: Tensor, class_weight: Tensor | None
) -> Tensor:
    """Cross-entropy with a probability, in nats per labelled item.

    Args:
        log_truth: (B, L, *space).
        posterior: (B, L, *space).
        labels: (B, R, *space); items without any do not count.
        class_weight: (L,), how much a label of each class counts; None for equal.
    """
    weight = label_weights(labels, class_weight, log_truth.dtype).sum(1)
    weight = weight / (labels != MISSING).sum(1).clamp(min=1)
    each = -(posterior * log_truth).sum(1)
    return (each * weight).sum() / weight.sum().clamp(min=1e-12)
