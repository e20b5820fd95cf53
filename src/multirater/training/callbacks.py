"""What happens beside the training step: curves, progress, and a stop when the loss diverges."""

from __future__ import annotations

import csv
import math
import time
from pathlib import Path
from typing import Any

import lightning
import torch
from lightning.pytorch.callbacks import Callback, EarlyStopping, ModelCheckpoint

from multirater.errors import Fault, InputError
from multirater.io.atomic import replacing
from multirater.progress import say

_DIVERGED = 1e4
"""Nats per label that no run recovers from: guessing among L classes costs log L."""

_SECONDS_BETWEEN_LINES = 10.0

COLUMNS = ("epoch", "train_nll", "train_trace", "val_nll", "learning_rate")


class Curves(Callback):
    """Keeps one row per epoch in `curves.csv`, also over interruptions, and says how it goes.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.started = self.spoken = 0.0
        self.first_epoch = 0

    def on_train_start(self, trainer: lightning.Trainer, _: lightning.LightningModule) -> None:
        """Begin to count time."""
        self.started = self.spoken = time.monotonic()
        self.first_epoch = trainer.current_epoch

    def on_train_batch_end(
        self, trainer: lightning.Trainer, _: lightning.LightningModule, *parts: Any
    ) -> None:
        """Say how far a long epoch has come."""
        now = time.monotonic()
        if now - self.spoken < _SECONDS_BETWEEN_LINES or not trainer.is_global_zero:
            return
        self.spoken = now
        steps, step = int(trainer.num_training_batches), int(parts[-1]) + 1
        epochs = trainer.current_epoch - self.first_epoch + step / steps
        total = int(trainer.max_epochs or 0)
        left = (now - self.started) / epochs * (total - self.first_epoch - epochs)
        say(
            f"epoch {trainer.current_epoch + 1} of {total}, step {step} of {steps}, "
            f"about {left:.0f} s left"
        )

    def on_train_epoch_end(self, trainer: lightning.Trainer, _: lightning.LightningModule) -> None:
        """Write the epoch's row; rows of epochs that are done again are replaced."""
        if not trainer.is_global_zero:
            return
        epoch = trainer.current_epoch
        metrics = {key: float(value) for key, value in trainer.callback_metrics.items()}
        rate = trainer.optimizers[0].param_groups[0]["lr"]
        row = {"epoch": epoch, "learning_rate": rate, **metrics}
        kept = [each for each in read_curves(self.path) if int(each["epoch"]) < epoch]
        kept.append({name: str(row.get(name, "")) for name in COLUMNS})
        with (
            replacing(self.path, overwrite=True) as temporary,
            temporary.open("w", newline="", encoding="utf-8") as stream,
        ):
            writer = csv.DictWriter(stream, COLUMNS)
            writer.writeheader()
            writer.writerows(kept)
        self.spoken = time.monotonic()
        self._say(trainer, metrics)

    def _say(self, trainer: lightning.Trainer, metrics: dict[str, float]) -> None:
        done = trainer.current_epoch + 1 - self.first_epoch
        total = int(trainer.max_epochs or 0)
        left = (time.monotonic() - self.started) / done * (total - trainer.current_epoch - 1)
        held_out = f", held-out {metrics['val_nll']:.4f}" if "val_nll" in metrics else ""
        say(
            f"epoch {trainer.current_epoch + 1} of {total}: {metrics['train_nll']:.4f} nats per "
            f"label{held_out}, about {left:.0f} s left"
        )


def read_curves(path: Path) -> list[dict[str, str]]:
    """Read the rows of `curves.csv`; none when there is no file yet."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


class BestEpoch(ModelCheckpoint):
    """Keeps the best epoch; once the warm-up is over its epochs no longer compete.

    Args:
        folder: of the checkpoint.
        monitor: the figure, lower is better.
        begins: the first epoch after the warm-up.
        tolerance: share by which a later epoch may be above the lowest figure and still be kept;
            infinite to keep the last.
            For methods whose figure does not speak of the truth they learn beside it: of epochs
            that predict raters equally well, the later one knows better whom to follow.
    """

    def __init__(self, folder: Path, monitor: str, begins: int, tolerance: float = 0.0) -> None:
        super().__init__(
            folder,
            "best",
            monitor=monitor,
            enable_version_counter=False,
            save_on_train_epoch_end=True,
        )
        self.begins = begins
        self.tolerance = tolerance
        self.lowest = torch.tensor(torch.inf)

    def on_train_epoch_end(
        self, trainer: lightning.Trainer, module: lightning.LightningModule
    ) -> None:
        """Look at the epoch's figure."""
        if trainer.current_epoch == self.begins:
            self.best_k_models.clear()
            self.kth_best_model_path, self.kth_value = "", torch.tensor(torch.inf)
            self.lowest = torch.tensor(torch.inf)
        super().on_train_epoch_end(trainer, module)

    def check_monitor_top_k(
        self, trainer: lightning.Trainer, current: torch.Tensor | None = None
    ) -> bool:
        """Whether an epoch is kept."""
        if not self.tolerance or current is None:
            return super().check_monitor_top_k(trainer, current)
        if math.isinf(self.tolerance):
            return True
        self.lowest = torch.minimum(self.lowest, current.cpu())
        return bool(current.cpu() <= self.lowest * (1 + self.tolerance))

    def state_dict(self) -> dict[str, Any]:
        """Return what a resumed run needs to go on choosing alike."""
        return super().state_dict() | {"lowest": self.lowest}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on choosing."""
        super().load_state_dict(state_dict)
        self.lowest = state_dict["lowest"]


class StopEarly(EarlyStopping):
    """Stops when nothing is gained any more, but not during the warm-up.

    Args:
        monitor: the figure, lower is better.
        patience: epochs without a better one.
        begins: the first epoch after the warm-up.
    """

    def __init__(self, monitor: str, patience: int, begins: int) -> None:
        super().__init__(monitor, patience=patience, check_finite=True)
        self.begins = begins

    def on_validation_end(
        self, trainer: lightning.Trainer, module: lightning.LightningModule
    ) -> None:
        """Look at the epoch's figure."""
        if trainer.current_epoch >= self.begins:
            super().on_validation_end(trainer, module)

    def on_train_epoch_end(
        self, trainer: lightning.Trainer, module: lightning.LightningModule
    ) -> None:
        """Look at the epoch's figure, when no cases are held out."""
        if trainer.current_epoch >= self.begins:
            super().on_train_epoch_end(trainer, module)


class StopWhenDiverged(Callback):
    """Ends training when the loss explodes or is not a number, before a checkpoint takes harm.

    Args:
        folder: of the run, for the message.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def on_train_batch_end(
        self, trainer: lightning.Trainer, _: lightning.LightningModule, outputs: Any, *__: Any
    ) -> None:
        """Look at the loss of every step."""
        loss = outputs["loss"] if isinstance(outputs, dict) else outputs
        if loss is None or bool(loss < _DIVERGED):
            return
        raise InputError(
            Fault(
                f"the loss became {float(loss):.4g} in epoch {trainer.current_epoch + 1}",
                expected=f"nats per label, less than {_DIVERGED:g}",
                fix="lower --learning-rate, or look for extreme values in the images; the "
                "checkpoints of earlier epochs are intact",
                file=str(self.folder),
            )
        )
