"""pOSAL (Wang 2019): a loss that knows shapes, and adversarial learning in patches of the output.

The segmentation learns by the overlap of objects and by smoothness within them. A discriminator of
patches tells from the probabilities whether an image had labels; the network learns that those
without are segmented alike. Here the discriminator is small, the backbone is that of the other
methods instead of a pretrained MobileNetV2, and all objects weigh alike: the paper has cup and
disc, the one within the other, as 0.6 to 0.4.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from multirater.nn.adversary import AdaptingNetwork, PatchDiscriminator, adversarial_loss
from multirater.nn.losses import plain_nll
from multirater.nn.posterior import one_hot
from multirater.nn.rater_network import Labelled, RaterLoss
from multirater.types import MISSING

_LEAST = 1e-6


class PatchAdversarialNetwork(AdaptingNetwork):
    """Backbone, truth head, and a discriminator of patches of what they say.

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
            n_features=n_features,
            n_classes=n_classes,
            ndim=ndim,
        )
        self.discriminator = PatchDiscriminator(n_classes, ndim)

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Overlap, smoothness and, where there is a target, what the discriminator says.

        The likelihood is told, as every method does, and not learned from.
        """
        log_truth, labels = self.log_truth(features), labelled.labels
        nll = plain_nll(log_truth.detach(), labels, labelled.class_weight)
        probability = log_truth.exp()
        truth = object_loss(probability, labels) + smoothness_loss(probability, labels)
        unlabelled = self.target_features()
        if unlabelled is not None:
            target = self.log_truth(unlabelled).exp()
            judges = [self.discriminator]
            truth = truth + adversarial_loss(
                judges, [probability], [target], self.adversarial_weight
            )
        return RaterLoss(nll, nll.new_zeros(()), truth)


def object_loss(probability: Tensor, labels: Tensor) -> Tensor:
    """One less the Dice of the objects, case by case, with squares in the denominator.

    Args:
        probability: (B, L, *space).
        labels: (B, R, *space), -1 where missing; every label counts.
    """
    space = (1, *range(3, labels.ndim + 1))  # raters and pixels
    known = (labels != MISSING)[:, :, None].float()
    drawn = one_hot(labels, probability.shape[1])[:, :, 1:]
    said = probability[:, None, 1:] * known
    shared = (said * drawn).sum(space)
    total = said.square().sum(space) + drawn.sum(space)
    return (1 - (2 * shared + _LEAST) / (total + _LEAST)).mean()


def smoothness_loss(probability: Tensor, labels: Tensor) -> Tensor:
    """Return how much probabilities differ between neighbours, away from drawn boundaries.

    Counted are pixels all of whose neighbours along the axes are drawn as they are; for each the
    absolute differences are summed over its neighbours, then the mean is taken over all labels and
    objects.

    Args:
        probability: (B, L, *space).
        labels: (B, R, *space), -1 where missing.

    Example:
        >>> uneven = torch.tensor([[0.9, 0.9, 0.7, 0.9]]).repeat(3, 1)
        >>> p = torch.stack([1 - uneven, uneven])[None]
        >>> loss = smoothness_loss(p, torch.ones(1, 1, 3, 4, dtype=torch.long))
        >>> round(float(loss), 3)
        0.05
    """
    n_objects = probability.shape[1] - 1
    inside = (labels != MISSING).float()
    unlike = torch.zeros_like(probability[:, 1:])
    for axis in range(2, labels.ndim):
        for shift in (-1, 1):
            same = labels.roll(shift, axis) == labels
            inside = inside * same * _has_neighbour(labels.shape[axis], shift, axis, labels)
            unlike = unlike + (probability - probability.roll(shift, axis))[:, 1:].abs()
    n_labels = (labels != MISSING).sum().clamp(min=1) * n_objects
    return (unlike[:, None] * inside[:, :, None]).sum() / n_labels


def _has_neighbour(size: int, shift: int, axis: int, like: Tensor) -> Tensor:
    """Return 0 at the end of an axis that has nobody beyond it, else 1, as it broadcasts."""
    there = torch.ones(size, device=like.device)
    there[0 if shift > 0 else -1] = 0
    return there.reshape([size if each == axis else 1 for each in range(like.ndim)])
