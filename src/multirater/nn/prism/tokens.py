"""Attention between maps, patch by patch.

A map is cut into at most `GRID` patches per axis: their size follows from that of the image. Each
patch is one token, its mean. What attention says of a token goes back to all pixels of its patch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

GRID = 8
"""Patches per axis, as for the coarsest stage of the paper's Table 5."""


def patches(maps: Tensor) -> Tensor:
    """Return the means over patches, (B, C, at most GRID, at most GRID)."""
    size = [max(1, -(-length // GRID)) for length in maps.shape[2:]]
    return functional.avg_pool2d(maps, size, ceil_mode=True, count_include_pad=False)


def positions(n_channels: int, grid: Sequence[int], device: torch.device) -> Tensor:
    """Return sine encodings of where patches lie (Carion 2020), (1, C, *grid).

    A quarter of the channels each: sine and cosine down, sine and cosine across.
    """
    quarter = max(1, n_channels // 4)
    rate = torch.exp(torch.arange(quarter, device=device) * (-math.log(100.0) / quarter))
    parts = []
    for axis, length in enumerate(grid):
        at = (torch.arange(length, device=device) + 0.5) / length * 2 * math.pi
        wave = rate[:, None] * at
        lying = (quarter, length, 1) if axis == 0 else (quarter, 1, length)
        parts += [wave.sin().reshape(lying), wave.cos().reshape(lying)]
    encoded = torch.cat([part.expand(quarter, *grid) for part in parts])
    extra = max(0, n_channels - len(encoded))
    return functional.pad(encoded, (0, 0, 0, 0, 0, extra))[None, :n_channels]


class TokenAttention(nn.Module):
    """Dot-product attention of the patches of one map to those of another.

    Args:
        n_channels: of both maps.
        n_heads: a divisor of it.
        mixes: whether the heads are mixed in the end, or stay side by side.
    """

    def __init__(self, n_channels: int, n_heads: int = 1, *, mixes: bool = True) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Conv2d(n_channels, n_channels, 1)
        self.key = nn.Conv2d(n_channels, n_channels, 1)
        self.value = nn.Conv2d(n_channels, n_channels, 1)
        self.mix = nn.Conv2d(n_channels, n_channels, 1) if mixes else nn.Identity()

    def forward(self, asking: Tensor, asked: Tensor) -> Tensor:
        """Attend from `asking` to `asked`, both (B, C, H, W); return a map of that size."""
        seeking, found = patches(asking), patches(asked)
        grid = found.shape[2:]
        where = positions(found.shape[1], grid, found.device)
        query, key, value = (
            self._heads(each)
            for each in (self.query(seeking + where), self.key(found + where), self.value(found))
        )
        said = functional.scaled_dot_product_attention(query, key, value)
        tokens = self.mix(said.transpose(2, 3).reshape(len(asked), -1, *grid))
        return functional.interpolate(
            tokens, size=asked.shape[2:], mode="bilinear", align_corners=False
        )

    def _heads(self, tokens: Tensor) -> Tensor:
        """Shape (B, C, h, w) as (B, heads, tokens, channels of a head)."""
        n_cases, n_channels = tokens.shape[:2]
        shape = (n_cases, self.n_heads, n_channels // self.n_heads, -1)
        return tokens.reshape(shape).transpose(2, 3)


class AttentionBlock(nn.Module):
    """Attention, then two linear maps, each added to what came in and normalised.

    Args:
        n_channels: of the maps.
        n_heads: of the attention.
    """

    def __init__(self, n_channels: int, n_heads: int = 1) -> None:
        super().__init__()
        self.attention = TokenAttention(n_channels, n_heads)
        self.linear = nn.Sequential(
            nn.Conv2d(n_channels, n_channels, 1), nn.GELU(), nn.Conv2d(n_channels, n_channels, 1)
        )
        self.first_norm = nn.GroupNorm(1, n_channels)
        self.second_norm = nn.GroupNorm(1, n_channels)

    def forward(self, asking: Tensor, asked: Tensor, onto: Tensor) -> Tensor:
        """Return `onto` (B, C, H, W), enhanced by what `asking` finds in `asked`."""
        attended: Tensor = self.first_norm(onto + self.attention(asking, asked))
        enhanced: Tensor = self.second_norm(attended + self.linear(attended))
        return enhanced
