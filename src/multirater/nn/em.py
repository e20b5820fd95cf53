"""Expectation maximisation with a network inside (Tanno 2019, algorithms 2 and 3).

Rounds of two steps. M: the network learns the posterior of the truth by gradient descent, and the
confusion matrices are counted in closed form. E: the posterior follows from both. In the first
round the posterior is the mean of the labels. `multirater.training.em` says when a round ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Unpack

import torch
from torch import Tensor, nn
from torch.nn import functional

from multirater.nn.confusion import Columns, columns_of_table
from multirater.nn.losses import columns_nll, mean_trace, plain_nll
from multirater.nn.posterior import expected_counts, log_posterior, soft_nll, votes
from multirater.nn.rater_network import (
    Labelled,
    MatrixNetwork,
    Outputs,
    RaterLoss,
    RaterSizes,
    through,
)

_LEAST = 1e-6
"""No entry of a matrix is smaller: one label must not rule a class out for ever."""


class EMNetwork(MatrixNetwork):
    """Backbone, truth head, and matrices that are counted.

    Args:
        backbone: maps images (B, channels, *image space) to features (B, n_features, *space).
        sizes: by name, see `RaterSizes`.
    """

    rounds: int
    """How many rounds the training of a network is dealt out to."""

    cm: Tensor
    is_counted: Tensor

    def __init__(self, backbone: nn.Module, **sizes: Unpack[RaterSizes]) -> None:
        super().__init__(backbone, **sizes)
        always_right = torch.eye(self.n_classes).repeat(self.n_raters, 1, 1)
        self.register_buffer("cm", always_right.clamp(min=_LEAST))
        self.register_buffer("is_counted", torch.tensor(False))

    def own(self, features: Tensor) -> Tensor:
        """Return the part of the features that the truth head sees."""
        return features

    def log_prior(self, features: Tensor) -> Tensor:
        """Return what the E-step knows of the truth before it looks at labels, (B, L, *space)."""
        raise NotImplementedError

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return the loss of the M-step; the likelihood only chooses the epoch."""
        log_truth, labels = self.log_truth(self.own(features)), labelled.labels
        if not bool(self.is_counted):
            always_right = log_truth.new_tensor(float(log_truth.shape[1]))
            return RaterLoss(plain_nll(log_truth, labels, labelled.class_weight), always_right)
        columns = self._columns(labelled)
        posterior = self.posterior(features, labelled)
        nll = columns_nll(log_truth.detach(), columns, labels, "joint", labelled.class_weight)
        truth = soft_nll(log_truth, posterior, labels, labelled.class_weight)
        return RaterLoss(nll, mean_trace(columns.trace, labels), truth)

    @torch.no_grad()
    def posterior(self, features: Tensor, labelled: Labelled) -> Tensor:
        """Return the probability of the truth that is learned now, (B, L, *space)."""
        if not bool(self.is_counted):
            return votes(labelled.labels, self.cm.shape[1])
        return log_posterior(self.log_prior(features), self._columns(labelled)).exp()

    @torch.no_grad()
    def counts(self, features: Tensor, labelled: Labelled) -> Tensor:
        """Count labels (n_raters, true, observed), for the M-step of the matrices."""
        posterior = self.posterior(features, labelled)
        return expected_counts(posterior, labelled.labels, labelled.raters, len(self.cm))

    @torch.no_grad()
    def take_counts(self, counts: Tensor) -> None:
        """End a round: matrices by all counts, and with them the next posterior."""
        # A class that is never true keeps the row of the identity.
        filled = counts + _LEAST * torch.eye(counts.shape[1], device=counts.device)
        self.cm.copy_((filled / filled.sum(-1, keepdim=True)).clamp(min=_LEAST))
        self.is_counted.fill_(True)

    def outputs(self, image: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Predict the truth, and raters through their matrices."""
        return through(self.cm, self.log_truth(self.backbone(image)).exp(), raters)

    @property
    def matrices(self) -> Tensor:
        """Those of the latest round."""
        return self.cm

    def _columns(self, labelled: Labelled) -> Columns:
        return columns_of_table(self.cm.log(), labelled.labels, labelled.raters)


class GeneralizedEM(EMNetwork):
    """Generalized EM (Raykar 2010; algorithm 2): the E-step knows what the network said.

    q(t) is proportional to p(t | x) times the product of cm[r, t, label], with the network as it
    was when the round began: a copy of it is kept. With one label per image the first counts say
    that every rater is always right, and nothing ever contradicts them.
    """

    rounds = 5

    def __init__(self, backbone: nn.Module, **sizes: Unpack[RaterSizes]) -> None:
        super().__init__(backbone, **sizes)
        self.n_features = sizes["n_features"]
        self.before = nn.ModuleList([deepcopy(self.backbone), deepcopy(self.truth_head)])
        self.before.requires_grad_(False)

    def features(self, image: Tensor) -> Tensor:
        """Return features and, side by side, what the network said when the round began."""
        features = self.backbone(image)
        log_before = features.new_zeros(len(features), self.cm.shape[1], *features.shape[2:])
        if bool(self.is_counted):
            with torch.no_grad():
                backbone, head = self.before
                log_before = functional.log_softmax(head(backbone(image)), dim=1)
        return torch.cat([features, log_before], dim=1)

    def own(self, features: Tensor) -> Tensor:
        """Return the features."""
        return features[:, : self.n_features]

    def log_prior(self, features: Tensor) -> Tensor:
        """Return what the network said when the round began."""
        return features[:, self.n_features :]

    def take_counts(self, counts: Tensor) -> None:
        """End a round, and remember the network as it is."""
        super().take_counts(counts)
        for kept, now in zip(self.before, (self.backbone, self.truth_head), strict=True):
            kept.load_state_dict(now.state_dict())

    def train(self, mode: bool = True) -> GeneralizedEM:
        """Switch between training and use; the copy is only ever used."""
        super().train(mode)
        self.before.eval()
        return self


class ModelBootstrappedEM(EMNetwork):
    """Model-bootstrapped EM (Khetan 2018; algorithm 3): the network's answers count labels.

    The matrices compare labels with what the network says of the image, so that one label per image
    is enough. The E-step does not see the image: q(t) is proportional to how often the network says
    t at all, times the product of cm[r, t, label]. Two rounds, as in the papers' experiments: the
    network that counts has to be trained well, or its own errors pass for the raters'.
    """

    rounds = 2
    prior: Tensor

    def __init__(self, backbone: nn.Module, **sizes: Unpack[RaterSizes]) -> None:
        super().__init__(backbone, **sizes)
        self.register_buffer("prior", torch.full((self.n_classes,), 1 / self.n_classes))

    def log_prior(self, features: Tensor) -> Tensor:
        """Return the share of the network's answers, the same for every image."""
        return self.prior.log().reshape(1, -1, *(1 for _ in features.shape[2:]))

    @torch.no_grad()
    def counts(self, features: Tensor, labelled: Labelled) -> Tensor:
        """Count labels beside the network's answers."""
        answer = self.log_truth(features).argmax(1)
        certain = functional.one_hot(answer, self.cm.shape[1]).movedim(-1, 1).float()
        return expected_counts(certain, labelled.labels, labelled.raters, len(self.cm))

    def take_counts(self, counts: Tensor) -> None:
        """End a round; the prior is the share of labels whose image the network gives a class."""
        super().take_counts(counts)
        by_true = counts.sum((0, 2)).clamp(min=_LEAST)
        self.prior.copy_(by_true / by_true.sum())
