"""Confusion heads: from a feature map to what each rater would draw, given the truth.

A head holds one confusion matrix per rater: the same everywhere (`GlobalConfusion`, and for class
labels `RaterConfusion`), or one per pixel (`multirater.nn.pixel_confusion`). Rows are normalised
over the observed class. Only the raters asked for are computed: the cost of a step grows with the
labels in the batch, not with the raters in the data set.

Shapes: B cases, R raters asked for, L classes, space of any dimension; a global head has space
(1, ...), which broadcasts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from multirater.nn.raters import Raters, for_raters
from multirater.types import MISSING

_LEAST = 1e-7


@dataclass(frozen=True)
class Columns:
    """What a loss needs of confusion matrices.

    Attributes:
        log_likelihood: (B, R, L, *space), log probability of what the rater drew for each true
            class; 0 where they drew nothing.
        trace: (B, R, *space), trace of the matrix.
    """

    log_likelihood: Tensor
    trace: Tensor


class ConfusionHead(nn.Module):
    """What all heads share.

    Args:
        n_raters: raters in the data set.
        n_classes: classes, background included.
    """

    def __init__(self, n_raters: int, n_classes: int) -> None:
        super().__init__()
        self.n_raters = n_raters
        self.n_classes = n_classes

    def forward(self, features: Tensor, raters: Sequence[int] | None = None) -> Tensor:
        """Return log matrices (B, R, true, observed, *space) of the raters asked for (all)."""
        raise NotImplementedError

    is_known = True
    """Whether the head can tell matrices for images whose truth is not given."""

    def columns(
        self,
        features: Tensor,
        labels: Tensor,
        raters: Raters,
        truth: Tensor | None = None,
    ) -> Columns:
        """Return the entries that the labels (B, R, *space) of these raters single out.

        `truth` (B, *space) is only for heads that are given it.
        """
        assert not isinstance(raters, Tensor)
        return columns_of(self(features, raters), labels)

    def _wanted(self, raters: Sequence[int] | None) -> list[int]:
        return list(range(self.n_raters)) if raters is None else list(raters)


def columns_of(log_cm: Tensor, labels: Tensor) -> Columns:
    """Pick from log matrices (B, R, true, observed, *space) what labels (B, R, *space) single out.

    The matrices may have size 1 in the case and space axes.
    """
    missing = labels == MISSING
    index = labels.clamp(min=0)[:, :, None, None]
    n_classes = log_cm.shape[2]
    expanded = log_cm.expand(labels.shape[0], -1, -1, -1, *labels.shape[2:])
    picked = expanded.gather(3, index.expand(-1, -1, n_classes, 1, *labels.shape[2:]))[:, :, :, 0]
    trace = torch.diagonal(log_cm, dim1=2, dim2=3).exp().sum(-1)
    return Columns(
        picked.masked_fill(missing[:, :, None], 0.0),
        trace.expand(labels.shape[0], -1, *labels.shape[2:]),
    )


def columns_of_table(log_cm: Tensor, labels: Tensor, raters: Raters) -> Columns:
    """Pick from one log matrix per rater (n_raters, true, observed) what labels single out.

    Args:
        log_cm: of all raters.
        labels: (B, R, *space), -1 where missing.
        raters: who gave them.
    """
    if not isinstance(raters, Tensor):
        return columns_of(for_raters(log_cm, raters, labels.ndim - 2), labels)
    picked = log_cm.transpose(1, 2)[raters, labels.clamp(min=0)]
    trace = torch.diagonal(log_cm, dim1=1, dim2=2).exp().sum(-1)
    return Columns(picked.masked_fill((labels == MISSING)[:, :, None], 0.0), trace[raters])


class GlobalConfusion(ConfusionHead):
    """One matrix per rater, the same at every pixel of every image.

    Args:
        n_raters: raters in the data set.
        n_classes: classes, background included.
        diagonal: probability of being right to start with.

    Example:
        >>> head = GlobalConfusion(n_raters=3, n_classes=2, diagonal=0.9)
        >>> cm = head(torch.zeros(4, 8, 16, 16)).exp()[0, 0, :, :, 0, 0]
        >>> cm.double().round(decimals=2).tolist()
        [[0.9, 0.1], [0.1, 0.9]]
    """

    logits: Tensor

    def __init__(self, n_raters: int, n_classes: int, diagonal: float = 0.95) -> None:
        super().__init__(n_raters, n_classes)
        start = identity_logits(n_classes, diagonal)
        self.logits = nn.Parameter(start.repeat(n_raters, 1, 1))

    def forward(self, features: Tensor, raters: Sequence[int] | None = None) -> Tensor:
        """Return log matrices (1, R, true, observed, 1, ...)."""
        log_cm = self.log_matrices(self.logits[self._wanted(raters)])
        return log_cm[(None, ..., *([None] * (features.ndim - 2)))]

    def columns(
        self,
        features: Tensor,
        labels: Tensor,
        raters: Raters,
        truth: Tensor | None = None,
    ) -> Columns:
        """Return the entries singled out, also where each case has raters of its own."""
        if not isinstance(raters, Tensor):
            return super().columns(features, labels, raters, truth)
        # No more matrices are made than raters gave labels.
        present, place = torch.unique(raters, return_inverse=True)
        return columns_of_table(self.log_matrices(self.logits[present]), labels, place)

    def log_matrices(self, logits: Tensor) -> Tensor:
        """Normalise the rows of (..., true, observed)."""
        return functional.log_softmax(logits, dim=-1)


class GivenConfusion(GlobalConfusion):
    """One matrix per rater that is given, and stays as it is.

    Args:
        n_raters: raters in the data set.
        n_classes: classes.

    Example:
        >>> raters = GivenConfusion(n_raters=2, n_classes=2)
        >>> raters.take(torch.tensor([[[0.8, 0.2], [0.3, 0.7]], [[0.5, 0.5], [0.5, 0.5]]]))
        >>> raters(features=torch.zeros(4, 64))[0, 0].exp().double().round(decimals=2).tolist()
        [[0.8, 0.2], [0.3, 0.7]]
    """

    def __init__(self, n_raters: int, n_classes: int) -> None:
        super().__init__(n_raters, n_classes)
        start = self.logits.detach()
        del self.logits
        self.register_buffer("logits", start)

    def take(self, matrices: Tensor) -> None:
        """Set the matrices (n_raters, true, observed)."""
        self.logits.copy_(matrices.clamp(min=_LEAST).log())


class RaterConfusion(GlobalConfusion):
    """One matrix per rater, for class labels (Tanno 2019): softplus of free numbers, normalised.

    The numbers start at 6 on the diagonal minus 5 everywhere: close to the identity, but far enough
    from it to move. They want a learning rate of their own, some thirty times that of a network.

    Args:
        n_raters: raters in the data set.
        n_classes: classes.

    Example:
        >>> raters = RaterConfusion(n_raters=3, n_classes=10)
        >>> log_cm = raters(features=torch.zeros(4, 64))  # (1, 3, true, observed)
        >>> log_cm.shape, round(float(log_cm[0, 0, 0, 0].exp()), 2)
        (torch.Size([1, 3, 10, 10]), 0.96)
    """

    def __init__(self, n_raters: int, n_classes: int) -> None:
        super().__init__(n_raters, n_classes)
        self.logits = nn.Parameter((6 * torch.eye(n_classes) - 5).repeat(n_raters, 1, 1))

    def log_matrices(self, logits: Tensor) -> Tensor:
        """Normalise the softplus of the numbers; none becomes exactly zero."""
        positive = functional.softplus(logits) + _LEAST
        return (positive / positive.sum(-1, keepdim=True)).log()


class OracleConfusion(ConfusionHead):
    """The true matrices, known from the truth: what confusion matrices could give at best.

    At a pixel whose true class is t the rater's row t is one-hot at what they drew; the other rows
    are unknown, hence uniform (Zhang 2020).
    """

    is_known = False

    def columns(
        self,
        features: Tensor,
        labels: Tensor,
        raters: Raters,
        truth: Tensor | None = None,
    ) -> Columns:
        """Return 1 for the true class and 1 / L for the others."""
        assert truth is not None
        classes = torch.arange(self.n_classes, device=labels.device)
        classes = classes.reshape(1, 1, -1, *([1] * (labels.ndim - 2)))
        is_true = truth[:, None, None] == classes
        uniform = -torch.log(torch.tensor(float(self.n_classes), device=labels.device))
        likelihood = torch.where(is_true, torch.zeros_like(uniform), uniform)
        likelihood = likelihood.expand(-1, labels.shape[1], *likelihood.shape[2:])
        missing = (labels == MISSING)[:, :, None]
        trace = torch.full_like(labels, 1, dtype=features.dtype)
        return Columns(likelihood.masked_fill(missing, 0.0), trace)


def identity_logits(n_classes: int, diagonal: float) -> Tensor:
    """Return logits (L, L) whose softmax over the last axis has `diagonal` on the diagonal."""
    rest = (1 - diagonal) / (n_classes - 1)
    height = torch.log(torch.tensor(diagonal / rest))
    return torch.eye(n_classes) * height
