"""The training step, for Lightning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import lightning
import numpy as np
import torch
from torch import Tensor

from multirater.nn.rater_network import (
    Labelled,
    RaterLoss,
    RaterNetwork,
    batch_loss,
    batch_parts,
)
from multirater.training.batches import Batch
from multirater.training.config import TrainConfig


class RaterModule(lightning.LightningModule):
    """Optimises a network on the raters' labels.

    Args:
        network: the network.
        config: of the run.
        warmup_epochs: that take the labels for the truth.
        schedule: epochs of each rise and fall of the learning rate; one over the run when empty.
        class_weight: (L,), how much a label of each class counts.
    """

    class_weight: Tensor | None

    def __init__(
        self,
        network: RaterNetwork,
        config: TrainConfig,
        *,
        warmup_epochs: int = 0,
        schedule: tuple[int, ...] = (),
        class_weight: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.network = network
        self.config = config
        self.warmup_epochs = warmup_epochs
        self.schedule = schedule or (config.epochs,)
        self.register_buffer("class_weight", class_weight, persistent=False)
        self._sums: dict[str, Tensor | float] = {}
        self._seen = 0

    @property
    def is_warming_up(self) -> bool:
        """Whether labels are still taken for the truth: matrices are fixed, raters not weighed."""
        return self.current_epoch < self.warmup_epochs

    @property
    def maximises_trace(self) -> bool:
        """Whether the trace is maximised now: matrices learn to be the identity (Zhang 2020)."""
        return self.is_warming_up and self.config.warmup == "trace"

    def on_train_batch_start(self, _: Batch, number: int) -> None:
        """Draw the step's random numbers from its own seed, as a resumed run will.

        Not the epoch's: between its start and its first step, readers of data draw too.
        """
        place = (self.config.seed, self.current_epoch, number, self.global_rank)
        seed = hash(place) % 2**31
        torch.default_generator.manual_seed(seed)
        # `torch.manual_seed` queues the seed of every step for a GPU that is never used.
        if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            torch.cuda.manual_seed_all(seed)

    def training_step(self, batch: Batch, _: int) -> Tensor:
        """Likelihood of the labels and of the truth, and the weighted trace.

        While matrices do not learn, their trace is a number without a gradient.
        """
        losses = self._losses(batch)
        self._note({"train_nll": losses.nll, "train_trace": losses.trace}, len(batch.image))
        truth = losses.truth + self.config.overlap_weight * losses.overlap
        sign = -1 if self.maximises_trace else 1
        return losses.nll + truth + sign * self.config.trace_weight * losses.trace

    def validation_step(self, batch: Batch, _: int) -> None:
        """Held-out likelihood of the raters' labels: what chooses the epoch, without truth."""
        self._log("val_nll", self._losses(batch).nll, batch)

    def _note(self, values: Mapping[str, Tensor], size: int) -> None:
        """Add up over the epoch by hand, and log with its last batch.

        Small networks would spend a third of a step in Lightning's bookkeeping.
        """
        self._seen += size
        for name, value in values.items():
            self._sums[name] = self._sums.get(name, 0.0) + value.detach() * size
        if self.trainer.is_last_batch:
            for name, total in self._sums.items():
                mean = torch.as_tensor(total) / self._seen
                self.log(
                    name, mean, on_step=False, on_epoch=True, sync_dist=True, batch_size=self._seen
                )
            self._sums, self._seen = {}, 0

    def _log(self, name: str, value: Tensor, batch: Batch) -> None:
        """Keep the mean over the epoch and all processes."""
        size = len(batch.image)
        self.log(name, value, on_step=False, on_epoch=True, sync_dist=True, batch_size=size)

    def _losses(self, batch: Batch) -> RaterLoss:
        """Mean over all labels of the batch, whoever gave them."""
        return batch_loss(self.network, batch.image, self._groups(batch))

    def labelled_parts(self, features: Tensor, batch: Batch) -> Iterator[tuple[Tensor, Labelled]]:
        """Yield each group of a batch with the features of its cases."""
        return batch_parts(features, self._groups(batch))

    def _groups(self, batch: Batch) -> list[Labelled]:
        groups, first = [], 0
        for group in batch.groups:
            after = first + len(group.labels)
            groups.append(
                Labelled(
                    group.labels,
                    group.raters,
                    batch.truth[first:after],
                    self.class_weight,
                    with_confusion=not self.is_warming_up or self.maximises_trace,
                    likelihood=self.config.likelihood,
                    with_overlap=self.training and self.config.overlap_weight > 0,
                    hint=None if batch.hint is None else batch.hint[first:after],
                )
            )
            first = after
        return groups

    def configure_optimizers(self) -> Any:
        """Adam, whose rate rises and falls as scheduled; the matrices have a rate of their own."""
        of_raters = self.network.confusion_parameters()
        known = {id(parameter) for parameter in of_raters}
        groups: list[dict[str, Any]] = [
            {
                "params": [p for p in self.network.parameters() if id(p) not in known],
                "lr": self.config.learning_rate,
            }
        ]
        if of_raters:
            groups.append({"params": of_raters, "lr": self.config.confusion_learning_rate})
        optimizer = torch.optim.Adam(groups)
        if self.config.rate == "constant":
            return optimizer
        per_epoch = int(self.trainer.estimated_stepping_batches) // sum(self.schedule)
        lengths = [epochs * per_epoch for epochs in self.schedule]
        cycles = [_one_cycle(optimizer, length) for length in lengths]
        schedule: Any = cycles[0]
        if len(cycles) > 1:
            starts = np.cumsum(lengths)[:-1].tolist()
            schedule = torch.optim.lr_scheduler.SequentialLR(optimizer, cycles, starts)
        return [optimizer], [{"scheduler": schedule, "interval": "step"}]


def _one_cycle(optimizer: torch.optim.Optimizer, steps: int) -> Any:
    return torch.optim.lr_scheduler.OneCycleLR(
        optimizer,
        max_lr=[group.get("max_lr", group["lr"]) for group in optimizer.param_groups],
        total_steps=steps,
        # Torch divides by zero when the rise is exactly one step, as a fifth of five is.
        pct_start=0.2 if steps != 5 else 0.25,
    )
