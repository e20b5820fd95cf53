"""When the rounds of EM methods end, and the counting that ends them.

The epochs are dealt out to a few rounds: the gradient steps of a round must suffice to learn its
posterior (Tanno 2019, Fig. 5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import lightning
import torch
from lightning.pytorch.callbacks import Callback
from torch.utils.data import DataLoader

from multirater.errors import Fault, InputError
from multirater.nn.em import EMNetwork
from multirater.training.batches import BatchOrder, collate
from multirater.training.config import TrainConfig
from multirater.training.data import RaterData
from multirater.training.module import RaterModule
from multirater.training.options import checked_options


def ends_round(epoch: int, epochs: int, rounds: int) -> bool:
    """Whether one of the rounds ends with an epoch, counted from 0.

    Example:
        >>> [epoch for epoch in range(15) if ends_round(epoch, 15, 5)]
        [2, 5, 8, 11, 14]
    """
    return (epoch + 1) * rounds // epochs > epoch * rounds // epochs


@dataclass(frozen=True)
class EMOptions:
    """Options of the methods `gem` and `mbem`.

    Attributes:
        rounds: of EM that the epochs are dealt out to (T of Tanno 2019, Fig. 5; G, the gradient
            steps of a round, follows from it and the epochs); 0 for the method's own, 5 of `gem`
            and 2 of `mbem`.
    """

    rounds: int = 0

    def __post_init__(self) -> None:
        if self.rounds < 0:
            raise InputError(Fault(f"option rounds = {self.rounds}", expected="0 or more"))


def rounds_of(network: type[EMNetwork], config: TrainConfig) -> int:
    """Return how many rounds a run has: not more than epochs."""
    chosen = checked_options(EMOptions, config.options, config.method).rounds
    return min(chosen or network.rounds, config.epochs)


def first_count(network: type[EMNetwork], config: TrainConfig) -> int:
    """Return the epoch, from 0, that ends with the first count: before it nobody is ever wrong."""
    epochs, rounds = config.epochs, rounds_of(network, config)
    return next(epoch for epoch in range(epochs) if ends_round(epoch, epochs, rounds))


class EndRounds(Callback):
    """Counts the labels of all training cases at the end of each round.

    Every process does so for itself, from the same cases: they arrive at the same matrices.
    """

    def on_train_batch_end(
        self,
        trainer: lightning.Trainer,
        module: lightning.LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
    ) -> None:
        """Look whether the epoch's last step is done: held-out cases are looked at after it."""
        assert isinstance(module, RaterModule)
        network, epoch = module.network, module.current_epoch
        is_last = batch_idx + 1 == trainer.num_training_batches
        if not is_last or not isinstance(network, EMNetwork):
            return
        rounds = rounds_of(type(network), module.config)
        if not ends_round(epoch, module.config.epochs, rounds):
            return
        data = trainer.datamodule  # type: ignore[attr-defined]
        assert isinstance(data, RaterData)
        network.take_counts(count_labels(module, data))


@torch.no_grad()
def count_labels(module: RaterModule, data: RaterData) -> torch.Tensor:
    """Count the labels of all training cases as the network sees them, (n_raters, L, L).

    Args:
        module: of an EM network.
        data: with the training cases.
    """
    network = module.network
    assert isinstance(network, EMNetwork)
    samples = data.training
    order = BatchOrder(len(samples), module.config.batch_size, seed=0, shuffle=False)
    order.set_epoch(module.current_epoch)
    counts = torch.zeros_like(network.cm)
    was_training = network.training
    network.eval()
    loader = DataLoader(samples, batch_sampler=order, collate_fn=collate)
    for batch in loader:
        moved = batch.to(module.device)
        features = network.features(moved.image)
        for part, labelled in module.labelled_parts(features, moved):
            counts += network.counts(part, labelled)
    network.train(was_training)
    return counts
