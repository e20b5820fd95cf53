"""LC-MIL (Wang 2021): bags of drawn pixels, of which only some need to be what was drawn.

A bag is some pixels of one image that were drawn as the same class. Attention weighs their
features, and the mean is to be told for the class of the drawing: pixels that were drawn wrongly
lose their weight instead of being learned. A pixel alone is a bag of its own, which is how the
truth is predicted.

Where it differs: instances are the pixels of a feature map, on the backbone of all methods (the
paper: patches of a slide, through a pretrained VGG), and there may be more than two classes.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from multirater.nn.rater_network import Labelled, RaterLoss
from multirater.nn.raters import pointwise
from multirater.nn.seed_network import SeedNetwork

_BAGS = 16
"""Bags of each image and class in a step: as many of every class."""

_LARGEST = 20
"""Pixels of a bag at most; half as many on the average, by a binomial draw."""

_HIDDEN = 64
_HARD, _FOCUS, _FOCUS_OF_HARD = 0.2, 3.0, 5.0
"""Focus of the loss, and the one of bags whose class has less probability than the first."""


class LabelCleaningNetwork(SeedNetwork):
    """Backbone, truth head, and attention to the pixels of a bag."""

    def __init__(self, backbone: nn.Module, **sizes: Any) -> None:
        super().__init__(backbone, **sizes)
        n_features, ndim = sizes["n_features"], sizes["ndim"]
        self.attention = nn.Sequential(
            pointwise(n_features, _HIDDEN, ndim), nn.Tanh(), pointwise(_HIDDEN, 1, ndim)
        )

    def loss_of_seeds(self, image: Tensor, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return the focal loss of bags, the mean over the classes that are drawn."""
        scores, attention = self.truth_head(features), self.attention(features)
        seeds = labelled.labels[:, 0].flatten(1)
        weight = labelled.class_weight
        parts = []
        for k in range(self.n_classes):
            cases = (seeds == k).any(1).nonzero()[:, 0]
            if len(cases) == 0:
                continue
            bags = draw_bags(seeds[cases] == k)
            # The head is linear: the score of a mean is the mean of the scores.
            logits = pooled(scores[cases], attention[cases], *bags)
            of_class = torch.log_softmax(logits, 2)[:, :, k]
            parts.append(focal(of_class).mean() * (1.0 if weight is None else weight[k]))
        if not parts:
            nothing = features.sum() * 0.0
            return RaterLoss(nothing, nothing.detach())
        nll = torch.stack(parts).mean()
        return RaterLoss(nll, nll.new_zeros(()))


def draw_bags(is_drawn: Tensor) -> tuple[Tensor, Tensor]:
    """Draw the pixels of bags, with replacement.

    Args:
        is_drawn: as the class, (G, n_pixels), some in every case.

    Returns:
        places of pixels and whether they are in the bag, both (G, bags, largest): some always are.
    """
    n_cases = len(is_drawn)
    places = torch.multinomial(is_drawn.float(), _BAGS * _LARGEST, replacement=True)
    is_in = torch.rand(n_cases, _BAGS, _LARGEST, device=is_drawn.device) < 0.5
    is_in[:, :, 0] = True
    return places.reshape(n_cases, _BAGS, _LARGEST), is_in


def pooled(scores: Tensor, attention: Tensor, places: Tensor, is_in: Tensor) -> Tensor:
    """Return the scores of bags, the mean over their pixels by attention, (G, bags, L).

    Args:
        scores: of classes, (G, L, *space).
        attention: before the softmax, (G, 1, *space).
        places: of the pixels, (G, bags, largest).
        is_in: whether a pixel is in the bag, (G, bags, largest).

    Example:
        >>> scores, place = torch.tensor([[[0.0, 8.0]]]), torch.tensor([[[0, 1]]])
        >>> pooled(scores, torch.zeros(1, 1, 2), place, torch.ones(1, 1, 2).bool()).tolist()
        [[[4.0]]]
    """
    picked = _at(attention[:, 0].flatten(1), places).masked_fill(~is_in, -torch.inf)
    share = picked.softmax(2)
    each = [(_at(part, places) * share).sum(2) for part in scores.flatten(2).unbind(1)]
    return torch.stack(each, 2)


def _at(values: Tensor, places: Tensor) -> Tensor:
    return values.gather(1, places.flatten(1)).reshape(places.shape)


def focal(log_probability: Tensor) -> Tensor:
    """Return the loss of bags, which looks at those that are not told yet (Lin 2017)."""
    probability = log_probability.exp()
    focus = torch.where(probability.detach() < _HARD, _FOCUS_OF_HARD, _FOCUS)
    return -((1 - probability) ** focus) * log_probability
