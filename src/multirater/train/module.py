"""The training step, for Lightning."""

from __future__ import annotations

from typing import Any

import lightning
import torch
from torch import Tensor

from multirater.nn.segmenter import RaterLoss, RaterSegmenter
from multirater.train.batches import Batch
from multirater.train.config import TrainConfig


class SegmentationModule(lightning.LightningModule):
    """Optimises a segmenter on the raters' labels.

    Args:
        segmenter: the network.
        config: of the run.
    """

    def __init__(self, segmenter: RaterSegmenter, config: TrainConfig) -> None:
        super().__init__()
        self.segmenter = segmenter
        self.config = config

    @property
    def is_warming_up(self) -> bool:
        """Whether the matrices are still fixed to the identity."""
        return self.current_epoch < self.config.warmup_epochs

    def training_step(self, batch: Batch, _: int) -> Tensor:
        """Likelihood of the labels, plus the weighted trace once the matrices learn."""
        losses = self._losses(batch)
        self._log("train_nll", losses.nll, batch)
        self._log("train_trace", losses.trace, batch)
        if self.is_warming_up or self.segmenter.confusion is None:
            return losses.nll
        return losses.nll + self.config.trace_weight * losses.trace

    def validation_step(self, batch: Batch, _: int) -> None:
        """Held-out likelihood of the raters' labels: what chooses the epoch, without truth."""
        self._log("val_nll", self._losses(batch).nll, batch)

    def _log(self, name: str, value: Tensor, batch: Batch) -> None:
        """Keep the mean over the epoch and all processes."""
        size = len(batch.image)
        self.log(name, value, on_step=False, on_epoch=True, sync_dist=True, batch_size=size)

    def _losses(self, batch: Batch) -> RaterLoss:
        """Mean over all labels of the batch, whoever gave them."""
        features = self.segmenter.backbone(batch.image)
        nll, trace, n_labels = features.new_zeros(()), features.new_zeros(()), 0
        for group in batch.groups:
            size = group.labels.shape[0] * group.labels.shape[1]
            whole = len(group.cases) == len(features)
            part = self.segmenter.raters_loss(
                features if whole else features[group.cases],
                group.labels,
                group.raters,
                self.config.likelihood,
                with_confusion=not self.is_warming_up,
            )
            nll, trace, n_labels = nll + part.nll * size, trace + part.trace * size, n_labels + size
        # A batch without labels still touches the network, so that every process takes the step.
        nothing = features.sum() * 0.0
        return RaterLoss(nll / max(n_labels, 1) + nothing, trace / max(n_labels, 1))

    def configure_optimizers(self) -> Any:
        """Adam with a one-cycle schedule; the matrices have a rate of their own."""
        confusion = self.segmenter.confusion
        of_raters = list(confusion.parameters()) if confusion is not None else []
        known = {id(parameter) for parameter in of_raters}
        groups: list[dict[str, Any]] = [
            {
                "params": [p for p in self.segmenter.parameters() if id(p) not in known],
                "lr": self.config.learning_rate,
            }
        ]
        if of_raters:
            groups.append({"params": of_raters, "lr": self.config.confusion_learning_rate})
        optimizer = torch.optim.Adam(groups)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimizer,
            max_lr=[group["lr"] for group in groups],
            total_steps=int(self.trainer.estimated_stepping_batches),
            pct_start=0.2,
        )
        return [optimizer], [{"scheduler": schedule, "interval": "step"}]
