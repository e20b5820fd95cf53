"""AG-Net (Zhang 2019): an encoder and decoder in which fine features guide coarse ones upwards.

Where a U-Net interpolates and concatenates, here a guided filter brings coarse features to the
finer grid: within small windows they are a linear function of the encoder's features there, fitted
where an attention looks. The image enters at every scale, and every scale has an output of its own;
their mean is the answer. Not to be confused with AggNet (`agg_net`), which learns from crowds.

The weighted fit within a window is solved in closed form; the published code solves something near
it. Widths are those of the other methods' U-Net.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from multirater.errors import Fault, InputError
from multirater.nn.backbone import FeatureNetwork
from multirater.nn.losses import plain_nll
from multirater.nn.rater_network import BackboneNetwork, Labelled, Outputs, RaterLoss

_RADIUS = 2
"""Of the windows of the guided filter, in pixels of the coarse grid, as in the paper."""

_RIDGE = 1e-2
"""What slopes are held back by: a guide that varies by less than its root explains nothing."""


class AttentionGuidedNetwork(BackboneNetwork):
    """AG-Net: the mean of the outputs of all scales, each of which learns from labels.

    Args:
        n_channels: of the images.
        n_classes: classes, background included.
        ndim: 2; volumes go slice by slice.
        channels: per stage.
    """

    def __init__(
        self, *, n_channels: int, n_classes: int, ndim: int, channels: Sequence[int]
    ) -> None:
        if ndim != 2:
            raise InputError(
                Fault(
                    "attention-guided on volumes",
                    expected="images of two axes",
                    fix="train slice by slice, with --view slices",
                )
            )
        network = GuidedNetwork(n_channels, n_classes, channels)
        super().__init__(FeatureNetwork(network, 2 ** (len(channels) - 1)))
        self.n_classes = n_classes

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return the likelihood by the mean of all outputs, and the sum of that by each."""
        labels, weight = labelled.labels, labelled.class_weight
        nll = plain_nll(self.log_truth(features), labels, weight)
        each = [
            plain_nll(functional.log_softmax(side, dim=1), labels, weight)
            for side in self._sides(features).unbind(1)
        ]
        return RaterLoss(nll, nll.new_zeros(()), torch.stack(each).sum())

    def log_truth(self, features: Tensor) -> Tensor:
        """Return the log probability of the truth, (B, L, *space), by the outputs' mean."""
        return functional.log_softmax(self._sides(features).mean(1), dim=1)

    def outputs(self, image: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Predict the truth; nothing is known of raters."""
        return Outputs(self.log_truth(self.features(image)).exp())

    def _sides(self, features: Tensor) -> Tensor:
        return features.reshape(len(features), -1, self.n_classes, *features.shape[2:])


class GuidedNetwork(nn.Module):
    """Encoder with the image at every scale, and decoder by guided filters.

    Args:
        n_channels: of the images.
        n_classes: of each output.
        channels: per stage; there is an output for every stage but the coarsest.
    """

    def __init__(self, n_channels: int, n_classes: int, channels: Sequence[int]) -> None:
        super().__init__()
        if len(channels) < 2:
            raise InputError(Fault(f"a network of {len(channels)} stages", expected="two or more"))
        fine, coarse = list(channels[:-1]), list(channels[1:])
        self.first = _block(n_channels, fine[0])
        self.scaled = nn.ModuleList(_block(n_channels, width) for width in coarse)
        self.down = nn.ModuleList(
            _block(wide + narrow, wide) for narrow, wide in zip(fine, coarse, strict=True)
        )
        self.guides = nn.ModuleList(
            nn.Conv2d(narrow, wide, 1) for narrow, wide in zip(fine, coarse, strict=True)
        )
        self.looks = nn.ModuleList(_Attention(wide) for wide in coarse)
        self.up = nn.ModuleList(
            _block(wide, narrow) for narrow, wide in zip(fine, coarse, strict=True)
        )
        self.sides = nn.ModuleList(nn.Conv2d(narrow, n_classes, 1) for narrow in fine)

    def forward(self, image: Tensor) -> Tensor:
        """Return logits of all outputs at the size of the image, (B, outputs * L, *space)."""
        kept, maps = [], self.first(image)
        for number, (scaled, down) in enumerate(zip(self.scaled, self.down, strict=True)):
            kept.append(maps)
            halved = functional.max_pool2d(maps, 2)
            small = functional.avg_pool2d(image, 2 ** (number + 1))
            maps = down(torch.cat([scaled(small), halved], dim=1))
        sides = []
        for number in reversed(range(len(kept))):
            guide = self.guides[number](kept[number])
            small = functional.avg_pool2d(guide, 2)
            look = self.looks[number](small, maps)
            maps = self.up[number](guided_filter(maps, small, guide, look))
            sides.append(_resized(self.sides[number](maps), image))
        return torch.cat(sides, dim=1)


class _Attention(nn.Module):
    """Says where a fit between guide and features is to look, from 0 to 1."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.of_guide, self.of_maps = nn.Conv2d(width, width, 1), nn.Conv2d(width, width, 1)
        self.together = nn.Conv2d(width, 1, 1)

    def forward(self, guide: Tensor, maps: Tensor) -> Tensor:
        """Return (B, 1, *space)."""
        both = functional.relu(self.of_guide(guide) + self.of_maps(maps))
        return torch.sigmoid(self.together(both))


def guided_filter(
    maps: Tensor,
    small: Tensor,
    guide: Tensor,
    attention: Tensor,
    radius: int = _RADIUS,
    ridge: float = _RIDGE,
) -> Tensor:
    """Bring maps to a finer grid as a locally linear function of a guide there.

    Within each window of the coarse grid slope and offset minimise the squared differences
    a² (slope · small + offset - maps)², with a ridge on the slope; both are averaged over the
    windows that a pixel is in, interpolated, and applied to the guide.

    Args:
        maps: (B, C, *coarse space).
        small: the guide on the coarse grid, (B, C, *coarse space).
        guide: on the fine grid, (B, C, *space).
        attention: a, (B, 1, *coarse space), 0 to 1.
        radius: of the windows, in coarse pixels.
        ridge: in squared units of the guide.

    Returns:
        (B, C, *space).
    """
    weight = attention.square().clamp(min=1e-4)
    total = _box(weight, radius)

    def mean(values: Tensor) -> Tensor:
        return _box(weight * values, radius) / total

    mean_guide, mean_maps = mean(small), mean(maps)
    spread = mean(small.square()) - mean_guide.square()
    together = mean(small * maps) - mean_guide * mean_maps
    slope = together / (spread.clamp(min=0) + ridge)
    offset = mean_maps - slope * mean_guide
    slope, offset = (_resized(_box(each, radius), guide) for each in (slope, offset))
    return slope * guide + offset


def _box(maps: Tensor, radius: int) -> Tensor:
    """Return means over windows, of which those at the border are smaller."""
    return functional.avg_pool2d(maps, 2 * radius + 1, 1, radius, count_include_pad=False)


def _resized(maps: Tensor, like: Tensor) -> Tensor:
    return functional.interpolate(maps, size=like.shape[2:], mode="bilinear", align_corners=False)


def _block(n_inputs: int, n_outputs: int) -> nn.Module:
    """Return two convolutions with instance norm: those of the U-Net."""
    from monai.networks.blocks.dynunet_block import UnetBasicBlock

    block: nn.Module = UnetBasicBlock(2, n_inputs, n_outputs, 3, 1, ("INSTANCE", {"affine": True}))
    return block
