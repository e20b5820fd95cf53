"""Probabilistic U-Net (Kohl 2018): segmentations drawn from a learned distribution.

It models that raters differ, not which rater draws what: a low-dimensional code, drawn from a
prior given the image, decides which of the plausible segmentations appears.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.distributions import Independent, Normal, kl_divergence
from torch.nn import functional

from multirater.nn.losses import plain_nll
from multirater.nn.rater_network import Labelled, Outputs, RaterLoss, RaterNetwork
from multirater.nn.raters import convolution
from multirater.types import MISSING

CODE_SIZE = 6
N_SAMPLES = 16


class GaussianEncoder(nn.Module):
    """Maps an image, or an image with a label, to a Gaussian over codes.

    Args:
        n_channels: of the input.
        channels: per stage; the space is halved between stages.
        ndim: 2 or 3.
    """

    def __init__(self, n_channels: int, channels: Sequence[int], ndim: int) -> None:
        super().__init__()
        norm = nn.InstanceNorm2d if ndim == 2 else nn.InstanceNorm3d
        stages: list[nn.Module] = []
        before = n_channels
        for width in channels:
            stages += [
                convolution(ndim)(before, width, 3, padding=1),
                norm(width, affine=True),
                nn.LeakyReLU(0.01),
                (nn.AvgPool2d if ndim == 2 else nn.AvgPool3d)(2, ceil_mode=True),
            ]
            before = width
        self.stages = nn.Sequential(*stages)
        self.to_code = nn.Linear(before, 2 * CODE_SIZE)

    def forward(self, image: Tensor) -> Independent[Normal]:
        """Return the distribution of codes, one per case."""
        pooled = self.stages(image).flatten(2).mean(2)
        mean, log_deviation = self.to_code(pooled).chunk(2, dim=1)
        return Independent(Normal(mean, log_deviation.clamp(-7, 5).exp()), 1)


class ProbabilisticUNet(RaterNetwork):
    """U-Net features combined with a code.

    Args:
        backbone: maps images (B, channels, *space) to features (B, n_features, *space).
        n_features: channels of the feature map.
        n_channels: channels of the image.
        n_classes: classes, background included.
        ndim: 2 or 3.
        channels: of the encoders, per stage.
        kl_weight: of the divergence between posterior and prior.
    """

    def __init__(
        self,
        backbone: nn.Module,
        *,
        n_features: int,
        n_channels: int,
        n_classes: int,
        ndim: int,
        channels: Sequence[int],
        kl_weight: float = 1.0,
    ) -> None:
        super().__init__()
        self.n_classes = n_classes
        self.kl_weight = kl_weight
        self.backbone = backbone
        self.prior = GaussianEncoder(n_channels, channels, ndim)
        self.posterior = GaussianEncoder(n_channels + n_classes, channels, ndim)
        self.combine = nn.Sequential(
            convolution(ndim)(n_features + CODE_SIZE, n_features, 1),
            nn.LeakyReLU(0.01),
            convolution(ndim)(n_features, n_features, 1),
            nn.LeakyReLU(0.01),
            convolution(ndim)(n_features, n_classes, 1),
        )
        self.n_channels = n_channels

    def features(self, image: Tensor) -> Tensor:
        """Return image and feature map side by side: the encoders need the image too."""
        return torch.cat([image, self.backbone(image)], dim=1)

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Negative evidence bound of every rater's label, in nats per labelled pixel."""
        image, maps = features[:, : self.n_channels], features[:, self.n_channels :]
        prior = self.prior(image)
        parts = []
        for position in range(labelled.labels.shape[1]):
            label = labelled.labels[:, position]
            posterior = self.posterior(torch.cat([image, self._one_hot(label, image)], dim=1))
            log_truth = self._decode(maps, posterior.rsample())
            error = plain_nll(log_truth, label[:, None], labelled.class_weight)
            n_pixels = (label != MISSING).flatten(1).sum(1).clamp(min=1)
            divergence = (kl_divergence(posterior, prior) / n_pixels).mean()
            parts.append(error + self.kl_weight * divergence)
        nll = torch.stack(parts).mean()
        return RaterLoss(nll, nll.new_zeros(()))

    def outputs(self, image: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Return the mean segmentation; as raters, that many draws from the prior.

        The draws are the same every time and for every image.
        """
        prior = self.prior(image)
        generator = torch.Generator().manual_seed(0)
        shape = (max(N_SAMPLES, len(raters)), 1, CODE_SIZE)
        noise = torch.randn(shape, generator=generator).to(image)
        maps = self.backbone(image)
        base = prior.base_dist
        drawn = [self._decode(maps, base.loc + base.scale * each).exp() for each in noise]
        return Outputs(
            torch.stack(drawn).mean(0),
            torch.stack(drawn[: len(raters)], dim=1) if raters else None,
        )

    def _decode(self, maps: Tensor, code: Tensor) -> Tensor:
        tiled = code.reshape(*code.shape, *([1] * (maps.ndim - 2))).expand(-1, -1, *maps.shape[2:])
        return functional.log_softmax(self.combine(torch.cat([maps, tiled], dim=1)), dim=1)

    def _one_hot(self, label: Tensor, image: Tensor) -> Tensor:
        """Return the label as channels, all zero where it is missing."""
        known = functional.one_hot(label.clamp(min=0), self.n_classes).movedim(-1, 1)
        return (known * (label != MISSING)[:, None]).to(image)
