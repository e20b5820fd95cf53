"""Rater confidences as features of the size of each stage, by separable convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from torch import Tensor, nn
from torch.nn import functional


class SeparableEmbedding(nn.Module):
    """Depth-wise convolution for the place, point-wise ones for the channels.

    Args:
        n_maps: confidence maps, R * L * L.
        widths: of the point-wise convolutions; the last is that of the stage.
    """

    def __init__(self, n_maps: int, widths: Sequence[int]) -> None:
        super().__init__()
        self.depth_wise = nn.Conv2d(n_maps, n_maps, 3, padding=1, groups=n_maps)
        layers = [nn.Conv2d(*sizes, 1) for sizes in pairwise((n_maps, *widths))]
        between = [part for layer in layers for part in (layer, nn.LeakyReLU(0.01))]
        self.point_wise = nn.Sequential(*between[:-1])
        # With torch's own start the confidences would hardly be heard behind three layers.
        nn.init.dirac_(self.depth_wise.weight, groups=n_maps)
        for layer in layers:
            nn.init.kaiming_normal_(layer.weight, a=0.01)

    def forward(self, maps: Tensor) -> Tensor:
        """Embed (B, n_maps, H, W) as (B, widths[-1], H, W)."""
        return self.point_wise(self.depth_wise(maps))  # type: ignore[no-any-return]


class ConfidenceEmbedding(nn.Module):
    """One embedding per stage but the finest, each in half the size of the one before.

    Args:
        n_maps: confidence maps, R * L * L.
        stages: widths of the point-wise convolutions of each, the finer first.
    """

    def __init__(self, n_maps: int, stages: Sequence[Sequence[int]]) -> None:
        super().__init__()
        self.stages = nn.ModuleList(SeparableEmbedding(n_maps, widths) for widths in stages)

    def forward(self, maps: Tensor) -> list[Tensor]:
        """Embed confidences (B, n_maps, H, W) for each stage, the coarsest first."""
        found = []
        for stage in self.stages:
            maps = functional.avg_pool2d(maps, 2)
            found.append(stage(maps))
        return found[::-1]
