"""Multiple hypotheses (Rupprecht 2017, LUW): several answers, of which one has to fit each label.

Every label is taken for one draw of what might be drawn. Only the hypothesis nearest to it learns
from it, so that hypotheses spread over the answers that occur; a small share goes to all others,
lest one that never wins stays useless.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from multirater.nn.losses import label_weights
from multirater.nn.rater_network import BackboneNetwork, Labelled, Outputs, RaterLoss
from multirater.nn.raters import pointwise

RELAXED = 0.05
"""Share of a label's loss that the hypotheses other than the nearest learn from."""


class MultiHypothesisNetwork(BackboneNetwork):
    """A backbone and several heads.

    Args:
        backbone: maps images (B, channels, *space) to features (B, n_features, *space).
        n_features: channels of the feature map.
        n_raters: as many heads.
        n_classes: classes, background included.
        ndim: 2 or 3.
    """

    def __init__(
        self, backbone: nn.Module, *, n_features: int, n_raters: int, n_classes: int, ndim: int
    ) -> None:
        super().__init__(backbone)
        self.n_hypotheses, self.n_classes = n_raters, n_classes
        self.heads = pointwise(n_features, n_raters * n_classes, ndim)

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return the loss of each label under the hypothesis nearest to it, in nats per label."""
        weight = label_weights(labelled.labels, labelled.class_weight, torch.float32)
        errors = self._errors(self._log_hypotheses(features), labelled.labels, weight)
        nearest = errors.detach().argmin(2, keepdim=True)
        share = torch.full_like(errors, RELAXED / max(self.n_hypotheses - 1, 1))
        share = share.scatter(2, nearest, 1 - RELAXED if self.n_hypotheses > 1 else 1.0)
        nll = (errors * share).sum() / weight.sum().clamp(min=1e-12)
        return RaterLoss(nll, nll.new_zeros(()))

    def outputs(self, image: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Return the mean of the hypotheses; as raters, the hypotheses, one after the other.

        A hypothesis is no rater in particular: together they stand for what raters may draw.
        """
        found = self._log_hypotheses(self.features(image)).exp()
        chosen = [number % self.n_hypotheses for number in range(len(raters))]
        return Outputs(found.mean(1), found[:, chosen] if raters else None)

    def _log_hypotheses(self, features: Tensor) -> Tensor:
        """Return log probabilities (B, H, L, *space)."""
        maps = self.heads(features)
        sizes = (len(maps), self.n_hypotheses, self.n_classes, *maps.shape[2:])
        return functional.log_softmax(maps.reshape(sizes).float(), dim=2)

    def _errors(self, log_hypotheses: Tensor, labels: Tensor, weight: Tensor) -> Tensor:
        """Return the loss of each label under each hypothesis, summed over pixels, (B, R, H)."""
        each = []
        for number in range(self.n_hypotheses):
            picked = log_hypotheses[:, number].gather(1, labels.clamp(min=0))
            each.append(-(picked * weight).flatten(2).sum(2))
        return torch.stack(each, dim=2)
