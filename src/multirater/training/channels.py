"""All that a network says of images, as channels: so windows and copies average all of it alike."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from multirater.nn.rater_network import RaterNetwork
from multirater.training.case_prediction import Prediction


class Images(nn.Module):
    """What a network says of images as channels, so that windows average them alike."""

    def __init__(self, network: RaterNetwork, raters: tuple[int, ...] = ()) -> None:
        super().__init__()
        self.network = network
        self.raters = raters


class Channels(Images):
    """All outputs of a network."""

    def __init__(
        self, network: RaterNetwork, raters: tuple[int, ...], confidence: Tensor | None
    ) -> None:
        super().__init__(network, raters)
        self.confidence = confidence

    def forward(self, image: Tensor) -> Tensor:
        """Return the channels of images (B, channels, *space)."""
        if self.confidence is None:
            found = self.network.outputs(image, self.raters)
        else:
            found = self.network.calibrated(image, self.confidence, self.raters)
        parts = [found.truth]
        if found.drawn is not None:
            parts.append(found.drawn.flatten(1, 2))
        if found.cm is not None:
            parts.append(found.cm.flatten(1, 3))
        return torch.cat(parts, dim=1)


class Mirrored(Images):
    """The mean over an image and its mirrored copies."""

    def __init__(self, inner: Images, axes: Sequence[int]) -> None:
        super().__init__(inner.network, inner.raters)
        self.inner = inner
        self.turns = [
            turn for n in range(len(axes) + 1) for turn in itertools.combinations(axes, n)
        ]

    def forward(self, image: Tensor) -> Tensor:
        """Return the channels of images (B, channels, *space)."""
        total: Tensor = self.inner(image)
        for turn in self.turns[1:]:
            total = total + self.inner(image.flip(turn)).flip(turn)
        return total / len(self.turns)


class Steps(Images):
    """The truth after each recurrence."""

    def forward(self, image: Tensor) -> Tensor:
        """Return the classes of each recurrence, (B, n_steps * n_classes, *space)."""
        return torch.cat([found.truth for found in self.network.steps(image)], dim=1)


def n_values(n_classes: int, n_raters: int) -> int:
    """How many numbers are said of a pixel."""
    return n_classes * (1 + n_raters * (1 + n_classes))


def unpack(output: NDArray[np.float32], n_classes: int, n_raters: int) -> Prediction:
    """Undo `Channels` for one image; averages over windows are normalised again."""
    space = output.shape[1:]
    truth = output[:n_classes] / output[:n_classes].sum(0)
    rest = output[n_classes:]
    drawn = cm = None
    if len(rest):
        ends = n_raters * n_classes
        drawn = rest[:ends].reshape(n_raters, n_classes, *space)
        drawn = drawn / drawn.sum(1, keepdims=True)
    if len(rest) > n_raters * n_classes:
        cm = rest[ends:].reshape(n_raters, n_classes, n_classes, *space)
        cm = cm / cm.sum(2, keepdims=True)
    return Prediction(truth, drawn, cm)
