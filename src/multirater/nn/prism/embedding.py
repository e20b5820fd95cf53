"""Rater confidences as features of the size of each stage, by separable convolutions."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn
from torch.nn import functional


class SeparableEmbedding(nn.Module):
    """Depth-wise convolution for the place, point-wise ones for the channels.

    Args:
        n_maps: confidence maps, R * L * L.
        n_channels: of the stage.
    """

    def __init__(self, n_maps: int, n_channels: int) -> None:
        super().__init__()
        self.depth_wise = nn.Conv2d(n_maps, n_maps, 3, padding=1, groups=n_maps)
        first, second = nn.Conv2d(n_maps, n_channels, 1), nn.Conv2d(n_channels, n_channels, 1)
        self.point_wise = nn.Sequential(first, nn.LeakyReLU(0.01), second)
        # With torch's own start the confidences would hardly be heard behind three layers.
        nn.init.dirac_(self.depth_wise.weight, groups=n_maps)
        for layer in (first, second):
            nn.init.kaiming_normal_(layer.weight, a=0.01)

    def forward(self, maps: Tensor) -> Tensor:
        """Embed (B, n_maps, H, W) as (B, n_channels, H, W)."""
        return self.point_wise(self.depth_wise(maps))  # type: ignore[no-any-return]


class ConfidenceEmbedding(nn.Module):
    """One embedding per stage but the finest, each in half the size of the one before.

    Args:
        n_maps: confidence maps, R * L * L.
        channels: per stage, the finer first.
    """

    def __init__(self, n_maps: int, channels: Sequence[int]) -> None:
        super().__init__()
        self.stages = nn.ModuleList(SeparableEmbedding(n_maps, width) for width in channels)

    def forward(self, maps: Tensor) -> list[Tensor]:
        """Embed confidences (B, n_maps, H, W) for each stage, the coarsest first."""
        found = []
        for stage in self.stages:
            maps = functional.avg_pool2d(maps, 2)
            found.append(stage(maps))
        return found[::-1]
