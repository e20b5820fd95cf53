"""ScribbleSup (Lin 2016): scribbles are passed on to like superpixels, as the network bears out.

Of all labels of an image's superpixels those are learned that cost least together: a superpixel
that a scribble touches has its class; any other costs what the network holds against it; and
neighbours cost the more when told apart the more alike they are. Labels and network take turns.

Where it differs: superpixels are SLIC's and told by their mean colours (the paper: Felzenszwalb's,
with histograms of colour and texture). The paper takes turns three times; here, after a first part
without the network, labels are found anew in every step. In an image without any background drawn,
what no scribble touches may be background, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from multirater.nn.graph_cut import cheapest_labels
from multirater.nn.losses import plain_nll
from multirater.nn.rater_network import Labelled, RaterLoss
from multirater.nn.seed_network import SeedNetwork
from multirater.nn.superpixels import borders, channels_last, mean_colours, sums, superpixels
from multirater.types import MISSING

_ALIKE = 0.15
"""Distance of colours, of channels from 0 to 1, at which neighbours hardly count as alike."""

_CERTAIN = 1e6


class ScribbleSupNetwork(SeedNetwork):
    """Backbone and truth head, trained on what scribbles are passed on to."""

    def loss_of_seeds(self, image: Tensor, features: Tensor, labelled: Labelled) -> RaterLoss:
        """Return the likelihood of the cheapest labels; in the warm-up the network has no say."""
        log_truth = self.log_truth(features)
        said = log_truth.detach().float().cpu().numpy()
        images, seeds = image.detach().float().cpu().numpy(), labelled.labels[:, 0].cpu().numpy()
        found = [
            passed_on(images[case], seeds[case], said[case] * labelled.with_confusion)
            for case in range(len(seeds))
        ]
        labels = torch.as_tensor(np.stack(found), device=image.device)[:, None]
        nll = plain_nll(log_truth, labels, labelled.class_weight)
        return RaterLoss(nll, nll.new_zeros(()))


def passed_on(
    image: NDArray[Any], seeds: NDArray[Any], log_truth: NDArray[Any]
) -> NDArray[np.int64]:
    """Return the cheapest class of every pixel, (*space); -1 everywhere where nothing is drawn.

    Args:
        image: (channels, *space), any range.
        seeds: class indices (*space), -1 where nothing is drawn.
        log_truth: by the network, (n_classes, *space); zeros without one.

    Example:
        >>> image = np.zeros((1, 24, 24)); image[:, 8:16, 8:16] = 1.0
        >>> seeds = np.full((24, 24), -1); seeds[12, 10:14], seeds[2] = 1, 0
        >>> found = passed_on(image, seeds, np.zeros((2, 24, 24)))
        >>> bool((found == (image[0] > 0)).all())
        True
    """
    drawn = seeds != MISSING
    if not drawn.any():
        return np.full(seeds.shape, MISSING, dtype=np.int64)
    if drawn.all():
        return seeds.astype(np.int64)
    colours = channels_last(image)
    segments = superpixels(colours)
    pairs, _, apart = borders(segments, mean_colours(colours, segments))
    is_class = seeds[..., None] == np.arange(len(log_truth))
    touched = sums(is_class, segments) > 0
    is_known = touched.any(0) | (np.arange(len(log_truth)) == 0)
    open_to = np.where(touched.any(1, keepdims=True), touched, is_known)
    against = -sums(np.moveaxis(log_truth, 0, -1), segments)
    prices = np.where(open_to, against, _CERTAIN)
    labels = cheapest_labels(prices, pairs, np.exp(-((apart / _ALIKE) ** 2)))
    return np.where(drawn, seeds, labels[segments]).astype(np.int64)
