"""The method `auto`: whom to follow, found without truth and without a knob.

The recipe, all of it:

1. For the first two thirds of the epochs one network learns to predict *every rater*, each by a
   head of their own on shared features (`multirater.nn.jury`). From then on every image has the
   drawing of every rater, given or predicted.
2. At the start of each later epoch raters are weighed, on pixels of some training cases
   (`multirater.training.weighing`):
   a. *Predictability* U = 1 - H(label | image) / H(label): which share of what there is to know
      about a rater's labels follows from the image. Random errors lower it; a rater who draws
      nothing, or another image's object, has none. It is measured twice: at all pixels, and where
      the predicted raters disagree, since everyone is predictable elsewhere (with a fourth as many
      other pixels: a rater who draws more than all others is constant where raters disagree, but
      not uninformed). Each alone was misled in some regime. The product of both U / (1 - U) is the
      first weight, with U at most 0.9: above that, differences are the network's and not the
      raters'.
   b. *Agreement*, three times over, where the predicted raters disagree: take the class with the
      most weight for the truth, and multiply each rater's first weight by a / (1 - a), where a is
      the mean recall over the classes, rescaled so that chance is 0. Recall and not accuracy:
      drawing nothing is right at most pixels and must not count.
   Three rounds and no more: until convergence such weights can run off to one party of raters.
3. For the rest of the epochs the truth head learns, on all images, the class with the most weight.
   A rater's own label stands in for the head as far as their labels are reliable (U of all
   pixels, relative to the best rater's); the heads go on learning, with half the say.
4. The epoch is chosen by the likelihood of held-out labels under the heads, among those of step 3.
   Of epochs within two per cent of the best the last is kept: it has weighed the raters best.

Why it holds where other ways fail, with figures: docs/decisions/0004-whom-to-follow.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import lightning
import numpy as np
import torch
from lightning.pytorch.callbacks import Callback
from torch import Tensor

from multirater.nn.jury import JuryNetwork
from multirater.training.batches import collate
from multirater.training.config import TrainConfig
from multirater.training.data import RaterData
from multirater.training.module import RaterModule
from multirater.training.weighing import Pixels, weigh
from multirater.types import MISSING

AS_GOOD = 0.02
"""Share by which held-out likelihoods of epochs may differ and tell nothing."""

_CASES, _CASES_PER_RATER = 100, 8
_PIXELS_PER_CASE = 4096
_NUMBERS = 20_000_000
"""Most predicted probabilities kept at a time, over raters, pixels and classes."""


def warmup_epochs(config: TrainConfig) -> int:
    """Return for how long raters are learned before any is weighed: two thirds of the epochs."""
    return max(1, round(config.epochs * 2 / 3))


class WeighRaters(Callback):
    """Weighs raters at the start of every epoch after the warm-up.

    Every process does so for itself, from the same cases: they arrive at the same weights. A run
    that is resumed does it again, from the same network.
    """

    def on_train_epoch_start(
        self, trainer: lightning.Trainer, module: lightning.LightningModule
    ) -> None:
        """Look at some training cases."""
        assert isinstance(module, RaterModule)
        network = module.network
        if module.is_warming_up or not isinstance(network, JuryNetwork):
            return
        data = trainer.datamodule  # type: ignore[attr-defined]
        assert isinstance(data, RaterData)
        was_training = network.training
        network.eval()
        pixels = some_pixels(network, data, module.current_epoch, module.device)
        network.train(was_training)
        found = weigh(pixels)
        network.take_weights(
            *(
                torch.as_tensor(each, dtype=torch.float32, device=module.device)
                for each in (found.weight, found.reliability, found.confusion, found.locality)
            )
        )


@torch.no_grad()
def some_pixels(network: JuryNetwork, data: RaterData, epoch: int, device: torch.device) -> Pixels:
    """Predict all raters at random pixels of some training cases.

    Args:
        network: the network.
        data: its training cases; some of every rater are looked at.
        epoch: chooses cases and pixels, with the seed of the run.
        device: of the network.
    """
    random = np.random.default_rng([data.config.seed, epoch, 2])
    n_raters, n_classes = network.offset.shape
    chosen = _chosen_samples(data, random)
    most = max(_NUMBERS // (n_raters * n_classes * len(chosen)), 16)
    parts = [
        _pixels_of(network, data, (epoch, index), min(most, _PIXELS_PER_CASE), random, device)
        for index in chosen
    ]
    return Pixels(
        np.concatenate([part.predicted for part in parts], axis=1),
        np.concatenate([part.labels for part in parts], axis=1),
    )


def _pixels_of(
    network: JuryNetwork,
    data: RaterData,
    key: tuple[int, int],
    most: int,
    random: np.random.Generator,
    device: torch.device,
) -> Pixels:
    sample = data.training[key]
    features = network.features(collate([sample]).image.to(device)).flatten(2)
    place = random.permutation(features.shape[2])[:most]
    n_raters = len(network.offset)
    at_place = _as_image(features[:, :, torch.from_numpy(place).to(device)], network)
    drawn = network.log_drawn(at_place, range(n_raters)).exp().flatten(3)[0]
    labels = np.full((n_raters, len(place)), MISSING, dtype=np.int64)
    labels[list(sample.raters)] = sample.labels.reshape(len(sample.raters), -1)[:, place]
    return Pixels(drawn.transpose(1, 2).double().cpu().numpy(), labels)


def _as_image(features: Tensor, network: JuryNetwork) -> Tensor:
    """Shape (1, n_features, n_pixels) as an image that the heads' convolutions take."""
    ndim = network.truth_head.weight.ndim - 2
    return features.reshape(*features.shape, *(1 for _ in range(ndim - 1)))


def _chosen_samples(data: RaterData, random: np.random.Generator) -> Sequence[int]:
    """Choose samples: some of every rater, and a hundred in all."""
    order = random.permutation(len(data.training)).tolist()
    kept = dict.fromkeys(_some_of_each_rater(data, order))
    for index in order:
        if len(kept) >= _CASES:
            break
        kept[index] = None
    return list(kept)


def _some_of_each_rater(data: RaterData, order: Sequence[int]) -> Iterator[int]:
    met: dict[str, int] = {}
    for index in order:
        raters = data.training_cases[data.training.parts[index][0]].labels
        if any(met.get(rater, 0) < _CASES_PER_RATER for rater in raters):
            met |= {rater: met.get(rater, 0) + 1 for rater in raters}
            yield index
