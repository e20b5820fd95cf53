"""Max-MIG (Cao 2019): image and labels tell of the truth what they have in common.

One classifier sees the image, another, the aggregator, sees the raters' labels and no image. Both
are trained to say as much as possible of each other: to agree on a case, and to disagree between
cases. Errors that raters share, but the image does not show, gain nothing. What is maximised is a
lower bound of the mutual information of image and labels, of the Kullback-Leibler kind.
"""

from __future__ import annotations

from typing import Unpack

import torch
from torch import Tensor, nn
from torch.nn import functional

from multirater.nn.confusion import columns_of_table, identity_logits
from multirater.nn.losses import columns_nll
from multirater.nn.posterior import expected_counts, log_posterior
from multirater.nn.rater_network import Labelled, MatrixNetwork, RaterLoss, RaterSizes
from multirater.types import MISSING

_STEADY = 0.99
"""How much of the prior stays with each batch."""


class MaxMigNetwork(MatrixNetwork):
    """Backbone, truth head and aggregator.

    The aggregator adds a row of numbers per rater and label, and the log prior: with the log
    confusion matrices for numbers it would be Bayes' rule.

    Args:
        backbone: maps images (B, channels, *image space) to features (B, n_features, *space).
        sizes: by name, see `RaterSizes`.
    """

    prior: Tensor
    said: Tensor

    def __init__(self, backbone: nn.Module, **sizes: Unpack[RaterSizes]) -> None:
        super().__init__(backbone, **sizes)
        n_raters, n_classes = self.n_raters, self.n_classes
        self.weight = nn.Parameter(identity_logits(n_classes, 0.9).repeat(n_raters, 1, 1))
        self.register_buffer("prior", torch.full((n_classes,), 1 / n_classes))
        self.register_buffer("said", torch.ones(n_raters, n_classes))

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return minus the mutual information gain; the likelihood only chooses the epoch."""
        log_truth, labels = self.log_truth(features), labelled.labels
        prior = self.prior.clone()
        log_prior = prior.log().reshape(1, -1, *(1 for _ in labels.shape[2:]))
        said = columns_of_table(self.weight, labels, labelled.raters)
        aggregated = log_posterior(log_prior, said).exp()
        is_labelled = (labels != MISSING).any(1)
        by_image, by_labels = (
            each.movedim(1, -1)[is_labelled] for each in (log_truth.exp(), aggregated)
        )
        gain = information_gain(by_image, by_labels, prior)
        if self.training and len(by_labels):
            self.prior.lerp_(by_labels.detach().mean(0), 1 - _STEADY)
            counts = expected_counts(aggregated.detach(), labels, labelled.raters, len(self.said))
            self.said.add_(counts.sum(1))
        columns = columns_of_table(self.matrices.log(), labels, labelled.raters)
        nll = columns_nll(log_truth.detach(), columns, labels, "joint", labelled.class_weight)
        return RaterLoss(nll, nll.new_zeros(()), -gain)

    def confusion_parameters(self) -> list[nn.Parameter]:
        """Return the aggregator's numbers."""
        return [self.weight]

    @property
    def matrices(self) -> Tensor:
        """What the aggregator takes raters for: cm[t, o] = p(o) p(t | o), per row.

        Its numbers alone do not say: any constant may be added to those of one label.
        """
        log_true = functional.log_softmax(self.weight.detach() + self.prior.log()[:, None], dim=1)
        return functional.softmax(log_true + self.said.log()[:, None], dim=2)


def information_gain(by_image: Tensor, by_labels: Tensor, prior: Tensor) -> Tensor:
    """Return the gain of n items, E[1 + log R(i, i)] - E[R(i, j)] over i other than j.

    R(i, j) = Σ_c by_image(i, c) by_labels(j, c) / prior(c). The mean over pairs is a product of
    means: no pair is looked at.

    Args:
        by_image: (n, L), what the images say.
        by_labels: (n, L), what the labels say.
        prior: (L,).
    """
    n = len(by_image)
    same = (by_image * by_labels / prior).sum(1)
    every = (by_image.sum(0) * by_labels.sum(0) / prior).sum()
    different = (every - same.sum()) / max(n * (n - 1), 1)
    return same.clamp(min=1e-12).log().sum() / max(n, 1) + 1 - different
