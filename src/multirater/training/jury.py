"""The method `auto` for drawings: whom to follow, found without truth and without a knob.

The recipe, all of it:

Where nearly all cases have two labels or more, labels settle the cases, fixed filters can say how
before anything is learned, and steps 2 and 3 begin at once: the truth is learned from the first
step. In a planned run, which learns by Dice, too, it leads from there on, as in a network on fused
labels: one rise and fall of the learning rate over 4/3 of the epochs asked for, heads with an
eighth of the say, three raters at a time. By likelihood alone heads have half the say for the first
two thirds: there what raters have in common teaches features more than it costs.

1. One network learns to predict *every rater*, each by a head of their own on shared features
   (`multirater.nn.jury`), for two thirds of the epochs asked for. From then on every image has the
   drawing of every rater, given or predicted. The epoch that foresees held-out labels best is kept.
2. Then, and once more halfway, raters are weighed (`multirater.training.weighing`), by
   a. *evidence of the image*: with U = 1 - H(label | image) / H(label), the share of what there is
      to know about a rater's labels that follows from the image, a weight of
      (U / (1 - U) / H(label)^0.6) to the third power. Random errors lower it; a rater who draws
      nothing, or another image's object, has none. Without H raters who draw much and smoothly
      would be preferred to exact ones. 1 - U below a tenth counts as a tenth. Two witnesses tell U
      (`multirater.training.witness`): the network, on held-out cases, and boosted trees on fixed
      filters of the image, cross-validated over all cases. Whoever foresees labels better is
      believed; the network only if clearly better, where few of its cases are held out.
   b. *agreement*, three times over, where raters disagree (by their labels where cases have
      several, else as predicted): multiplied by a / (1 - a), where a is the mean of the rater's
      recall, rescaled so that chance is 0, against the verdict of the *others*, and of the weight
      of those others who say the same. Three rounds and no more: until convergence such weights
      can run off to one party.
   c. *doubt*: a weight is the mean over what U may be, given its spread over cases, and raters
      are moved towards their mean as far as they differ by no more than that. Raters who cannot be
      told apart share alike, whoever happens to be ahead, and labels of all of them stand.
3. For two thirds of the epochs more, with a learning rate that rises and falls anew, the truth
   head learns the verdict on all images while the heads go on learning, with half the say.
   a. Where a case has two labels or more, these settle it, by votes, votes of which half go by
      weight, or STAPLE on the disputed pixels of all cases (`multirater.training.ballots`): by
      votes, unless the outcome of another follows from the image better by more than a standard
      error over cases, with and without the discount of a.
   b. Elsewhere the jury does: the class with the most weight. A label of the best rater weighs as
      much as all heads together; another rater's as far as it stands
      (`multirater.training.standing`): by the evidence of the image, times the odds of Dice with
      the verdict of the heads, over all pixels and not only those in dispute; in full from half of
      the best rater's on. A label stands in for the head as far as the rater's labels are reliable
      (U, relative to the best rater's); heads of raters who did not label the image speak as far as
      they are known to foresee them (U).
4. The epoch is chosen by the likelihood of held-out labels under the heads, among those of step 3.
   Of epochs within two per cent of the best the last is kept: it has weighed the raters best.
   What is kept, and held against those labels, is the average of the weights over the last
   twentieth of the steps (`multirater.training.averaging`).

So a run makes a third more passes over the cases than it was asked for. Why it holds where other
ways fail, with figures: docs/decisions/0004-whom-to-follow.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import lightning
import numpy as np
import torch
from lightning.pytorch.callbacks import Callback
from torch import Tensor

from multirater.nn.jury import FEWEST_LABELS, JuryNetwork
from multirater.training.ballots import NEARLY_ALL
from multirater.training.batches import collate
from multirater.training.config import TrainConfig
from multirater.training.data import RaterData, SampleDataset
from multirater.training.filters import responses
from multirater.training.module import RaterModule
from multirater.training.pixels import Pixels
from multirater.training.weighing import Foreseen, foreseen_by_filters, weigh
from multirater.types import MISSING, Dataset

AS_GOOD = 0.02
"""Share by which held-out likelihoods of epochs may differ and tell nothing."""

_WEIGHINGS = 2
_CASES, _CASES_PER_RATER = 100, 8

N_LOOKS = round(1.1 * _WEIGHINGS * _CASES)
"""Samples that are looked at one by one, with those of held-out cases."""

_PIXELS_PER_CASE = 4096
_NUMBERS = 2_000_000
"""Most predicted probabilities kept at a time, over raters, pixels and classes."""


def warmup_epochs(config: TrainConfig, dataset: Dataset) -> int:
    """Return for how long raters are learned before any is weighed: step 1."""
    return 0 if labels_settle(dataset) else _two_thirds(config)


def schedule(config: TrainConfig, dataset: Dataset) -> tuple[int, ...]:
    """Return the epochs of each rise and fall of the learning rate: one where the truth leads."""
    each = _two_thirds(config)
    return (2 * each,) if config.overlap_weight and labels_settle(dataset) else (each, each)


def _two_thirds(config: TrainConfig) -> int:
    return max(1, round(config.epochs * 2 / 3))


def labels_settle(dataset: Dataset) -> bool:
    """Whether nearly all cases that have labels have labels enough to settle them."""
    n_labels = np.array([len(case.labels) for case in dataset if case.labels])
    return bool(n_labels.size) and bool((n_labels >= FEWEST_LABELS).mean() >= NEARLY_ALL)


class WeighRaters(Callback):
    """Keeps the best epoch of step 1, and weighs raters after it, some times over.

    Every process does so for itself, from the same cases: they arrive at the same weights. A run
    that is resumed does it again, from the same network.
    """

    def __init__(self) -> None:
        self.lowest = float("inf")
        self.best: dict[str, Tensor] = {}
        self.by_filters: Foreseen | None = None

    def on_train_epoch_end(
        self, trainer: lightning.Trainer, module: lightning.LightningModule
    ) -> None:
        """Remember the network of step 1 that foresees held-out labels best so far."""
        assert isinstance(module, RaterModule)
        found = trainer.callback_metrics.get("val_nll")
        if not isinstance(module.network, JuryNetwork) or not module.is_warming_up:
            return
        if found is not None and float(found) <= self.lowest:
            self.lowest = float(found)
            state = module.network.state_dict()
            self.best = {key: value.detach().cpu().clone() for key, value in state.items()}

    def on_train_epoch_start(
        self, trainer: lightning.Trainer, module: lightning.LightningModule
    ) -> None:
        """Look at some cases."""
        assert isinstance(module, RaterModule)
        network = module.network
        if not isinstance(network, JuryNetwork) or not _is_time(module):
            return
        if self.best:
            network.load_state_dict(self.best)
            self.best = {}
        data = trainer.datamodule  # type: ignore[attr-defined]
        assert isinstance(data, RaterData)
        was_training = network.training
        network.eval()
        look = PixelReader(network, data.config.seed, module.current_epoch, module.device)
        held_out = None if data.held_out is None else look(data.held_out)
        training = look(data.training)
        if self.by_filters is None:
            self.by_filters = foreseen_by_filters(training.with_cases_of(held_out))
        found = weigh(training, held_out, self.by_filters)
        network.train(was_training)
        take = partial(torch.as_tensor, dtype=torch.float32, device=module.device)
        ballots = found.ballots
        network.take_weights(
            take(found.weight),
            take(found.predictable),
            take(found.standing),
            take(found.confusion),
            take(found.locality),
            take(found.disputed),
            None if ballots is None else (take(ballots.counts), take(ballots.prior)),
        )

    def state_dict(self) -> dict[str, Any]:
        """Return what a resumed run needs."""
        said = self.by_filters
        known = () if said is None else (torch.as_tensor(said.share), torch.as_tensor(said.error))
        return {"lowest": self.lowest, "best": self.best, "by_filters": known}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on."""
        self.lowest, self.best = state_dict["lowest"], state_dict["best"]
        known = [each.numpy() for each in state_dict["by_filters"]]
        self.by_filters = Foreseen(*known) if known else None


def _is_time(module: RaterModule) -> bool:
    """Whether raters are weighed before this epoch: first after step 1, and `_WEIGHINGS` times."""
    epoch, lasts = module.current_epoch - module.warmup_epochs, sum(module.schedule)
    return epoch >= 0 and epoch % max(1, -(-(lasts - module.warmup_epochs) // _WEIGHINGS)) == 0


class PixelReader:
    """Predicts all raters at random pixels of some samples.

    Args:
        network: the network.
        seed: of the run; with the epoch it chooses samples and pixels.
        epoch: of the run.
        device: of the network.
    """

    def __init__(self, network: JuryNetwork, seed: int, epoch: int, device: torch.device) -> None:
        self.network = network
        self.random = np.random.default_rng([seed, epoch, 2])
        self.epoch = epoch
        self.device = device

    @torch.no_grad()
    def __call__(self, samples: SampleDataset) -> Pixels:
        """Look at samples, some of every rater."""
        n_raters, n_classes = self.network.offset.shape
        chosen = _chosen_samples(samples, self.random)
        most = max(_NUMBERS // (n_raters * n_classes * len(chosen)), 16)
        most = min(most, _PIXELS_PER_CASE)
        return Pixels.joined([self._pixels_of(samples, index, most) for index in chosen])

    def _pixels_of(self, samples: SampleDataset, index: int, most: int) -> Pixels:
        sample, network = samples[self.epoch, index], self.network
        features = network.features(collate([sample]).image.to(self.device)).flatten(2)
        place = self.random.permutation(features.shape[2])[:most]
        n_raters = len(network.offset)
        features = features[:, :, torch.from_numpy(place).to(self.device)]
        image = _as_image(features, network)
        drawn, truth = network.log_drawn(image, range(n_raters)), network.log_truth(image).exp()
        labels = np.full((n_raters, len(place)), MISSING, dtype=np.int64)
        labels[list(sample.raters)] = sample.labels.reshape(len(sample.raters), -1)[:, place]
        return Pixels(
            drawn.exp().flatten(3)[0].transpose(1, 2).double().cpu().numpy(),
            labels,
            np.full(len(place), samples.groups[samples.parts[index][0]]),
            features[0].T.float().cpu().numpy(),
            truth.flatten(2)[0].T.double().cpu().numpy(),
            responses(sample.image).reshape(-1, sample.image[0].size)[:, place].T,
        )


def _as_image(features: Tensor, network: JuryNetwork) -> Tensor:
    """Shape (1, n_features, n_pixels) as an image that the heads' convolutions take."""
    ndim = network.truth_head.weight.ndim - 2
    return features.reshape(*features.shape, *(1 for _ in range(ndim - 1)))


def _chosen_samples(samples: SampleDataset, random: np.random.Generator) -> Sequence[int]:
    """Choose samples: some of every rater, and a hundred in all."""
    order = random.permutation(len(samples)).tolist()
    kept = dict.fromkeys(_some_of_each_rater(samples, order))
    for index in order:
        if len(kept) >= _CASES:
            break
        kept[index] = None
    return list(kept)


def _some_of_each_rater(samples: SampleDataset, order: Sequence[int]) -> Iterator[int]:
    met: dict[str, int] = {}
    for index in order:
        raters = samples.cases[samples.parts[index][0]].labels
        if any(met.get(rater, 0) < _CASES_PER_RATER for rater in raters):
            met |= {rater: met.get(rater, 0) + 1 for rater in raters}
            yield index
