"""Keep the average of the last weights of a network instead of the last ones.

Labels that disagree pull the weights back and forth until the end. Their average over the last
steps is closer to what all of them have in common, at the price of a copy of the weights. The
network that learns goes on as if nothing was averaged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import lightning
import torch
from lightning.pytorch.callbacks import Callback
from torch import Tensor
from torch.optim.swa_utils import get_ema_multi_avg_fn

from multirater.training.module import RaterModule

SHARE = 0.05
"""Of a run's steps, over which weights are averaged, those further back counting ever less."""


class AverageWeights(Callback):
    """Averages weights over a share of the steps; held-out cases and checkpoints see the average.

    Steps of the warm-up, which learn something else, do not count. A run that is resumed goes on
    with both the weights that learn and their average.

    Args:
        share: of all steps of the run.
    """

    def __init__(self, share: float = SHARE) -> None:
        self.share = share
        self.n_steps = 0
        self.average: list[Tensor] = []
        self.learning: list[Tensor] = []

    def on_train_start(self, _: lightning.Trainer, module: lightning.LightningModule) -> None:
        """Bring what a resumed run has read to where the network is."""
        self.average = [each.to(module.device) for each in self.average]

    def on_train_epoch_start(self, _: lightning.Trainer, module: lightning.LightningModule) -> None:
        """Take up the weights that learn."""
        if self.learning:
            _copy(self.learning, _weights(module))
            self.learning = []

    def on_train_batch_end(
        self, trainer: lightning.Trainer, module: lightning.LightningModule, *_: Any
    ) -> None:
        """Add the weights to their average."""
        assert isinstance(module, RaterModule)
        if module.is_warming_up:
            return
        self.n_steps += 1
        weights = _weights(module)
        if not self.average:
            self.average = [each.clone() for each in weights]
        over = max(self.share * float(trainer.estimated_stepping_batches), 1.0)
        decay = 1 - 1 / min(self.n_steps, over)
        add = get_ema_multi_avg_fn(decay)  # type: ignore[no-untyped-call]
        add(self.average, weights, self.n_steps)

    def on_validation_start(self, _: lightning.Trainer, module: lightning.LightningModule) -> None:
        """Hold the average against held-out cases."""
        self._take_average(module)

    def on_train_epoch_end(self, _: lightning.Trainer, module: lightning.LightningModule) -> None:
        """Keep the average, also where no case is held out."""
        self._take_average(module)

    def _take_average(self, module: lightning.LightningModule) -> None:
        if self.average and not self.learning:
            weights = _weights(module)
            self.learning = [each.clone() for each in weights]
            _copy(self.average, weights)

    def state_dict(self) -> dict[str, Any]:
        """Return what a resumed run needs."""
        return {"n_steps": self.n_steps, "average": self.average, "learning": self.learning}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on."""
        self.n_steps = state_dict["n_steps"]
        self.average, self.learning = state_dict["average"], state_dict["learning"]


def _weights(module: lightning.LightningModule) -> list[Tensor]:
    return [each.detach() for each in module.parameters()]


@torch.no_grad()
def _copy(source: Sequence[Tensor], target: Sequence[Tensor]) -> None:
    for theirs, own in zip(source, target, strict=True):
        own.copy_(theirs)
