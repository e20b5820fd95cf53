"""AggNet (Albarqouni 2016): labels are aggregated inside the network, batch by batch.

An aggregation layer takes what the network says now and what raters said, and combines both by the
raters' confusion matrices into one soft label, which the network learns. The matrices are the
expected counts of the labels seen, the older ones fading.
"""

from __future__ import annotations

from typing import Unpack

import torch
from torch import Tensor, nn

from multirater.nn.confusion import Columns, columns_of_table
from multirater.nn.losses import columns_nll, mean_trace
from multirater.nn.posterior import expected_counts, log_posterior, soft_nll, votes
from multirater.nn.rater_network import Labelled, MatrixNetwork, RaterLoss, RaterSizes

_FADING = 0.01
"""How much of what is known of a rater is forgotten with each batch that has labels of theirs."""

_START = 10.0
"""Labels that a rater is taken to have given before the first, nine in ten of them right."""


class AggregationNetwork(MatrixNetwork):
    """Backbone, truth head and aggregation layer.

    Args:
        backbone: maps images (B, channels, *image space) to features (B, n_features, *space).
        sizes: by name, see `RaterSizes`.
    """

    counts: Tensor

    def __init__(self, backbone: nn.Module, **sizes: Unpack[RaterSizes]) -> None:
        super().__init__(backbone, **sizes)
        n_classes = self.n_classes
        start = torch.full((n_classes, n_classes), 0.1 / max(n_classes - 1, 1)).fill_diagonal_(0.9)
        self.register_buffer("counts", _START * start.repeat(self.n_raters, 1, 1))

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Aggregate, learn the result, and count; in the warm-up the labels' mean is learned."""
        log_truth, labels = self.log_truth(features), labelled.labels
        columns = self._columns(labelled)
        with torch.no_grad():
            target = votes(labels, log_truth.shape[1])
            if labelled.with_confusion:
                target = log_posterior(log_truth, columns).exp()
        if self.training:
            self._count(target, labelled)
        nll = columns_nll(log_truth.detach(), columns, labels, "joint", labelled.class_weight)
        truth = soft_nll(log_truth, target, labels, labelled.class_weight)
        return RaterLoss(nll, mean_trace(columns.trace, labels), truth)

    @property
    def matrices(self) -> Tensor:
        """Expected counts as shares."""
        return self.counts / self.counts.sum(-1, keepdim=True)

    def _columns(self, labelled: Labelled) -> Columns:
        return columns_of_table(self.matrices.log(), labelled.labels, labelled.raters)

    @torch.no_grad()
    def _count(self, target: Tensor, labelled: Labelled) -> None:
        seen = expected_counts(target, labelled.labels, labelled.raters, len(self.counts))
        if torch.distributed.is_initialized():
            torch.distributed.all_reduce(seen)
        is_present = seen.sum((1, 2), keepdim=True) > 0
        self.counts.copy_(self.counts * (1 - _FADING * is_present) + seen)
