"""Weighted Doctor Net (Guan 2018): one head per rater, and learned weights to average them.

Heads on shared features learn what each rater says. The answer is their weighted mean. Weights
learn to foretell a rater's label from the heads of all *others*: a head always agrees with its own
rater. (Guan leaves out every rater of the image; where all raters label all images, nobody would be
left.) The weights have no say in the features.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from multirater.nn.losses import drawn_nll
from multirater.nn.rater_network import BackboneNetwork, Labelled, Outputs, RaterLoss
from multirater.nn.raters import Raters, for_raters

_LEAST = 1e-6


class WeightedDoctorNet(BackboneNetwork):
    """Backbone, one head per rater, and how much each counts.

    Args:
        backbone: maps images (B, channels, *image space) to features (B, n_features, *space).
        n_features: channels of the features.
        n_raters: raters of the data set.
        n_classes: classes, background included.
        ndim: axes of the labels' space: any, the heads do not depend on it.
    """

    def __init__(
        self, backbone: nn.Module, *, n_features: int, n_raters: int, n_classes: int, ndim: int
    ) -> None:
        super().__init__(backbone)
        self.weight = nn.Parameter(torch.randn(n_raters, n_classes, n_features) * 0.01)
        self.bias = nn.Parameter(torch.zeros(n_raters, n_classes))
        self.averaging = nn.Parameter(torch.zeros(n_raters))

    def log_said(self, features: Tensor, raters: Raters) -> Tensor:
        """Return log probabilities of what raters say, (B, R, L, *space)."""
        weight = for_raters(self.weight, raters, 0)
        bias = for_raters(self.bias, raters, features.ndim - 2)
        logits = torch.einsum("brlf,bf...->brl...", weight, features) + bias
        return functional.log_softmax(logits, dim=2)

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return the loss of the heads, and that of the weights."""
        log_said = self.log_said(features, labelled.raters)
        nll = drawn_nll(log_said, labelled.labels, labelled.class_weight)
        others = self._mean_of_others(features.detach(), log_said.detach(), labelled.raters)
        truth = drawn_nll(others.clamp(min=_LEAST).log(), labelled.labels, labelled.class_weight)
        return RaterLoss(nll, nll.new_zeros(()), truth)

    def outputs(self, image: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Predict the truth, the weighted mean of the heads, and raters by their heads."""
        features = self.features(image)
        said = self.log_said(features, raters).exp() if raters else None
        return Outputs(self._mean_of_all(features), said)

    def confusion_parameters(self) -> list[nn.Parameter]:
        """Return the weights."""
        return [self.averaging]

    @property
    def knows_raters(self) -> bool:
        """Not by confusion matrices."""
        return False

    @property
    def followed(self) -> tuple[float, ...]:
        """The weights."""
        return tuple(functional.softmax(self.averaging.detach(), dim=0).tolist())

    def _mean_of_all(self, features: Tensor) -> Tensor:
        """Return the weighted mean of all heads, (B, L, *space)."""
        said = self.log_said(features, range(len(self.averaging))).exp()
        return torch.einsum("r,brl...->bl...", functional.softmax(self.averaging, dim=0), said)

    def _mean_of_others(self, features: Tensor, log_said: Tensor, raters: Raters) -> Tensor:
        """Return the weighted mean of all heads but one's own, (B, R, L, *space)."""
        every = range(len(self.averaging))
        said = self.log_said(features, every).exp().detach()
        weight = functional.softmax(self.averaging, dim=0)
        own = for_raters(weight[:, None], raters, features.ndim - 2)
        whole = torch.einsum("r,brl...->bl...", weight, said)[:, None]
        return (whole - own * log_said.exp()) / (1 - own).clamp(min=_LEAST)
