"""CoarseSup (Saha 2022): the style of coarse labels is learned together with the truth.

Three networks, trained in turns of variational EM that every step takes both of:

- p(y | x), the truth by the image: the one that is kept;
- p(c | y), the style: what is drawn, or left undrawn, of a pixel by its class and those around it;
- q(y | c, x), the truth as far as the drawing and the image tell.

E: q is to explain the drawing through the style and to be near p. M: p learns q, and the style
learns how drawings follow from it. The likelihood of a drawing is the mean over q of a pixel's
class (the paper puts the mean of classes into the style; what is undrawn is then best explained by
a truth that is undecided).

Where it differs: the paper has masks of a few images, by which p and the style are learned first.
Drawings are often all there is: then p takes them as they are for the first quarter of the epochs,
and a style that says the truth to begin with may only learn beside that. Masks count where there
are any. q looks at the features of the backbone (the paper: a pretrained ResNet of its own).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from multirater.nn.losses import plain_nll
from multirater.nn.rater_network import Labelled, RaterLoss
from multirater.nn.raters import pointwise
from multirater.nn.seed_network import SeedNetwork
from multirater.types import MISSING

_HIDDEN = 16
_SAYS_TRUTH = 4.0
"""Log odds by which a style draws a class rather than another where it is the truth."""

_REACH = 5
"""Pixels across which the truth decides what is drawn."""


class CoarseSupNetwork(SeedNetwork):
    """Backbone and truth head, posterior and style."""

    def __init__(self, backbone: nn.Module, **sizes: Any) -> None:
        super().__init__(backbone, **sizes)
        n_classes, ndim = self.n_classes, sizes["ndim"]
        convolution = nn.Conv2d if ndim == 2 else nn.Conv3d
        self.posterior = nn.Sequential(
            convolution(sizes["n_features"] + n_classes + 1, _HIDDEN, 3, padding=1),
            nn.ReLU(),
            pointwise(_HIDDEN, n_classes, ndim),
        )
        self.around = convolution(n_classes, n_classes + 1, _REACH, padding=_REACH // 2, bias=False)
        nn.init.zeros_(self.around.weight)
        says = _SAYS_TRUTH * (torch.eye(n_classes) - 0.5)
        self.own = nn.Parameter(functional.pad(says, [1, 0]))

    def loss_of_seeds(self, image: Tensor, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return the loss of p by q and, beside it, that of q and the style."""
        log_p, seeds = self.log_truth(features), labelled.labels[:, 0]
        own = plain_nll(log_p, labelled.labels, labelled.class_weight)
        if not labelled.with_confusion:
            return RaterLoss(own, own.new_zeros(()))
        log_q = self.log_posterior(features.detach(), seeds)
        q = log_q.exp()
        drawn = -(q * self.log_drawn(q.detach(), seeds)).sum(1).mean()
        near = (q * (log_q - log_p.detach())).sum(1).mean()
        learned = -(q.detach() * log_p).sum(1).mean()
        return RaterLoss(learned, learned.new_zeros(()), truth=drawn + near)

    def log_posterior(self, features: Tensor, seeds: Tensor) -> Tensor:
        """Return log q(y | c, x), (G, L, *space).

        Args:
            features: of the images, (G, n_features, *space).
            seeds: (G, *space), -1 where nothing is drawn.
        """
        known = torch.arange(MISSING, self.n_classes, device=seeds.device)
        drawn = seeds[:, None] == known.reshape(-1, *([1] * (seeds.ndim - 1)))
        together = torch.cat([features, drawn.to(features.dtype)], 1)
        return functional.log_softmax(self.posterior(together), 1)

    def log_drawn(self, truth: Tensor, seeds: Tensor) -> Tensor:
        """Return the log probability of what is drawn, by the class of the pixel, (G, L, *space).

        Args:
            truth: probability (G, L, *space), of the pixels around.
            seeds: what is drawn, (G, *space), -1 for nothing.
        """
        around, outcome = self.around(truth), seeds[:, None].long() + 1
        rows = self.own[(..., *([None] * (truth.ndim - 2)))]
        each = [functional.log_softmax(around + row, 1).gather(1, outcome) for row in rows]
        return torch.cat(each, 1)
