"""The method `auto`: whom to follow, found without truth and without a knob.

The recipe, all of it:

1. For the first half of the epochs one network learns to predict *every rater*, each by a head of
   their own on shared features (`multirater.nn.jury`). From then on every image has the drawing of
   every rater, given or predicted.
2. At the start of each later epoch raters are weighed, on pixels of some training cases:
   a. *Predictability* U = 1 - H(label | image) / H(label): which share of what there is to know
      about a rater's labels follows from the image. Random errors lower it; a rater who draws
      nothing, or another image's object, has none. It is measured where the predicted raters
      disagree, since everyone is predictable elsewhere, and at a fourth as many other pixels: a
      rater who draws more than all others is constant where raters disagree, but not uninformed.
      (U / (1 - U))² are the first weights, with U at most 0.9: above that, differences are the
      network's and not the raters'.
   b. *Agreement*, three times over, where the predicted raters disagree: take the class with the
      most weight for the truth, and multiply each rater's first weight by a / (1 - a), where a is
      the mean recall over the classes, rescaled so that chance is 0. Recall and not accuracy:
      drawing nothing is right at most pixels and must not count.
   Three rounds and no more: until convergence such weights can run off to one party of raters.
3. For the rest of the epochs the truth head learns, on all images, the class with the most weight.
   A rater's own label stands in for the head as far as their labels are reliable (U of all
   pixels, relative to the best rater's); the heads go on learning, with half the say.
4. The epoch is chosen by the likelihood of held-out labels under the heads, among those of step 3.

Why it holds where other ways fail, with figures: docs/decisions/0004-whom-to-follow.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import lightning
import numpy as np
import torch
from lightning.pytorch.callbacks import Callback
from numpy.typing import NDArray
from torch import Tensor

from multirater.nn.jury import JurySegmenter
from multirater.training.batches import collate
from multirater.training.config import TrainConfig
from multirater.training.data import RaterData
from multirater.training.module import SegmentationModule
from multirater.types import MISSING

_ROUNDS = 3
_MOST = 0.98
"""Largest agreement: nobody gets all the weight by coinciding with what their weight decided."""

_MOST_PREDICTABLE = 0.9
_LEAST_START = 0.01
"""What a rater weighs of whom the image tells nothing: agreement may still speak for them."""

_CASES, _CASES_PER_RATER = 100, 8
_PIXELS_PER_CASE = 4096
_NUMBERS = 20_000_000
"""Most predicted probabilities kept at a time, over raters, pixels and classes."""

_LEAST = 1e-3
"""Smallest probability of a head: a single surprise must not decide a rater's predictability."""

Array = NDArray[np.float64]


def warmup_epochs(config: TrainConfig) -> int:
    """Return for how long raters are learned before any is weighed: half of the epochs."""
    return max(1, round(config.epochs / 2))


@dataclass(frozen=True, eq=False)
class Weighed:
    """What was found about raters.

    Attributes:
        weight: (n_raters,), sums to one.
        reliability: (n_raters,), 0 to 1, how far a rater's label is preferred to their head.
        confusion: (n_raters, true, observed), of their labels, against the weighted truth.
    """

    weight: Array
    reliability: Array
    confusion: Array


@dataclass(frozen=True, eq=False)
class Pixels:
    """Some pixels, with what raters would draw and did draw there.

    Attributes:
        predicted: probabilities (n_raters, n_pixels, n_classes).
        labels: (n_raters, n_pixels), -1 where missing.
    """

    predicted: Array
    labels: NDArray[np.int64]


def weigh(pixels: Pixels) -> Weighed:
    """Weigh raters: step 2 of the recipe.

    Example:
        >>> drawn = np.eye(2)[[[0, 1, 0, 1], [0, 1, 0, 1], [0, 0, 0, 0]]]
        >>> labels = drawn.argmax(2)
        >>> weigh(Pixels(0.98 * drawn + 0.01, labels)).weight.round(2)
        array([0.5, 0.5, 0. ])
    """
    drawn = pixels.predicted.argmax(2)
    disputed = (drawn != drawn[0]).any(0)
    start = _start(pixels, disputed)
    weight = _shares(start)
    for _ in range(_ROUNDS if disputed.any() else 0):
        truth = _verdict(weight, pixels.predicted[:, disputed])
        agreement = _agreement(drawn[:, disputed], truth, pixels.predicted.shape[2])
        weight = _shares(start * agreement / (1 - agreement), weight)
    truth = _verdict(weight, pixels.predicted)
    predictable = predictability(pixels)
    best = max(float(predictable.max()), 1e-6)
    return Weighed(
        weight, predictable / best, _confusion(truth, pixels.labels, pixels.predicted.shape[2])
    )


def _start(pixels: Pixels, disputed: NDArray[np.bool_]) -> Array:
    """Weigh by predictability, at disputed pixels and a fourth as many others."""
    others = np.flatnonzero(~disputed)
    # Pixels come in random order: any of them will do.
    chosen = np.concatenate([np.flatnonzero(disputed), others[: disputed.sum() // 4]])
    chosen = chosen if disputed.any() else others
    found = predictability(Pixels(pixels.predicted[:, chosen], pixels.labels[:, chosen]))
    return np.asarray((found / (1 - found)) ** 2 + _LEAST_START)


def predictability(pixels: Pixels) -> Array:
    """Share of the information in each rater's labels that follows from the image, (n_raters,).

    0 for a rater without labels, and for labels that are all of one class.
    """
    n_raters, _, n_classes = pixels.predicted.shape
    found = np.zeros(n_raters)
    for rater, (probability, labels) in enumerate(
        zip(pixels.predicted, pixels.labels, strict=True)
    ):
        given = labels != MISSING
        if not given.any():
            continue
        picked = np.take_along_axis(probability[given], labels[given, None], axis=1)
        share = (np.bincount(labels[given], minlength=n_classes) + 1) / (given.sum() + n_classes)
        entropy = -(share * np.log(share)).sum()
        surprise = -np.log(np.maximum(picked, _LEAST)).mean()
        found[rater] = np.clip(1 - surprise / max(entropy, 1e-3), 0, _MOST_PREDICTABLE)
    return found


def _verdict(weight: Array, predicted: Array) -> NDArray[np.int64]:
    return np.asarray(np.einsum("r,rpl->pl", weight, predicted).argmax(1))


def _agreement(drawn: NDArray[np.int64], truth: NDArray[np.int64], n_classes: int) -> Array:
    """Mean recall of each rater over the classes, 0 at chance and at most `_MOST`."""
    cm = _counts(truth, drawn, n_classes) + 1.0
    recall = np.diagonal(cm / cm.sum(2, keepdims=True), axis1=1, axis2=2).mean(1)
    return np.asarray(np.clip((recall - 1 / n_classes) / (1 - 1 / n_classes), 0, _MOST))


def _confusion(truth: NDArray[np.int64], labels: NDArray[np.int64], n_classes: int) -> Array:
    """Confusion matrices of the labels given; the identity where nothing is known."""
    counts = _counts(truth, labels, n_classes) + np.eye(n_classes)
    return np.asarray(counts / counts.sum(2, keepdims=True))


def _counts(truth: NDArray[np.int64], drawn: NDArray[np.int64], n_classes: int) -> Array:
    """Count pixels (n_raters, true, observed); missing labels do not count."""
    counted = np.zeros((len(drawn), n_classes * n_classes))
    for rater, labels in enumerate(drawn):
        given = labels != MISSING
        cells = truth[given] * n_classes + labels[given]
        counted[rater] = np.bincount(cells, minlength=n_classes * n_classes)
    return counted.reshape(len(drawn), n_classes, n_classes)


def _shares(weight: Array, otherwise: Array | None = None) -> Array:
    total = weight.sum()
    if total > 0:
        return np.asarray(weight / total)
    return np.full(len(weight), 1 / len(weight)) if otherwise is None else otherwise


class WeighRaters(Callback):
    """Weighs raters at the start of every epoch after the warm-up.

    Every process does so for itself, from the same cases: they arrive at the same weights. A run
    that is resumed does it again, from the same network.
    """

    def on_train_epoch_start(
        self, trainer: lightning.Trainer, module: lightning.LightningModule
    ) -> None:
        """Look at some training cases."""
        assert isinstance(module, SegmentationModule)
        segmenter = module.segmenter
        if module.is_warming_up or not isinstance(segmenter, JurySegmenter):
            return
        data = trainer.datamodule  # type: ignore[attr-defined]
        assert isinstance(data, RaterData)
        was_training = segmenter.training
        segmenter.eval()
        pixels = some_pixels(segmenter, data, module.current_epoch, module.device)
        segmenter.train(was_training)
        found = weigh(pixels)
        segmenter.take_weights(
            *(
                torch.as_tensor(each, dtype=torch.float32, device=module.device)
                for each in (found.weight, found.reliability, found.confusion)
            )
        )


@torch.no_grad()
def some_pixels(
    segmenter: JurySegmenter, data: RaterData, epoch: int, device: torch.device
) -> Pixels:
    """Predict all raters at random pixels of some training cases.

    Args:
        segmenter: the network.
        data: its training cases; some of every rater are looked at.
        epoch: chooses cases and pixels, with the seed of the run.
        device: of the network.
    """
    random = np.random.default_rng([data.config.seed, epoch, 2])
    n_raters, n_classes = segmenter.offset.shape
    chosen = _chosen_samples(data, random)
    most = max(_NUMBERS // (n_raters * n_classes * len(chosen)), 16)
    parts = [
        _pixels_of(segmenter, data, (epoch, index), min(most, _PIXELS_PER_CASE), random, device)
        for index in chosen
    ]
    return Pixels(
        np.concatenate([part.predicted for part in parts], axis=1),
        np.concatenate([part.labels for part in parts], axis=1),
    )


def _pixels_of(
    segmenter: JurySegmenter,
    data: RaterData,
    key: tuple[int, int],
    most: int,
    random: np.random.Generator,
    device: torch.device,
) -> Pixels:
    sample = data.training[key]
    features = segmenter.features(collate([sample]).image.to(device)).flatten(2)
    place = random.permutation(features.shape[2])[:most]
    n_raters = len(segmenter.offset)
    at_place = _as_image(features[:, :, torch.from_numpy(place).to(device)], segmenter)
    drawn = segmenter.log_drawn(at_place, range(n_raters)).exp().flatten(3)[0]
    labels = np.full((n_raters, len(place)), MISSING, dtype=np.int64)
    labels[list(sample.raters)] = sample.labels.reshape(len(sample.raters), -1)[:, place]
    return Pixels(drawn.transpose(1, 2).double().cpu().numpy(), labels)


def _as_image(features: Tensor, segmenter: JurySegmenter) -> Tensor:
    """Shape (1, n_features, n_pixels) as an image that the heads' convolutions take."""
    ndim = segmenter.truth_head.weight.ndim - 2
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
