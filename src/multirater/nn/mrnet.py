"""MRNet (Ji 2021): a segmentation calibrated to a given expertness of the raters.

The expertness of all raters, a weight each, goes into the features; the target is the mean of
their labels by those weights, and training draws ever new weights. From features and segmentation
every rater's label is reconstructed; where the reconstructions disagree, the segmentation is
looked at again.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from multirater.nn.losses import drawn_nll
from multirater.nn.posterior import one_hot
from multirater.nn.rater_network import BackboneNetwork, Labelled, Outputs, RaterLoss
from multirater.nn.raters import convolution, pointwise
from multirater.types import MISSING


class ExpertnessCell(nn.Module):
    """One step of a LSTM at every pixel: features are its state, the expertness what it reads.

    Args:
        n_features: channels of the feature map.
        n_raters: length of the expertness.
        ndim: 2 or 3.
    """

    def __init__(self, n_features: int, n_raters: int, ndim: int) -> None:
        super().__init__()
        self.of_features = pointwise(n_features, 4 * n_features, ndim)
        self.of_expertness = nn.Linear(n_raters, 4 * n_features)

    def forward(self, features: Tensor, expertness: Tensor) -> Tensor:
        """Return features (B, C, *space) that know the expertness (B, R)."""
        read = self.of_expertness(expertness)
        read = read.reshape(*read.shape, *(1 for _ in features.shape[2:]))
        gates: Tensor = self.of_features(features) + read
        entering, forgetting, leaving, new = gates.chunk(4, dim=1)
        state = torch.sigmoid(forgetting + 1) * features + torch.sigmoid(entering) * new.tanh()
        return torch.sigmoid(leaving + 1) * state


class MRNet(BackboneNetwork):
    """Backbone, expertness cell, segmentation, reconstruction of raters, refined segmentation.

    Args:
        backbone: maps images (B, channels, *space) to features (B, n_features, *space).
        n_features: channels of the feature map.
        n_raters: of the data set.
        n_classes: classes, background included.
        ndim: 2 or 3.
    """

    def __init__(
        self, backbone: nn.Module, *, n_features: int, n_raters: int, n_classes: int, ndim: int
    ) -> None:
        super().__init__(backbone)
        self.n_raters, self.n_classes = n_raters, n_classes
        self.cell = ExpertnessCell(n_features, n_raters, ndim)
        self.coarse_head = pointwise(n_features, n_classes, ndim)
        self.reconstruct = pointwise(n_features + n_classes, n_raters * n_classes, ndim)
        self.refine = nn.Sequential(
            convolution(ndim)(n_features, n_features, 3, padding=1), nn.LeakyReLU(0.01)
        )
        self.truth_head = pointwise(n_features, n_classes, ndim)

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Likelihood of the reconstructed raters; both segmentations against the weighted mean."""
        expertness = self._expertness(features, labelled)
        coarse, log_drawn, log_truth = self._parts(features, expertness)
        present = list(labelled.raters)
        nll = drawn_nll(log_drawn[:, present], labelled.labels, labelled.class_weight)
        wanted, weight = weighted_mean(labelled.labels, expertness[:, present], self.n_classes)
        truth = _cross_entropy(coarse, wanted, weight) + _cross_entropy(log_truth, wanted, weight)
        return RaterLoss(nll, nll.new_zeros(()), truth)

    def outputs(self, image: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Predict with all raters taken for equally expert."""
        return self.calibrated(image, image.new_ones(self.n_raters), raters)

    def calibrated(self, image: Tensor, confidence: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Predict by a given expertness (R,), of any sum."""
        expertness = (confidence / confidence.sum().clamp(min=1e-6)).expand(len(image), -1)
        _, log_drawn, log_truth = self._parts(self.features(image), expertness)
        return Outputs(log_truth.exp(), log_drawn[:, list(raters)].exp() if raters else None)

    def _parts(self, features: Tensor, expertness: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return log probabilities: coarse (B, L), of raters (B, R, L) and refined (B, L)."""
        aware = self.cell(features, expertness)
        coarse = functional.log_softmax(self.coarse_head(aware), dim=1)
        seen = torch.cat([features, coarse.exp()], dim=1)
        maps = self.reconstruct(seen)
        sizes = (len(maps), self.n_raters, self.n_classes, *maps.shape[2:])
        log_drawn = functional.log_softmax(maps.reshape(sizes), dim=2)
        # Where the raters disagree, the features count more.
        disputed = log_drawn.detach().exp().std(1, correction=0).sum(1, keepdim=True)
        refined = self.refine(aware * (1 + disputed)) + aware
        return coarse, log_drawn, functional.log_softmax(self.truth_head(refined), dim=1)

    def _expertness(self, features: Tensor, labelled: Labelled) -> Tensor:
        """Draw the expertness (B, R) of a step: one rater alone, all alike, or anything between.

        Raters who labelled nothing of the group weigh nothing. Held-out cases take all alike.
        """
        n_cases, n_present = len(features), len(labelled.raters)
        weight = features.new_ones(n_cases, n_present)
        if self.training:
            alone = functional.one_hot(
                torch.randint(n_present, (n_cases,), device=features.device), n_present
            )
            kinds = torch.stack([alone.to(weight), weight, torch.rand_like(weight) + 1e-3])
            weight = kinds[torch.randint(3, (n_cases,)), torch.arange(n_cases)]
        full = features.new_zeros(n_cases, self.n_raters)
        full[:, list(labelled.raters)] = weight / weight.sum(1, keepdim=True)
        return full


def weighted_mean(labels: Tensor, weight: Tensor, n_classes: int) -> tuple[Tensor, Tensor]:
    """Return the mean of labels by weights, (B, L, *space), and the weight behind it, (B, *space).

    Args:
        labels: (B, R, *space), -1 where missing.
        weight: (B, R).
        n_classes: L.
    """
    weight = weight.reshape(*weight.shape, *(1 for _ in labels.shape[2:])) * (labels != MISSING)
    total = weight.sum(1)
    votes = (one_hot(labels, n_classes) * weight[:, :, None]).sum(1)
    return votes / total[:, None].clamp(min=1e-6), total


def _cross_entropy(log_probability: Tensor, wanted: Tensor, weight: Tensor) -> Tensor:
    """Mean over pixels that any rater of weight labelled, in nats."""
    is_known = (weight > 0).float()
    each = -(wanted * log_probability).sum(1)
    return (each * is_known).sum() / is_known.sum().clamp(min=1)
