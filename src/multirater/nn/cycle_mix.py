"""CycleMix (Zhang & Zhuang 2022): scribbles, images mixed with each other, and consistency.

A box of one image is put into another, with what is drawn there. The network learns from the
drawings of both forms, and is to say of the mixed image what it says of the parts. The paper
chooses what is mixed by saliency (PuzzleMix) before it occludes; here boxes are drawn at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor
from torch.nn import functional

from multirater.nn.coarse import CoarseNetwork
from multirater.nn.rater_network import Labelled, Outputs, RaterLoss

_CONSISTENCY = 0.05
"""Weight of the consistency between mixed and unmixed, as in the paper's code."""

_LEAST, _MOST = 0.25, 0.75
"""Side of a box, as a share of the image's."""


class CycleMixNetwork(CoarseNetwork):
    """Backbone and truth head, trained on drawings of images and of mixtures of them."""

    def features(self, image: Tensor) -> Tensor:
        """Return the image: mixtures of it go through the backbone, too."""
        return image

    def loss(self, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return the likelihood of drawings; beside it, in training, that of mixed ones."""
        own = self.backbone(features)
        plain = super().loss(own, labelled)
        if not self.training or len(features) < 2:
            return plain
        box = random_box(features.shape[2:], features.device)
        mixed = self.backbone(mix(features, box))
        drawn = replace(labelled, labels=mix(labelled.labels, box))
        said = mix(self.log_truth(own).exp(), box)
        unlike = 1 - functional.cosine_similarity(
            self.log_truth(mixed).exp().flatten(1), said.flatten(1)
        )
        return replace(plain, truth=super().loss(mixed, drawn).nll + _CONSISTENCY * unlike.mean())

    def outputs(self, image: Tensor, raters: Sequence[int] = ()) -> Outputs:
        """Predict the truth; nothing is known of raters."""
        return Outputs(self.log_truth(self.backbone(image)).exp())


def mix(maps: Tensor, box: Tensor) -> Tensor:
    """Put what the next case has in a box into each case, the first into the last.

    Example:
        >>> mix(torch.tensor([[0, 0], [1, 1]]), torch.tensor([True, False])).tolist()
        [[1, 0], [0, 1]]
    """
    return torch.where(box, maps.roll(-1, 0), maps)


def random_box(space: Sequence[int], device: torch.device) -> Tensor:
    """Return where a random box lies, (*space)."""
    box = torch.ones(tuple(space), dtype=torch.bool, device=device)
    for axis, size in enumerate(space):
        share = float(torch.rand(())) * (_MOST - _LEAST) + _LEAST
        side = max(1, round(share * size))
        first = int(torch.randint(size - side + 1, ()))
        at = torch.arange(size, device=device).reshape(-1, *([1] * (len(space) - axis - 1)))
        box &= (at >= first) & (at < first + side)
    return box
