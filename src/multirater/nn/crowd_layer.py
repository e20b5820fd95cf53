"""Crowd layer (Rodrigues & Pereira 2018): a matrix per rater behind the truth's probabilities.

In the form MW: rater r says softmax(p W_r), where p are the network's class probabilities and W_r
is any matrix, the identity to start with. W_r is not a confusion matrix: its rows are not
normalised, and may be negative. What a rater says of a class that is certain, softmax(W_r[t]), is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

import torch
from torch import Tensor, nn
from torch.nn import functional

from multirater.nn.losses import drawn_nll
from multirater.nn.rater_network import Labelled, MatrixNetwork, Outputs, RaterLoss, RaterSizes
from multirater.nn.raters import Raters, for_raters


class CrowdLayerNetwork(MatrixNetwork):
    """Backbone, truth head and crowd layer.

    Args:
        backbone: maps images (B, channels, *image space) to features (B, n_features, *space).
        sizes: by name, see `RaterSizes`.
    """

    def __init__(self, backbone: nn.Module, **sizes: Unpack[RaterSizes]) -> None:
        super().__init__(backbone, **sizes)
        self.weight = nn.Parameter(torch.eye(self.n_classes).repeat(self.n_raters, 1, 1))

    def log_said(self, truth: Tensor, raters: Raters) -> Tensor:
        """Return log probabilities of what raters say, (B, R, L, *space)."""
        weight = for_raters(self.weight, raters, truth.ndim - 2)
        return functional.log_softmax(torch.einsum("bt...,brto...->bro...", truth, weight), dim=2)

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return the cross-entropy of what raters said with what they would say."""
        log_said = self.log_said(self.log_truth(features).exp(), labelled.raters)
        nll = drawn_nll(log_said, labelled.labels, labelled.class_weight)
        return RaterLoss(nll, nll.new_zeros(()))

    def outputs(self, image: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Predict the truth, and raters through the layer."""
        found = super().outputs(image, raters)
        said = self.log_said(found.truth, raters).exp() if raters else None
        return replace(found, drawn=said)

    def confusion_parameters(self) -> list[nn.Parameter]:
        """Return the layer's matrices."""
        return [self.weight]

    @property
    def matrices(self) -> Tensor:
        """What raters say of a class that is certain."""
        return functional.softmax(self.weight.detach(), dim=-1)
