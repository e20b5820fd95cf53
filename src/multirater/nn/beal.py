"""BEAL (Wang 2019): boundaries and entropy of images without labels, made like those with labels.

A branch predicts where boundaries are, and the segmentation sees it. Two discriminators of patches
tell images with labels from those without: one by the boundary, one by the entropy of the
segmentation. The network learns that they cannot. Here discriminators are small, and the backbone
is that of the other methods instead of a pretrained DeepLab.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from multirater.nn.adversary import AdaptingNetwork, PatchDiscriminator, adversarial_loss
from multirater.nn.losses import plain_nll
from multirater.nn.rater_network import Labelled, RaterLoss
from multirater.nn.raters import convolution, pointwise
from multirater.types import MISSING

_BLUR = 1.0
"""Pixels by which drawn boundaries are smeared: nobody draws them to the pixel."""


class BoundaryEntropyNetwork(AdaptingNetwork):
    """Backbone, boundary branch, truth head on both, and two discriminators.

    Args:
        backbone: maps images (B, channels, *space) to features (B, n_features, *space).
        sizes: see `AdaptingNetwork`.
    """

    def __init__(
        self,
        backbone: nn.Module,
        *,
        adversarial_weight: float,
        n_features: int,
        n_classes: int,
        ndim: int,
    ) -> None:
        super().__init__(
            backbone,
            adversarial_weight=adversarial_weight,
            n_features=n_features + 1,  # the boundary beside the features
            n_classes=n_classes,
            ndim=ndim,
        )
        self.boundary_branch = nn.Sequential(
            convolution(ndim)(n_features, n_features, 3, padding=1),
            nn.LeakyReLU(0.01),
            convolution(ndim)(n_features, n_features, 3, padding=1),
            nn.LeakyReLU(0.01),
            pointwise(n_features, 1, ndim),
        )
        self.boundary_discriminator = PatchDiscriminator(1, ndim)
        self.entropy_discriminator = PatchDiscriminator(n_classes, ndim)

    def log_truth(self, features: Tensor) -> Tensor:
        """Return the log probability of the truth, (B, L, *space)."""
        return self._both(features)[1]

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return the likelihood of labels, boundaries, and what the discriminators say."""
        boundary, log_truth = self._both(features)
        nll = plain_nll(log_truth, labelled.labels, labelled.class_weight)
        truth = boundary_loss(boundary, labelled.labels)
        unlabelled = self.target_features()
        if unlabelled is not None:
            judges = [self.boundary_discriminator, self.entropy_discriminator]
            source = [boundary, entropy_map(log_truth)]
            other, log_other = self._both(unlabelled)
            target = [other, entropy_map(log_other)]
            truth = truth + adversarial_loss(judges, source, target, self.adversarial_weight)
        return RaterLoss(nll, nll.new_zeros(()), truth)

    def _both(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Return how likely a boundary is, (B, 1, *space), and the log probability of classes."""
        logits = self.boundary_branch(features)
        classes = self.truth_head(torch.cat([features, logits], dim=1))
        return torch.sigmoid(logits), functional.log_softmax(classes, dim=1)


def entropy_map(log_probability: Tensor) -> Tensor:
    """Return what each class adds to the entropy of a pixel, in nats: -p log p, (B, L, *space).

    Example:
        >>> even = torch.full((1, 2, 1, 1), 0.5).log()
        >>> float(entropy_map(even).sum().exp())
        2.0
    """
    return -log_probability.exp() * log_probability


def boundary_loss(boundary: Tensor, labels: Tensor) -> Tensor:
    """Return the mean squared difference to the drawn boundaries, over all labelled pixels.

    Args:
        boundary: how likely one is, (B, 1, *space).
        labels: (B, R, *space), -1 where missing.
    """
    known = (labels != MISSING).float()
    unlike = (boundary - drawn_boundary(labels)).square() * known
    return unlike.sum() / known.sum().clamp(min=1)


def drawn_boundary(labels: Tensor, blur: float = _BLUR) -> Tensor:
    """Return where labels have a boundary, (B, R, *space), from 0 to 1.

    A pixel is on one when a neighbour, diagonal ones included, is drawn as another class; pixels
    that are not labelled are nobody's neighbours.

    Args:
        labels: (B, R, *space), -1 where missing.
        blur: standard deviation of the smearing, in pixels; 0 for none.

    Example:
        >>> drawn_boundary(torch.tensor([[[[0, 0, 0, 1, 1, 1]] * 3]]), blur=0)[0, 0, 1].tolist()
        [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]
    """
    pool = functional.max_pool2d if labels.ndim == 4 else functional.max_pool3d
    known = labels != MISSING
    highest = pool(labels.float().masked_fill(~known, -torch.inf), 3, 1, 1)
    lowest = -pool((-labels.float()).masked_fill(~known, -torch.inf), 3, 1, 1)
    edge = ((highest != lowest) & known).float()
    if not blur:
        return edge
    from monai.networks.layers import GaussianFilter

    smear = GaussianFilter(labels.ndim - 2, blur).to(edge.device)
    smeared: Tensor = smear(edge)
    return smeared
