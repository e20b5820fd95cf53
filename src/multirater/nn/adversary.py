"""A discriminator of patches, and what it and the network that it judges learn from each other.

Images of two domains go through one network: of the *source* labels are known, of the *target* none
are. The discriminator learns to tell from the network's output where an image came from; the
network learns to give outputs for the target that are taken for the source's. Both take their step
at the same time, with one optimiser: each loss has a gradient for one of the two alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from multirater.nn.rater_network import TruthNetwork
from multirater.nn.raters import convolution

_WIDTHS = (16, 32, 64)
"""Channels per convolution, each of which halves the image: far fewer than the published ones."""


class PatchDiscriminator(nn.Module):
    """Says of every patch of a map how much it looks like one of the source.

    Args:
        n_channels: of the maps.
        ndim: 2 or 3.
    """

    def __init__(self, n_channels: int, ndim: int) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for width in _WIDTHS:
            layers += [
                convolution(ndim)(n_channels, width, 3, stride=2, padding=1),
                nn.LeakyReLU(0.2),
            ]
            n_channels = width
        layers.append(convolution(ndim)(n_channels, 1, 3, padding=1))
        self.layers = nn.Sequential(*layers)

    def forward(self, maps: Tensor) -> Tensor:
        """Return logits of *source*, (B, 1, *space / 8), for maps (B, n_channels, *space)."""
        return self.layers(maps)  # type: ignore[no-any-return]


class AdaptingNetwork(TruthNetwork):
    """Backbone and truth head, which adapt to images without labels.

    Args:
        backbone: maps images (B, channels, *space) to features (B, n_features, *space).
        adversarial_weight: of what the network learns from discriminators; 0 leaves them out.
        sizes: those of `TruthNetwork`.

    Attributes:
        target: images (B, channels, *space) that the step adapts to, put there before it; None
            outside of training, or where there are none.
    """

    target: Tensor | None = None

    def __init__(
        self,
        backbone: nn.Module,
        *,
        adversarial_weight: float,
        n_features: int,
        n_classes: int,
        ndim: int,
    ) -> None:
        super().__init__(backbone, n_features=n_features, n_classes=n_classes, ndim=ndim)
        self.adversarial_weight = adversarial_weight

    def target_features(self) -> Tensor | None:
        """Return the features of the images to adapt to; None where nothing is to be adapted."""
        if not self.training or self.target is None or not self.adversarial_weight:
            return None
        return self.features(self.target)


def telling_loss(discriminator: nn.Module, source: Tensor, target: Tensor) -> Tensor:
    """Return the cross-entropy of telling source from target, for the discriminator alone.

    Args:
        discriminator: of maps.
        source: what the network says of images with labels, (B, channels, *space).
        target: what it says of images without.
    """
    of_source, of_target = (discriminator(each.detach()) for each in (source, target))
    return _entropy(of_source, 1.0) + _entropy(of_target, 0.0)


def fooling_loss(discriminator: nn.Module, target: Tensor) -> Tensor:
    """Return the cross-entropy of the target taken for source, for the network alone."""
    fixed = {name: value.detach() for name, value in discriminator.named_parameters()}
    return _entropy(functional_call(discriminator, fixed, (target,)), 1.0)


def adversarial_loss(
    discriminators: Sequence[nn.Module],
    source: Sequence[Tensor],
    target: Sequence[Tensor],
    weight: float,
) -> Tensor:
    """Return what discriminators of several maps and the network learn together.

    Args:
        discriminators: one per kind of map.
        source: maps of images with labels, one per discriminator.
        target: the same of images without.
        weight: of what the network learns; discriminators always learn in full.
    """
    each = [
        telling_loss(judge, known, unknown) + weight * fooling_loss(judge, unknown)
        for judge, known, unknown in zip(discriminators, source, target, strict=True)
    ]
    return torch.stack(each).sum()


def _entropy(logits: Tensor, domain: float) -> Tensor:
    return functional.binary_cross_entropy_with_logits(logits, torch.full_like(logits, domain))
