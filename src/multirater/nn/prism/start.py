"""The confidences a recurrence starts from (MrPrism, eq. 14)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from multirater.nn.prism.tokens import GRID

LEAST, MOST = 0.1, 0.9
"""Range of a rater's mean confidence in training."""

SPREAD = 0.2
"""Standard deviation from patch to patch."""

EQUAL = 0.5
"""Confidence in every rater when nothing is known: that of a vote."""

_CERTAIN = 0.98
"""Confidences are kept as far from 0 and 1 that logarithms stay finite."""


def likelihood(confidence: Tensor, n_classes: int) -> Tensor:
    """Turn plain confidences into log-likelihoods (B, R, true, drawn, *space).

    A confidence is the share of labels that a rater knows; the others are guessed, each class as
    often as any other. At 0 the rater has no say, at 1 the rater cannot err.

    Args:
        confidence: (B, R, *space), 0 to 1.
        n_classes: L.

    Example:
        >>> likelihood(torch.tensor([[[0.5]]]), 2).exp().flatten()
        tensor([0.7500, 0.2500, 0.2500, 0.7500])
    """
    known = confidence.clamp(1 - _CERTAIN, _CERTAIN)[:, :, None, None]
    right = torch.eye(n_classes, device=confidence.device)
    right = right.reshape(n_classes, n_classes, *(1 for _ in confidence.shape[2:]))
    return (known * right + (1 - known) / n_classes).log()


def random_start(n_raters: int, space: Sequence[int], generator: torch.Generator) -> Tensor:
    """Draw confidences (1, R, H, W), the same for a whole batch: a mean per rater, and noise.

    The noise differs from patch to patch, not from pixel to pixel: else the label fused of raters
    who contradict each other would be so grainy that no segmentation could follow it.
    """
    mean = torch.rand(1, n_raters, 1, 1, generator=generator) * (MOST - LEAST) + LEAST
    grid = [min(GRID, size) for size in space]
    noise = torch.randn(1, n_raters, *grid, generator=generator) * SPREAD
    return (mean + functional.interpolate(noise, size=list(space))).clamp(0, 1)
