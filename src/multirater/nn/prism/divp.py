"""DivP, the diverging prism: what each rater would draw, told from the segmentation alone."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from multirater.nn.prism.tokens import AttentionBlock, TokenAttention
from multirater.nn.prism.widths import Widths

WIDTHS = (32, 64, 64, 32)
"""Channels of the shared blocks (Table 5)."""

N_HEADS = 8

_STRIDE = 2
_FIRST_DIAGONAL = 3.0
"""Added to the logits of the class that is there: an untrained DivP takes raters to be right."""

_LEAST = 0.01
"""Share of every likelihood that is chance: no rater rules a class out."""


class DivP(nn.Module):
    """A stem, blocks of self-attention that raters share, and one attention head per rater.

    Args:
        n_raters: R.
        n_classes: L.
        widths: of stem and heads.
    """

    def __init__(self, n_raters: int, n_classes: int, widths: Widths) -> None:
        super().__init__()
        self.n_raters, self.n_classes = n_raters, n_classes
        first = WIDTHS[0]
        kernel = widths.stem_kernel
        self.stem = nn.Sequential(
            nn.Conv2d(n_classes, widths.stem, kernel, stride=_STRIDE, padding=kernel // 2),
            nn.GELU(),
            *([nn.MaxPool2d(3, stride=2, padding=1)] if widths.pools else []),
            nn.Conv2d(widths.stem, first, 3, padding=1),
        )
        self.widen = nn.ModuleList(
            nn.Conv2d(before, width, 1) if before != width else nn.Identity()
            for before, width in zip((first, *WIDTHS), WIDTHS, strict=False)
        )
        self.blocks = nn.ModuleList(AttentionBlock(width, N_HEADS) for width in WIDTHS)
        own = n_raters * widths.per_rater
        self.split = nn.Conv2d(WIDTHS[-1], own, 1)
        self.attention = TokenAttention(own, n_raters, mixes=False)
        self.head = nn.Conv2d(own, n_raters * n_classes**2, 1, groups=n_raters)

    def forward(self, mask: Tensor) -> Tensor:
        """Return confidences: log-likelihoods (B, R, true, drawn, H, W).

        Args:
            mask: probability of the truth (B, L, H, W).
        """
        maps = self.stem(mask)
        for widen, block in zip(self.widen, self.blocks, strict=True):
            maps = widen(maps)
            maps = block(maps, maps, onto=maps)
        own = self.split(maps)
        logits = self.head(own + self.attention(own, own))
        logits = functional.interpolate(
            logits, size=mask.shape[2:], mode="bilinear", align_corners=False
        )
        sizes = (self.n_raters, self.n_classes, self.n_classes)
        right = torch.eye(self.n_classes, device=mask.device)[..., None, None] * _FIRST_DIAGONAL
        likely = functional.log_softmax(
            logits.reshape(len(mask), *sizes, *mask.shape[2:]) + right, dim=3
        )
        chance = likely.new_tensor(math.log(_LEAST / self.n_classes))
        return torch.logaddexp(likely + math.log(1 - _LEAST), chance)
