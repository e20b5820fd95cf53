"""BoxSup (Dai 2015): boxes, candidate masks within them, and a network that chooses as it learns.

Each case has several candidates as labels of "raters" of its own. In every step the network learns
the candidate that costs least: by how far it is from what the network says, and by how little of
the box it fills. In training one of the best two is taken at random (the paper: of the best five
of hundreds).
"""

from __future__ import annotations

import torch
from torch import Tensor

from multirater.nn.losses import plain_nll
from multirater.nn.rater_network import ConfusionNetwork, Labelled, RaterLoss
from multirater.types import MISSING

_OF_NETWORK = 3.0
"""Weight of the network's loss beside that of the overlap, as in the paper."""

_BEST = 2


class BoxSupNetwork(ConfusionNetwork):
    """Backbone and truth head, trained on the candidate that costs least."""

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return the likelihood of a candidate per case."""
        log_truth, labels = self.log_truth(features), labelled.labels
        chosen = choose(costs(log_truth.detach(), labels), at_random=self.training)
        taken = labels[torch.arange(len(labels), device=labels.device), chosen][:, None]
        nll = plain_nll(log_truth, taken, labelled.class_weight)
        return RaterLoss(nll, nll.new_zeros(()))


def costs(log_truth: Tensor, labels: Tensor) -> Tensor:
    """Return what each candidate costs, (B, K); those that say nothing cost infinitely much.

    Args:
        log_truth: by the network, (B, L, *space).
        labels: candidates (B, K, *space), -1 where one says nothing. Together they fill the box.
    """
    space = tuple(range(2, labels.ndim))
    known = labels != MISSING
    picked = log_truth.gather(1, labels.clamp(min=0)) * known
    unlike = -picked.sum(space) / known.sum(space).clamp(min=1)
    is_object = labels > 0
    box = is_object.any(1, keepdim=True)
    outside = 1 - (is_object & box).sum(space) / box.sum(space).clamp(min=1)
    cost = outside + _OF_NETWORK * unlike
    return cost.masked_fill(~known.flatten(2).any(2), torch.inf)


def choose(cost: Tensor, *, at_random: bool) -> Tensor:
    """Return the place of the candidate that is learned, (B,).

    Example:
        >>> choose(torch.tensor([[0.3, 0.1, 0.2]]), at_random=False).tolist()
        [1]
    """
    if not at_random or cost.shape[1] == 1:
        return cost.argmin(1)
    best = cost.topk(min(_BEST, cost.shape[1]), dim=1, largest=False)
    # Candidates that say nothing are hardly ever taken, unless all do.
    weight = torch.isfinite(best.values).float().clamp(min=1e-9)
    return best.indices.gather(1, torch.multinomial(weight, 1))[:, 0]
