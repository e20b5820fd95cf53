"""Confusion heads: from a feature map to what each rater would draw, given the truth.

A head holds one confusion matrix per rater: the same everywhere (`GlobalConfusion`, and for class
labels `RaterConfusion`), one per pixel (`PixelConfusion`), or one per pixel of low rank
(`LowRankConfusion`). Rows are normalised over the
observed class. Only the raters asked for are computed: the cost of a step grows with the labels in
the batch, not with the raters in the data set.

Shapes: B cases, R raters asked for, L classes, space of any dimension; a global head has space
(1, ...), which broadcasts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import isqrt
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from multirater.nn.blocks import BlockFunction, in_blocks
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
        >>> head(torch.zeros(4, 8, 16, 16)).exp()[0, 0, :, :, 0, 0].round(decimals=2).tolist()
        [[0.9, 0.1], [0.1, 0.9]]
    """

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


class _PickColumns(torch.autograd.Function):
    """Columns of softmax-normalised matrices, without building the matrices.

    What autograd would keep and pass over several times, matrices at every pixel, is passed over
    once in each direction: that is most of what a confusion head costs.
    """

    @staticmethod
    def forward(ctx: Any, logits: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Return log columns (B, R, L, *space) and trace (B, R, *space).

        Args:
            ctx: of autograd.
            logits: (B, R, true, observed, *space).
            labels: (B, R, *space), -1 where missing.
        """
        norm = torch.logsumexp(logits, dim=3)
        index = labels.clamp(min=0)[:, :, None, None].expand(
            -1, -1, logits.shape[2], 1, *labels.shape[2:]
        )
        missing = (labels == MISSING)[:, :, None]
        picked = (logits.gather(3, index)[:, :, :, 0] - norm).masked_fill_(missing, 0.0)
        right = (torch.diagonal(logits, dim1=2, dim2=3).movedim(-1, 2) - norm).exp_()
        ctx.save_for_backward(logits, norm, labels, right)
        return picked, right.sum(2)

    @staticmethod
    def backward(ctx: Any, grad_picked: Tensor, grad_trace: Tensor) -> tuple[Tensor, None]:
        """Softmax's own gradient: what was picked minus what was expected."""
        logits, norm, labels, right = ctx.saved_tensors
        grad_picked = grad_picked.masked_fill((labels == MISSING)[:, :, None], 0.0)
        grad_right = right * grad_trace[:, :, None]
        grad = (logits - norm[:, :, :, None]).exp_()
        grad *= -(grad_picked + grad_right)[:, :, :, None]
        torch.diagonal(grad, dim1=2, dim2=3).add_(grad_right.movedim(2, -1))
        index = labels.clamp(min=0)[:, :, None, None].expand(
            -1, -1, logits.shape[2], 1, *labels.shape[2:]
        )
        grad.scatter_add_(3, index, grad_picked[:, :, :, None])
        return grad, None


class _MapConfusion(ConfusionHead):
    """Matrices that are made, at every pixel, of maps that are linear in the features.

    Args:
        n_raters: raters in the data set.
        n_classes: classes, background included.
        n_features: channels of the feature map.
        start: value of each map to start with, (n_maps,).
        of_block: gives log columns and traces of a block of pixels.
    """

    def __init__(
        self, n_raters: int, n_classes: int, n_features: int, start: Tensor, of_block: BlockFunction
    ) -> None:
        super().__init__(n_raters, n_classes)
        self.weight = nn.Parameter(torch.randn(n_raters, len(start), n_features) * 0.01)
        self.bias = nn.Parameter(start.repeat(n_raters, 1))
        self._of_block = of_block

    def columns(
        self,
        features: Tensor,
        labels: Tensor,
        raters: Raters,
        truth: Tensor | None = None,
    ) -> Columns:
        """Return what the labels single out, without keeping any matrix."""
        assert not isinstance(raters, Tensor)
        chosen = list(raters)
        weight, bias = self.weight[chosen], self.bias[chosen]
        return Columns(*in_blocks(self._of_block, features, weight, bias, labels))


class PixelConfusion(_MapConfusion):
    """One matrix per rater and pixel, a linear function of the features.

    Args:
        n_raters: raters in the data set.
        n_classes: classes, background included.
        n_features: channels of the feature map.
        diagonal: probability of being right to start with.
    """

    def __init__(
        self, n_raters: int, n_classes: int, n_features: int, diagonal: float = 0.95
    ) -> None:
        start = identity_logits(n_classes, diagonal).reshape(-1)
        super().__init__(n_raters, n_classes, n_features, start, _pixel_columns)

    def forward(self, features: Tensor, raters: Sequence[int] | None = None) -> Tensor:
        """Return log matrices (B, R, true, observed, *space)."""
        return functional.log_softmax(self._logits(features, self._wanted(raters)), dim=3)

    def _logits(self, features: Tensor, raters: list[int]) -> Tensor:
        maps = rater_maps(features, self.weight[raters], self.bias[raters])
        sizes = (len(features), len(raters), self.n_classes, self.n_classes)
        return maps.reshape(*sizes, *features.shape[2:])


def _pixel_columns(
    features: Tensor, weight: Tensor, bias: Tensor, labels: Tensor
) -> tuple[Tensor, Tensor]:
    """Return log columns (B, R, L, P) and trace (B, R, P); see `PixelConfusion`."""
    n_classes = isqrt(weight.shape[1])
    maps = rater_maps(features, weight, bias)
    logits = maps.reshape(*labels.shape[:2], n_classes, n_classes, -1)
    picked, trace = _PickColumns.apply(logits, labels)  # type: ignore[no-untyped-call]
    return picked, trace


class LowRankConfusion(_MapConfusion):
    """One matrix per rater and pixel: identity plus a product of two L x rank matrices.

    cm[t, o] is proportional to [t = o] + sum_k a[t, k] b[o, k] with positive a and b. The identity
    is what the pure product lacks: with rank 1 all its rows are alike, which says that the label
    does not depend on the truth. Memory and time grow with L * rank instead of L * L.

    Args:
        n_raters: raters in the data set.
        n_classes: classes, background included.
        n_features: channels of the feature map.
        rank: of the product.
        diagonal: probability of being right to start with.
    """

    def __init__(
        self,
        n_raters: int,
        n_classes: int,
        n_features: int,
        rank: int = 1,
        diagonal: float = 0.95,
    ) -> None:
        # Each row starts with 1 on the diagonal and n_classes * rank * size^2 spread evenly.
        spread = (1 - diagonal) * n_classes / max(n_classes * diagonal - 1, 1e-3)
        size = (spread / (n_classes * rank)) ** 0.5
        start = torch.full((2 * n_classes * rank,), size).expm1().log()
        of_block = partial(_low_rank_columns, rank=rank)
        super().__init__(n_raters, n_classes, n_features, start, of_block)
        self.rank = rank

    def forward(self, features: Tensor, raters: Sequence[int] | None = None) -> Tensor:
        """Return log matrices (B, R, true, observed, *space)."""
        chosen = self._wanted(raters)
        a, b = _factors(features, self.weight[chosen], self.bias[chosen], self.rank)
        product = torch.einsum("brtk...,brok...->brto...", a, b)
        identity = torch.eye(self.n_classes, dtype=product.dtype, device=product.device)
        product = product + identity.reshape(
            self.n_classes, self.n_classes, *([1] * (features.ndim - 2))
        )
        return (product / product.sum(3, keepdim=True)).log()


def _factors(features: Tensor, weight: Tensor, bias: Tensor, rank: int) -> tuple[Tensor, Tensor]:
    """Return a and b of low-rank matrices, each (B, R, L, rank, *space)."""
    n_classes = weight.shape[1] // (2 * rank)
    maps = rater_maps(features, weight, bias)
    shape = (len(features), len(weight), 2, n_classes, rank, *features.shape[2:])
    a, b = functional.softplus(maps.reshape(shape)).unbind(2)
    return a, b


def _low_rank_columns(
    features: Tensor, weight: Tensor, bias: Tensor, labels: Tensor, *, rank: int
) -> tuple[Tensor, Tensor]:
    """Return log columns (B, R, L, P) and trace (B, R, P); see `LowRankConfusion`."""
    a, b = _factors(features, weight, bias, rank)
    norm = 1 + (a * b.sum(2, keepdim=True)).sum(3)
    index = labels.clamp(min=0)[:, :, None]
    drawn = b.gather(2, index[:, :, :, None].expand(-1, -1, 1, rank, -1))
    classes = torch.arange(a.shape[2], device=labels.device)
    likelihood = ((a * drawn).sum(3) + (index == classes[:, None])) / norm
    trace = ((1 + (a * b).sum(3)) / norm).sum(2)
    return likelihood.log().masked_fill((labels == MISSING)[:, :, None], 0.0), trace


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


def rater_maps(features: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Apply a linear map per rater to every pixel.

    Args:
        features: (B, n_features, *space).
        weight: (R, n_outputs, n_features).
        bias: (R, n_outputs).

    Returns:
        (B, R * n_outputs, *space), by one matrix product for all raters.
    """
    flat = features.flatten(2)
    maps = torch.matmul(weight.flatten(0, 1), flat) + bias.reshape(1, -1, 1)
    return maps.reshape(len(features), -1, *features.shape[2:])
