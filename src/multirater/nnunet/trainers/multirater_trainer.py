"""The trainer that `nnUNetv2_train ... -tr nnUNetTrainerMultirater` finds in this folder.

It takes data sets that `multirater export --to nnunet` wrote of several raters, whose `labelsTr`
holds stacks. Network, patches, augmentation, schedule and prediction are nnU-Net's own; only the
loss is ours (`multirater.nn.stacked_labels`), and what labels mean to it.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from nnunetv2.training.loss.deep_supervision import DeepSupervisionWrapper
from nnunetv2.training.nnUNetTrainer.nnUNetTrainer import nnUNetTrainer

from multirater.errors import Fault, InputError
from multirater.nn.stacked_labels import StackedLabels, StackedRaterLoss

MATRICES = "confusion_matrices.json"


class nnUNetTrainerMultirater(nnUNetTrainer):  # type: ignore[misc] # noqa: N801
    """nnU-Net's trainer, which learns the truth behind the labels of several raters.

    For the first tenth of the epochs every label counts as the truth; then each epoch counts the
    raters' confusion matrices, and the next learns by them. They are written beside the checkpoints
    (`confusion_matrices.json`). The Dice that nnU-Net prints, and its validation, are against the
    raters' vote, since nobody knows the truth.
    """

    loss: Any
    preprocessed_dataset_folder_base: Any

    def __init__(
        self,
        plans: dict[str, Any],
        configuration: str,
        fold: int,
        dataset_json: dict[str, Any],
        device: torch.device = torch.device("cuda"),  # noqa: B008 - nnU-Net's own signature
    ) -> None:
        super().__init__(plans, configuration, fold, dataset_json, device)
        stacks = dataset_json.get("multirater")
        if stacks is None:
            raise InputError(
                Fault(
                    "dataset.json holds no stacks of raters' labels",
                    expected="a data set that `multirater export STUDY --to nnunet` wrote of a "
                    "study with several raters",
                    fix="export it anew, and run nnUNetv2_plan_and_preprocess on that",
                )
            )
        self.raters: list[str] = stacks["raters"]
        self.patterns: list[list[int]] = stacks["patterns"]
        self.classes: list[str] = stacks["classes"]
        # What the network tells apart, and what nnUNetv2_predict writes, are classes, not patterns.
        labels = {name: index for index, name in enumerate(["background", *self.classes[1:]])}
        self.dataset_json = {**dataset_json, "labels": labels}
        self.label_manager = self.plans_manager.get_label_manager(self.dataset_json)

    @property
    def n_warm_up(self) -> int:
        """Epochs in which every label counts as the truth."""
        return max(1, int(self.num_epochs) // 10)

    @property
    def _counts(self) -> bool:
        """Whether labels are counted in this epoch, for the matrices of the next."""
        return bool(self.current_epoch + 1 >= self.n_warm_up)

    @property
    def rater_loss(self) -> StackedRaterLoss:
        """The loss of one output, without the weights of deep supervision."""
        own = self.loss.loss if isinstance(self.loss, DeepSupervisionWrapper) else self.loss
        assert isinstance(own, StackedRaterLoss)
        return own

    def _build_loss(self) -> torch.nn.Module:
        own = StackedRaterLoss(self.patterns, len(self.classes)).to(self.device)
        theirs = super()._build_loss()
        if not isinstance(theirs, DeepSupervisionWrapper):
            return own
        theirs.loss = own
        wrapped: torch.nn.Module = theirs
        return wrapped

    def train_step(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Make a step, and count the raters' labels beside what the network says before it."""
        self.rater_loss.is_counting = self._counts
        return dict(super().train_step(batch))

    def on_train_epoch_end(self, train_outputs: list[dict[str, Any]]) -> None:
        """Make matrices of an epoch's counts."""
        super().on_train_epoch_end(train_outputs)
        if self._counts:
            if self.is_ddp:
                torch.distributed.all_reduce(self.rater_loss.counts)
            self.rater_loss.take_counts()

    def validation_step(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Score held-out patches against the raters' vote."""
        stacked = StackedLabels(self.patterns, len(self.classes))
        target = batch["target"]
        several = isinstance(target, list)
        voted = [stacked.vote(each) for each in (target if several else [target])]
        learned = self.loss
        self.loss = super()._build_loss()
        try:
            return dict(
                super().validation_step({**batch, "target": voted if several else voted[0]})
            )
        finally:
            self.loss = learned

    def perform_actual_validation(self, save_probabilities: bool = False) -> None:
        """Score held-out cases against the raters' vote, which is written for that."""
        base = self.preprocessed_dataset_folder_base
        self.preprocessed_dataset_folder_base = str(self._write_votes(Path(base)))
        try:
            super().perform_actual_validation(save_probabilities)
        finally:
            self.preprocessed_dataset_folder_base = base

    def _write_votes(self, base: Path) -> Path:
        """Make a folder in which nnU-Net finds its splits, and votes in place of stacks."""
        folder = Path(self.output_folder) / "votes"
        (folder / "gt_segmentations").mkdir(parents=True, exist_ok=True)
        if (base / "splits_final.json").is_file():
            shutil.copyfile(base / "splits_final.json", folder / "splits_final.json")
        stacked = StackedLabels(self.patterns, len(self.classes))
        files = self.plans_manager.image_reader_writer_class()
        ending = self.dataset_json["file_ending"]
        for name in self.do_split()[1]:
            stacks, where = files.read_seg(str(base / "gt_segmentations" / f"{name}{ending}"))
            vote = stacked.vote(torch.from_numpy(stacks)[None])[0, 0].numpy()
            target = folder / "gt_segmentations" / f"{name}{ending}"
            files.write_seg(vote.astype("uint8"), str(target), where)
        return folder

    def save_checkpoint(self, filename: str) -> None:
        """Write the matrices beside the checkpoint, too."""
        super().save_checkpoint(filename)
        if self.local_rank == 0 and not self.disable_checkpointing:
            matrices = dict(zip(self.raters, self.rater_loss.cm.tolist(), strict=True))
            told = {
                "classes": self.classes,
                "is_counted": bool(self.rater_loss.is_counted),
                "matrices": matrices,
            }
            place = Path(filename).with_name(MATRICES)
            place.write_text(json.dumps(told, indent=2), encoding="utf-8")

    def load_checkpoint(self, filename_or_checkpoint: dict[str, Any] | str) -> None:
        """Take up the matrices, too, where a run goes on."""
        super().load_checkpoint(filename_or_checkpoint)
        place = Path(self.output_folder) / MATRICES
        if place.is_file():
            told = json.loads(place.read_text(encoding="utf-8"))
            matrices = [told["matrices"][rater] for rater in self.raters]
            self.rater_loss.cm.copy_(torch.tensor(matrices))
            self.rater_loss.is_counted.fill_(bool(told["is_counted"]))
