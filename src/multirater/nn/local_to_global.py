"""L2G (Jiang 2022): what a network attends to in parts of an image, learned by one that sees all.

A *local* network tells by its class maps which classes are in random views of an image. Where it
looks, as far as a class is there at all, is what the *global* network learns of the same places;
that one predicts. Views show more of an object than the whole image does, of which a classifier
attends to what tells best.

Where it differs: tags of views follow from the boxes around positive drawings (a class is in a
view that meets its box), and the boxes take the place of the saliency maps of a pretrained network,
which is not to be had here: outside of all boxes is background. Neither network was trained on
tagged photographs before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from multirater.nn.rater_network import Labelled, RaterLoss
from multirater.nn.raters import pointwise
from multirater.nn.seed_network import SeedNetwork
from multirater.types import MISSING

_VIEWS = 4
_TRANSFER = 15.0
"""Weight of what the global network learns beside the tags, as in the paper."""


class LocalToGlobalNetwork(SeedNetwork):
    """A global network, which predicts, and a local one that it learns from.

    Args:
        backbone: of the global network.
        local: backbone of the local one.
        sizes: by name, see `SeedNetwork`.
    """

    def __init__(self, backbone: nn.Module, local: nn.Module, **sizes: Any) -> None:
        super().__init__(backbone, **sizes)
        self.local = local
        self.maps = pointwise(sizes["n_features"], self.n_classes - 1, sizes["ndim"])

    def loss_of_seeds(self, image: Tensor, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return what the global network is away from the local one, and the loss of tags."""
        said, boxes = self.log_truth(features).exp(), labelled.labels
        transfer, tagging = [], []
        for _ in range(_VIEWS):
            view = random_view(image.shape[2:])
            maps, inside = self.maps(self.local(image[view])), boxes[view][:, 0]
            tags = tags_of(inside, self.n_classes)
            scores = maps.flatten(2).mean(2)
            tagging.append(functional.multilabel_soft_margin_loss(scores, tags))
            target = attention(maps.detach(), tags, inside)
            unlike = (said[view] - target).square() * (inside != MISSING)[:, None]
            transfer.append(unlike.mean())
        return RaterLoss(
            _TRANSFER * torch.stack(transfer).mean(),
            said.new_zeros(()),
            truth=torch.stack(tagging).mean(),
        )


def random_view(space: Sequence[int]) -> tuple[slice, ...]:
    """Return a random part of images (B, C, *space), half as long in every direction."""
    sides = [-(-size // 2) for size in space]
    firsts = [
        int(torch.randint(size - side + 1, ())) for size, side in zip(space, sides, strict=True)
    ]
    cut = [slice(first, first + side) for first, side in zip(firsts, sides, strict=True)]
    return (slice(None), slice(None), *cut)


def tags_of(inside: Tensor, n_classes: int) -> Tensor:
    """Return which classes but the background are in views, (B, L - 1), 0 or 1.

    Example:
        >>> tags_of(torch.tensor([[[0, 2]], [[0, 0]]]), 3).tolist()
        [[0.0, 1.0], [0.0, 0.0]]
    """
    flat = inside.flatten(1)
    return torch.stack([(flat == k).any(1) for k in range(1, n_classes)], 1).float()


def attention(maps: Tensor, tags: Tensor, inside: Tensor) -> Tensor:
    """Return what the global network is to say of views, (B, L, *space), background first.

    A class has the share that its map has of its highest value; of several classes the highest
    counts alone, and what is left is background.

    Args:
        maps: of the local network, (B, L - 1, *space).
        tags: (B, L - 1), 0 or 1.
        inside: classes of boxes, (B, *space), 0 outside of all.
    """
    spread = (..., *([None] * (maps.ndim - 2)))
    positive = maps.clamp(min=0.0) * tags[spread]
    highest = positive.flatten(2).amax(2)[spread]
    share = positive / highest.clamp(min=1e-8) * (inside > 0)[:, None]
    share = share * (share == share.amax(1, keepdim=True))
    return torch.cat([1 - share.amax(1, keepdim=True), share], 1)
