"""Methods that adapt to images without labels: which images those are, and how steps meet them.

The published methods have two domains, as two cameras. A study has labelled cases to train on: the
*source*. The *target* is every image that the network is not taught on: cases without labels, and
those of other splits, such as `test`, of which nothing but the image is read. So a network adapts
to the very images that it will be asked about, as pOSAL and BEAL do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import lightning
import numpy as np
import torch
from lightning.pytorch.callbacks import Callback

from multirater.errors import Fault, InputError
from multirater.nn.adapting_options import AdaptingOptions, Target
from multirater.nn.adversary import AdaptingNetwork
from multirater.progress import say
from multirater.training.batches import Batch
from multirater.training.config import TrainConfig
from multirater.training.data import RaterData, SampleDataset, grid_of, named_splits
from multirater.training.module import RaterModule
from multirater.training.networks import adapting_options
from multirater.training.samples import SampleCache
from multirater.training.targets import on_fused
from multirater.types import Case, Dataset
from multirater.words import counted

_FIRST = 0.05
"""Share of the epochs before any image of the target is met, as in BEAL."""


def on_vote_with_target(dataset: Dataset, *, target: Target, adversarial_weight: float) -> Dataset:
    """Train on the majority vote of the raters, and make sure of images to adapt to."""
    voted = on_fused(dataset, "majority-vote")
    if adversarial_weight and not target_cases(voted, target):
        raise InputError(
            Fault(
                "no image to adapt to",
                expected="images of cases without labels"
                + (", or of a split that is not trained on" if target == "unseen" else ""),
                fix="add such images, or leave them out with --set adversarial_weight=0",
            )
        )
    return voted


def target_cases(dataset: Dataset, target: Target) -> list[Case]:
    """Return the cases whose images are adapted to, without anything but the image.

    Args:
        dataset: as prepared by the method.
        target: `unseen` or `unlabelled`.
    """
    taught = {case.name for part in named_splits(dataset) for case in part}
    return [
        replace(case, labels={}, truth=None, gold=None, drawings=())
        for case in dataset
        if case.image is not None
        and case.name not in taught
        and (target == "unseen" or not case.labels)
    ]


class MeetTarget(Callback):
    """Puts as many images of the target before the network as a step has of the source.

    They are cut and changed as those that are trained on; which ones follows from seed, epoch and
    step alone, so that a resumed run meets the same.
    """

    def __init__(self) -> None:
        self.samples: SampleDataset | None = None

    def on_fit_start(self, trainer: lightning.Trainer, module: lightning.LightningModule) -> None:
        """Open the images."""
        config, chosen = _settings(module)
        data = trainer.datamodule  # type: ignore[attr-defined]
        assert isinstance(data, RaterData)
        cases = target_cases(data.dataset, chosen.target)
        if not chosen.adversarial_weight or not cases:
            return
        decoded = SampleCache(
            cases, data.dataset.raters, with_truth=False, of_classes=False, grid=grid_of(config)
        )
        # Every image once, or any slice of it, cut to the size of those that are trained on.
        config = replace(
            config,
            patch=data.training.size,
            steps_per_epoch=len(cases),
            batch_size=1,
            rare_share=0.0,
        )
        self.samples = SampleDataset(cases, decoded, config, training=True)
        say(
            f"adapts to {counted(len(cases), 'image')} without labels, or whose labels are not read"
        )

    def on_train_batch_start(
        self,
        trainer: lightning.Trainer,
        module: lightning.LightningModule,
        batch: Batch,
        batch_idx: int,
    ) -> None:
        """Put images before the network."""
        if self.samples is None or trainer.current_epoch < _FIRST * (trainer.max_epochs or 0):
            return
        config, _ = _settings(module)
        place = [config.seed, trainer.current_epoch, batch_idx, trainer.global_rank]
        random = np.random.default_rng([*place, 2])
        chosen = random.integers(len(self.samples), size=len(batch.image))
        images = [self.samples[trainer.current_epoch, int(each)].image for each in chosen]
        _network(module).target = torch.from_numpy(np.stack(images)).to(batch.image)

    def on_train_batch_end(
        self, _: lightning.Trainer, module: lightning.LightningModule, *__: Any
    ) -> None:
        """Take them away."""
        _network(module).target = None


def _settings(module: lightning.LightningModule) -> tuple[TrainConfig, AdaptingOptions]:
    assert isinstance(module, RaterModule)
    return module.config, adapting_options(module.config)


def _network(module: lightning.LightningModule) -> AdaptingNetwork:
    assert isinstance(module, RaterModule)
    assert isinstance(module.network, AdaptingNetwork)
    return module.network
