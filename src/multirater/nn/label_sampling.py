"""Label sampling (Jensen 2019, UECNN; Jungo 2018): each time a case is met, one of its raters.

Trained on labels that are drawn at random, a network comes to say how often raters would draw a
class: its probabilities are calibrated to their disagreement.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from multirater.nn.rater_network import ConfusionNetwork, Labelled, RaterLoss
from multirater.types import MISSING


class LabelSamplingNetwork(ConfusionNetwork):
    """The plain network, on one label per case and step; held-out cases count with all labels."""

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return the likelihood of a label per case, of a random rater who drew it."""
        if self.training:
            labelled = replace(labelled, labels=one_label_each(labelled.labels))
        return super().loss(features, labelled)


def one_label_each(labels: Tensor) -> Tensor:
    """Choose one rater per case at random, of those who labelled any of it.

    Args:
        labels: (B, R, *space), -1 where missing.

    Returns:
        (B, 1, *space).
    """
    has_label = (labels != MISSING).flatten(2).any(2).float()
    # A case that nobody labelled has nothing to choose from: any choice is empty.
    weight = torch.where(has_label.any(1, keepdim=True), has_label, torch.ones_like(has_label))
    chosen = torch.multinomial(weight, 1)[:, 0]
    return labels[torch.arange(len(labels), device=labels.device), chosen][:, None]
