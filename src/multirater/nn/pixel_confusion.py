"""Confusion matrices of their own at every pixel: full, or of low rank.

Matrices at all pixels are most of what a step costs, so they are never kept: what labels single out
of them is computed in blocks of pixels, and computed again for the gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import isqrt

import torch
from torch import Tensor, nn
from torch.nn import functional

from multirater.nn.blocks import BlockFunction, BlockGradient, in_blocks
from multirater.nn.confusion import Columns, ConfusionHead, identity_logits
from multirater.nn.raters import Raters
from multirater.types import MISSING


class _MapConfusion(ConfusionHead):
    """Matrices that are made, at every pixel, of maps that are linear in the features.

    Args:
        n_raters: raters in the data set.
        n_classes: classes, background included.
        n_features: channels of the feature map.
        start: value of each map to start with, (n_maps,).
        of_block: gives log columns and traces of a block of pixels.
        gradient: its gradient, where it is written out.
    """

    def __init__(
        self,
        n_raters: int,
        n_classes: int,
        n_features: int,
        start: Tensor,
        of_block: BlockFunction,
        gradient: BlockGradient | None = None,
    ) -> None:
        super().__init__(n_raters, n_classes)
        self.weight = nn.Parameter(torch.randn(n_raters, len(start), n_features) * 0.01)
        self.bias = nn.Parameter(start.repeat(n_raters, 1))
        self._of_block, self._gradient = of_block, gradient

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
        given = (features, weight, bias, labels)
        return Columns(*in_blocks(self._of_block, *given, gradient=self._gradient))


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
        super().__init__(n_raters, n_classes, n_features, start, _pixel_columns, _pixel_gradient)

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
    log_cm = functional.log_softmax(_pixel_logits(features, weight, bias), dim=3)
    missing = (labels == MISSING)[:, :, None]
    picked = log_cm.gather(3, _as_index(labels, log_cm))[:, :, :, 0].masked_fill_(missing, 0.0)
    return picked, _diagonal(log_cm).exp().sum(2)


def _pixel_gradient(
    features: Tensor,
    weight: Tensor,
    bias: Tensor,
    labels: Tensor,
    of_picked: Tensor,
    of_trace: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Softmax's own gradient, what was picked minus what was expected, passed on to the features.

    Written out, the matrices are passed over far less often than autograd does; they are most of
    what a confusion head costs.
    """
    cm = functional.softmax(_pixel_logits(features, weight, bias), dim=3)
    of_picked = of_picked.masked_fill((labels == MISSING)[:, :, None], 0.0)
    of_right = _diagonal(cm) * of_trace[:, :, None]
    cm *= (of_picked + of_right).neg_()[:, :, :, None]
    _diagonal(cm).add_(of_right)
    cm.scatter_add_(3, _as_index(labels, cm), of_picked[:, :, :, None])
    of_maps = cm.reshape(len(cm), -1, cm.shape[-1])
    of_weight = torch.bmm(of_maps, features.transpose(1, 2)).sum(0)
    of_features = torch.matmul(weight.flatten(0, 1).T, of_maps)
    return of_features, of_weight.reshape(weight.shape), of_maps.sum((0, 2)).reshape(bias.shape)


def _pixel_logits(features: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return (B, R, true, observed, P)."""
    n_classes = isqrt(weight.shape[1])
    maps = rater_maps(features, weight, bias)
    return maps.reshape(len(features), len(weight), n_classes, n_classes, -1)


def _diagonal(cm: Tensor) -> Tensor:
    """Return the diagonal of (B, R, L, L, P) as (B, R, L, P), a view whose pixels lie side by side.

    Of `torch.diagonal` the classes come last, and it is several times as slow.
    """
    return cm.flatten(2, 3)[:, :, :: cm.shape[2] + 1]


def _as_index(labels: Tensor, cm: Tensor) -> Tensor:
    """Return labels (B, R, P) as an index into the observed classes of each true one."""
    return labels.clamp(min=0)[:, :, None, None].expand(-1, -1, cm.shape[2], 1, -1)


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
        start = self._sizes(n_classes, rank, diagonal).expm1().log()
        of_block = partial(_low_rank_columns, rank=rank, identity=self.identity)
        super().__init__(n_raters, n_classes, n_features, start, of_block)
        self.rank = rank

    identity = 1.0
    """How much of the identity the product is added to."""

    @staticmethod
    def _sizes(n_classes: int, rank: int, diagonal: float) -> Tensor:
        """Return the entries of both factors to start with, (2 * L * rank,)."""
        # Each row starts with 1 on the diagonal and n_classes * rank * size^2 spread evenly.
        spread = (1 - diagonal) * n_classes / max(n_classes * diagonal - 1, 1e-3)
        size = (spread / (n_classes * rank)) ** 0.5
        return torch.full((2 * n_classes * rank,), size)

    def forward(self, features: Tensor, raters: Sequence[int] | None = None) -> Tensor:
        """Return log matrices (B, R, true, observed, *space)."""
        chosen = self._wanted(raters)
        a, b = _factors(features, self.weight[chosen], self.bias[chosen], self.rank)
        product = torch.einsum("brtk...,brok...->brto...", a, b)
        identity = torch.eye(self.n_classes, dtype=product.dtype, device=product.device)
        product = product + self.identity * identity.reshape(
            self.n_classes, self.n_classes, *([1] * (features.ndim - 2))
        )
        return (product / product.sum(3, keepdim=True)).log()


class ProductConfusion(LowRankConfusion):
    """One matrix per rater and pixel: a product of two L x rank matrices (Zhang 2020, appendix).

    cm[t, o] is proportional to sum_k a[t, k] b[o, k]. With rank 1 all rows are alike: what a rater
    draws does not depend on the truth, and nothing about it can be learned. A product of rank k
    tells at most k groups of classes apart; it starts with classes dealt out to them in turn.
    """

    identity = 0.0

    @staticmethod
    def _sizes(n_classes: int, rank: int, diagonal: float) -> Tensor:
        group = torch.arange(n_classes) % rank
        is_own = group[:, None] == torch.arange(rank)
        # A row's own group has L / rank classes: the others get what is left.
        left = max(1 - diagonal, 1e-3)
        each = torch.where(is_own, 1.0, (left / (2 * max(rank - 1, 1))) if rank > 1 else 1.0)
        return each.flatten().repeat(2)


def _factors(features: Tensor, weight: Tensor, bias: Tensor, rank: int) -> tuple[Tensor, Tensor]:
    """Return a and b of low-rank matrices, each (B, R, L, rank, *space)."""
    n_classes = weight.shape[1] // (2 * rank)
    maps = rater_maps(features, weight, bias)
    shape = (len(features), len(weight), 2, n_classes, rank, *features.shape[2:])
    a, b = functional.softplus(maps.reshape(shape)).unbind(2)
    return a, b


def _low_rank_columns(
    features: Tensor,
    weight: Tensor,
    bias: Tensor,
    labels: Tensor,
    *,
    rank: int,
    identity: float = 1.0,
) -> tuple[Tensor, Tensor]:
    """Return log columns (B, R, L, P) and trace (B, R, P); see `LowRankConfusion`."""
    a, b = _factors(features, weight, bias, rank)
    norm = identity + (a * b.sum(2, keepdim=True)).sum(3)
    index = labels.clamp(min=0)[:, :, None]
    drawn = b.gather(2, index[:, :, :, None].expand(-1, -1, 1, rank, -1))
    classes = torch.arange(a.shape[2], device=labels.device)
    likelihood = ((a * drawn).sum(3) + identity * (index == classes[:, None])) / norm
    trace = ((identity + (a * b).sum(3)) / norm).sum(2)
    return likelihood.log().masked_fill((labels == MISSING)[:, :, None], 0.0), trace


def rater_maps(features: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Apply a linear map per rater to every pixel.

    Args:
        features: (B, n_features, *space).
        weight: (R, n_outputs, n_features).
        bias: (R, n_outputs).

    Returns:
        (B, R * n_outputs, *space), by one matrix product for all raters.
    """
    # One call that adds the bias on the way: `matmul` transposes, and + passes over it again.
    each = weight.flatten(0, 1).expand(len(features), -1, -1)
    maps = torch.baddbmm(bias.reshape(1, -1, 1), each, features.flatten(2))
    return maps.reshape(len(features), -1, *features.shape[2:])
