"""The data of a run: which cases train and which are held out, and how they are served."""

from __future__ import annotations

from collections.abc import Sequence

import lightning
import numpy as np
from torch.utils.data import DataLoader
from torch.utils.data import Dataset as TorchDataset

from multirater.errors import Fault, InputError
from multirater.training.augment import augment
from multirater.training.batches import Batch, BatchOrder, collate
from multirater.training.config import TrainConfig
from multirater.training.samples import (
    Sample,
    SampleCache,
    chosen_view,
    take_patch,
    take_slice,
)
from multirater.types import Case, Dataset


class SampleDataset(TorchDataset[Sample]):
    """Samples of cases: whole images, slices or patches.

    Args:
        cases: to serve.
        raters: names that positions refer to.
        config: of the run.
        training: with random patches and changes; else whole images.
        with_truth: read the truth too, for methods that train on it.
        of_classes: labels are classes of whole images.
    """

    def __init__(
        self,
        cases: Sequence[Case],
        raters: Sequence[str],
        config: TrainConfig,
        *,
        training: bool,
        with_truth: bool,
        of_classes: bool = False,
    ) -> None:
        self.cache = SampleCache(cases, raters, with_truth=with_truth, of_classes=of_classes)
        self.config = config
        self.training = training
        self.of_classes = of_classes
        self.view = "whole" if of_classes else chosen_view(config.view, self.cache[0].truth.ndim)
        self.parts = self._parts(len(cases))
        self.size = () if of_classes else self._common_size(len(cases))

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, key: tuple[int, int]) -> Sample:
        epoch, index = key
        case, part = self.parts[index]
        sample = self.cache[case]
        if self.view == "slices":
            sample = take_slice(sample, part)
        is_changed = self.training and self.config.augment
        if self.of_classes and not is_changed:
            return sample
        random = np.random.default_rng([self.config.seed, epoch, index])
        space = sample.image.shape[1:]
        if is_changed:
            sample = augment(sample, random)
        if self.of_classes:
            return sample
        free = [max(have - want, 0) for have, want in zip(space, self.size, strict=True)]
        corner = [int(random.integers(room + 1)) if self.training else room // 2 for room in free]
        return take_patch(sample, corner, self.size)

    def _parts(self, n_cases: int) -> list[tuple[int, int]]:
        """List (case, slice); the slice is 0 where a case is served whole."""
        if self.view != "slices":
            return [(case, 0) for case in range(n_cases)]
        return [
            (case, index)
            for case in range(n_cases)
            for index in range(self.cache[case].image.shape[1])
            if self._is_labelled(case, index) or not self.training
        ]

    def _is_labelled(self, case: int, index: int) -> bool:
        sample = self.cache[case]
        return bool((sample.labels[:, index] >= 0).any() or (sample.truth[index] >= 0).any())

    def _common_size(self, n_cases: int) -> tuple[int, ...]:
        """Size that all samples are cut or padded to: the patch, or the largest image."""
        first = 2 if self.view == "slices" else 1
        ndim = self.cache[0].image.ndim - first
        if self.config.patch:
            if len(self.config.patch) != ndim:
                raise InputError(
                    Fault(f"patch {self.config.patch}", expected=f"{ndim} numbers, one per axis")
                )
            return tuple(self.config.patch)
        spaces = np.array([self.cache[case].image.shape[first:] for case in range(n_cases)])
        return tuple(int(each) for each in spaces.max(0))


class RaterData(lightning.LightningDataModule):
    """Training and held-out cases.

    Args:
        dataset: all cases with labels take part.
        config: of the run.
        with_truth: whether the method trains on the truth.
    """

    def __init__(self, dataset: Dataset, config: TrainConfig, *, with_truth: bool) -> None:
        super().__init__()
        self.dataset = dataset
        self.config = config
        self.with_truth = with_truth
        self.training_cases, self.held_out_cases = split_cases(
            dataset, config, with_truth=with_truth
        )

    def setup(self, stage: str) -> None:
        """Open the cases."""
        self.training = self._samples(self.training_cases, training=True)
        self.held_out = (
            self._samples(self.held_out_cases, training=False) if self.held_out_cases else None
        )

    def _samples(self, cases: Sequence[Case], *, training: bool) -> SampleDataset:
        return SampleDataset(
            cases,
            self.dataset.raters,
            self.config,
            training=training,
            with_truth=self.with_truth,
            of_classes=self.dataset.kind == "classes",
        )

    def train_dataloader(self) -> DataLoader[Batch]:
        """Serve the training cases in the order of the epoch."""
        return self._loader(self.training, shuffle=True)

    def val_dataloader(self) -> DataLoader[Batch] | list[object]:
        """Serve the held-out cases."""
        return [] if self.held_out is None else self._loader(self.held_out, shuffle=False)

    def _loader(self, samples: SampleDataset, *, shuffle: bool) -> DataLoader[Batch]:
        trainer = self.trainer
        order = BatchOrder(
            len(samples),
            self.config.batch_size,
            seed=self.config.seed,
            rank=trainer.global_rank if trainer else 0,
            world=trainer.world_size if trainer else 1,
            shuffle=shuffle,
        )
        return DataLoader(
            samples,  # type: ignore[arg-type]
            batch_sampler=order,
            collate_fn=collate,
            num_workers=self.config.workers,
            persistent_workers=self.config.workers > 0,
        )


def named_splits(dataset: Dataset, *, with_truth: bool = False) -> tuple[list[Case], list[Case]]:
    """Return the cases to train on and those held out, by the names of their splits alone.

    Args:
        dataset: as prepared by the method, of which cases with labels take part.
        with_truth: whether cases that only have a truth do so too.
    """
    named = {case.split for case in dataset}
    usable = [case for case in dataset if case.labels or (with_truth and case.truth is not None)]
    training = [case for case in usable if not named & {"train"} or case.split == "train"]
    training = [case for case in training if case.split in ("", "train")]
    return training, [case for case in usable if case.split in ("val", "valid", "validation")]


def split_cases(
    dataset: Dataset, config: TrainConfig, *, with_truth: bool = False
) -> tuple[list[Case], list[Case]]:
    """Return training and held-out cases: the split `val` when there is one, else a random share.

    Cases of other splits than `train` (`test`, say) take no part.
    """
    training, held_out = named_splits(dataset, with_truth=with_truth)
    if not training:
        raise InputError(
            Fault(
                "no labelled case to train on",
                expected="cases with labels in the split `train`, or without a split",
            )
        )
    if held_out or config.validation == 0 or len(training) < 2:
        return training, held_out
    order = np.random.default_rng([config.seed, 1]).permutation(len(training))
    n_held_out = min(max(1, round(config.validation * len(training))), len(training) - 1)
    chosen = set(order[:n_held_out].tolist())
    return (
        [case for number, case in enumerate(training) if number not in chosen],
        [case for number, case in enumerate(training) if number in chosen],
    )
