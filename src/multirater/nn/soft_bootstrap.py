"""Soft bootstrapping (Reed 2014): a network that half believes its own answers.

The target is the label with weight β and the network's own prediction with weight 1 - β: labels
that contradict what the network has learned from all others pull less.
"""

from __future__ import annotations

from torch import Tensor

from multirater.nn.losses import plain_nll
from multirater.nn.posterior import soft_nll
from multirater.nn.rater_network import Labelled, RaterLoss, TruthNetwork

BETA = 0.95
"""How much the label counts (Reed 2014)."""


class BootstrapNetwork(TruthNetwork):
    """Backbone and truth head, trained on labels mixed with its own predictions."""

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return -Σ (β y + (1 - β) p) log p, in two parts."""
        log_truth = self.log_truth(features)
        nll = plain_nll(log_truth, labelled.labels, labelled.class_weight)
        entropy = soft_nll(log_truth, log_truth.exp(), labelled.labels, labelled.class_weight)
        return RaterLoss(nll, nll.new_zeros(()), (1 - BETA) * (entropy - nll))
