"""The data of a run: which cases train and which are held out, and how they are served."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import lightning
import numpy as np
from numpy.typing import NDArray
from torch.utils.data import DataLoader
from torch.utils.data import Dataset as TorchDataset

from multirater.errors import Fault, InputError
from multirater.training.augment import augment, margin
from multirater.training.batches import Batch, BatchOrder, collate
from multirater.training.config import TrainConfig
from multirater.training.plan.room import cache_bytes
from multirater.training.samples import (
    Grid,
    Sample,
    SampleCache,
    chosen_view,
    take_patch,
    take_slice,
)
from multirater.types import Case, Dataset

_HELD_OUT_PART = 8
"""Held-out patches are one for so many that are trained on: validation must not dominate."""


class SampleDataset(TorchDataset[Sample]):
    """Samples of cases: whole images, slices or patches.

    With `steps_per_epoch` an epoch has as many samples as its steps need: every case is served as
    often as every other, each time another patch of it.

    Args:
        cases: to serve.
        decoded: reads them, and remembers.
        config: of the run.
        training: with random patches and changes; else whole images, or the same patches always.

    Attributes:
        hints: log odds of the classes by a witness, (L,) by name of a case; empty without one.
        groups: number of each case's patient, or of the case itself (`group_of`), from 0.
    """

    def __init__(
        self, cases: Sequence[Case], decoded: SampleCache, config: TrainConfig, *, training: bool
    ) -> None:
        self.decoded = decoded
        self.numbers = decoded.numbers_of(cases)
        self.cases = cases
        names = list(map(group_of, cases))
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        self.groups = [numbers[name] for name in names]
        self.hints: dict[str, NDArray[np.float32]] = {}
        self.config = config
        self.training = training
        self.of_classes = of_classes = decoded.of_classes
        self.in_patches = bool(config.steps_per_epoch and config.patch) and not of_classes
        self.view = "whole" if of_classes else chosen_view(config.view, self.whole(0).truth.ndim)
        self.parts = self._parts(len(cases))
        self.size = () if of_classes else self._common_size(len(cases))

    def __len__(self) -> int:
        return len(self.parts)

    def whole(self, case: int) -> Sample:
        """Return a case, by its place among those served."""
        return self.decoded[self.numbers[case]]

    def __getitem__(self, key: tuple[int, int]) -> Sample:
        epoch, index = key
        case, part = self.parts[index]
        sample = self.whole(case)
        if self.hints:
            sample = replace(sample, hint=self.hints[self.cases[case].name])
        is_changed = self.training and self.config.augment
        if self.of_classes and not is_changed:
            return sample
        # Held-out patches are the same in every epoch.
        random = np.random.default_rng([self.config.seed, epoch if self.training else 0, index])
        if self.of_classes:
            return augment(sample, random, only_mirror=self.config.augmentation == "flips")
        centre = self._centre(sample, random)
        if self.view == "slices":
            if part >= 0:  # the slice is chosen, and rare pixels may be in others
                number, centre = part, None
            elif centre is not None:
                number, centre = centre[0], centre[1:]
            else:
                number = int(random.integers(sample.image.shape[1]))
            sample = take_slice(sample, number)
        return self._cut(sample, centre, random, is_changed=is_changed)

    def _cut(
        self,
        sample: Sample,
        centre: Sequence[int] | None,
        random: np.random.Generator,
        *,
        is_changed: bool,
    ) -> Sample:
        """Cut a patch about a pixel, or anywhere, and change it."""
        space = sample.image.shape[1:]
        free = [max(have - want, 0) for have, want in zip(space, self.size, strict=True)]
        if centre is not None:
            corner = [
                int(np.clip(at - want // 2 + random.integers(-want // 8, want // 8 + 1), 0, room))
                for at, want, room in zip(centre, self.size, free, strict=True)
            ]
        elif self.training or self.in_patches:
            corner = [int(random.integers(room + 1)) for room in free]
        else:
            corner = [room // 2 for room in free]
        if not is_changed:
            return take_patch(sample, corner, self.size)
        around = margin(self.size) if any(free) else (0,) * len(self.size)
        first = [at - more for at, more in zip(corner, around, strict=True)]
        wide = [side + 2 * more for side, more in zip(self.size, around, strict=True)]
        larger = take_patch(sample, first, wide)
        return augment(
            larger,
            random,
            mirror=self.config.mirror,
            only_mirror=self.config.augmentation == "flips",
            size=self.size,
        )

    def _centre(self, sample: Sample, random: np.random.Generator) -> list[int] | None:
        """Return a pixel that the patch shall hold, of a rare class or disputed, or none."""
        if not sample.places or random.random() >= self.config.rare_share:
            return None
        kind = sample.places[int(random.integers(len(sample.places)))]
        return [int(at) for at in kind[int(random.integers(len(kind)))]]

    def _parts(self, n_cases: int) -> list[tuple[int, int]]:
        """List (case, slice); the slice is 0 where a case is served whole, -1 for any."""
        if (
            self.config.steps_per_epoch
            and not self.of_classes
            and (self.training or self.in_patches)
        ):
            whole = -1 if self.view == "slices" else 0
            return [(number % n_cases, whole) for number in range(self._n_samples(n_cases))]
        if self.view != "slices":
            return [(case, 0) for case in range(n_cases)]
        return [
            (case, index)
            for case in range(n_cases)
            for index in range(self.whole(case).image.shape[1])
            if self._is_labelled(case, index) or not self.training
        ]

    def _n_samples(self, n_cases: int) -> int:
        """Return how many samples an epoch has: of held-out cases few, but some of each."""
        wanted = self.config.steps_per_epoch * self.config.batch_size
        return wanted if self.training else max(wanted // _HELD_OUT_PART, 2 * n_cases)

    def _is_labelled(self, case: int, index: int) -> bool:
        sample = self.whole(case)
        return bool((sample.labels[:, index] >= 0).any() or (sample.truth[index] >= 0).any())

    def _common_size(self, n_cases: int) -> tuple[int, ...]:
        """Size that all samples are cut or padded to: the patch, or the largest image."""
        first = 2 if self.view == "slices" else 1
        ndim = self.whole(0).image.ndim - first
        if self.config.patch:
            if len(self.config.patch) != ndim:
                raise InputError(
                    Fault(f"patch {self.config.patch}", expected=f"{ndim} numbers, one per axis")
                )
            return tuple(self.config.patch)
        spaces = np.array([self.whole(case).image.shape[first:] for case in range(n_cases)])
        return tuple(int(each) for each in spaces.max(0))


def decoded_cases(
    dataset: Dataset, config: TrainConfig, *, with_truth: bool, folder: Path | None = None
) -> SampleCache:
    """Return what reads the cases of a run, all that may be trained on or held out.

    Args:
        dataset: as prepared by the method.
        config: of the run.
        with_truth: read the truth too, for methods that train on it.
        folder: for decoded cases that memory has no room for.
    """
    return SampleCache(
        [case for part in named_splits(dataset, with_truth=with_truth) for case in part],
        dataset.raters,
        with_truth=with_truth,
        of_classes=dataset.kind == "classes",
        grid=grid_of(config),
        with_places=bool(config.rare_share),
        most_bytes=None if config.memory is None else cache_bytes(config.memory),
        folder=folder,
    )


def grid_of(config: TrainConfig) -> Grid:
    """Return what a run does to every image as it is read."""
    return Grid(config.spacing, config.view == "slices", config.space, config.normalisation)


class RaterData(lightning.LightningDataModule):
    """Training and held-out cases.

    Args:
        dataset: all cases with labels take part.
        config: of the run.
        with_truth: whether the method trains on the truth.
        decoded: reads the cases, where they are read already; made when not given.

    Attributes:
        hints: see `SampleDataset`; of the training cases.
    """

    def __init__(
        self,
        dataset: Dataset,
        config: TrainConfig,
        *,
        with_truth: bool,
        decoded: SampleCache | None = None,
    ) -> None:
        super().__init__()
        self.dataset = dataset
        self.config = config
        self.decoded = decoded or decoded_cases(dataset, config, with_truth=with_truth)
        self.hints: dict[str, NDArray[np.float32]] = {}
        self.training_cases, self.held_out_cases = split_cases(
            dataset, config, with_truth=with_truth
        )

    def setup(self, stage: str) -> None:
        """Open the cases, once."""
        if hasattr(self, "training"):
            return
        self.training = self._samples(self.training_cases, training=True)
        self.training.hints = self.hints
        self.held_out = (
            self._samples(self.held_out_cases, training=False) if self.held_out_cases else None
        )

    def _samples(self, cases: Sequence[Case], *, training: bool) -> SampleDataset:
        return SampleDataset(cases, self.decoded, self.config, training=training)

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
            num_workers=n_readers(self.config),
            persistent_workers=self.config.workers > 0,
        )


def n_readers(config: TrainConfig) -> int:
    """Return how many processes serve data: those asked for, at most two per core.

    Each takes as much memory as a run, and a run's settings may come from somebody else.
    """
    return min(config.workers, 2 * (os.cpu_count() or 1))


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
    if config.folds > 1:
        training, held_out = [*training, *held_out], []
    elif held_out or config.validation == 0 or len(training) < 2:
        return training, held_out
    groups = list(dict.fromkeys(group_of(case) for case in training))
    if len(groups) < max(config.folds, 2):
        return _no_groups(training, config)
    order = np.random.default_rng([config.seed, 1]).permutation(len(groups))
    chosen = {groups[number] for number in _held_out_numbers(order, config)}
    return (
        [case for case in training if group_of(case) not in chosen],
        [case for case in training if group_of(case) in chosen],
    )


def group_of(case: Case) -> str:
    """Return what a case must not be parted from: its patient's other cases, or nothing."""
    return f"patient {case.patient}" if case.patient else f"case {case.name}"


def _held_out_numbers(order: NDArray[np.int64], config: TrainConfig) -> list[int]:
    if config.folds > 1:
        return list(order[config.fold :: config.folds].tolist())
    n_held_out = min(max(1, round(config.validation * len(order))), len(order) - 1)
    return list(order[:n_held_out].tolist())


def _no_groups(training: list[Case], config: TrainConfig) -> tuple[list[Case], list[Case]]:
    """Without patients to part, hold nobody out; folds are refused."""
    if config.folds == 1:
        return training, []
    n_groups = len({group_of(case) for case in training})
    raise InputError(
        Fault(
            f"{config.folds} folds of {n_groups} cases or patients",
            expected="at least one for each fold",
            fix="choose fewer --folds",
        )
    )
