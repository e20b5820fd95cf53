"""Batches: images, and labels grouped by who gave them.

Class labels make one group, in which each case has raters of its own: what a step costs depends on
the labels in the batch, not on how many raters gave them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Sampler

from multirater.nn.raters import Raters
from multirater.training.samples import Sample
from multirater.types import MISSING


@dataclass
class LabelGroup:
    """Labelled cases of a batch.

    Attributes:
        raters: positions in the data set's raters: (R,), the same for all cases, or, of class
            labels, int64 (G, R).
        labels: (G, R, *space), -1 where missing.
    """

    raters: Raters
    labels: Tensor

    def to(self, device: torch.device) -> LabelGroup:
        """Return the group on a device."""
        raters = self.raters.to(device) if isinstance(self.raters, Tensor) else self.raters
        return LabelGroup(raters, self.labels.to(device))


@dataclass
class Batch:
    """What a training step gets.

    Attributes:
        image: (B, channels, *image space).
        groups: the labels of the first cases, then of the next, and so on; cases without labels
            come last. A dense batch has one group; of drawings with one label per image there are
            as many as raters in the batch; of class labels there is one.
        truth: (B, *space), -1 where unknown.
        hint: (B, L), log odds of the classes by a witness; None where there is none.
    """

    image: Tensor
    groups: list[LabelGroup]
    truth: Tensor
    hint: Tensor | None = None

    def to(self, device: torch.device) -> Batch:
        """Return the batch on a device."""
        groups = [group.to(device) for group in self.groups]
        hint = None if self.hint is None else self.hint.to(device)
        return Batch(self.image.to(device), groups, self.truth.to(device), hint)


def collate(samples: Sequence[Sample]) -> Batch:
    """Stack samples of one size, those of a group side by side."""
    if samples[0].truth.ndim == 0:
        labelled = [sample for sample in samples if sample.raters]
        unlabelled = [sample for sample in samples if not sample.raters]
        return _stacked(labelled + unlabelled, [_of_classes(labelled)] if labelled else [])
    by_raters: dict[tuple[int, ...], list[Sample]] = {}
    for sample in samples:
        by_raters.setdefault(sample.raters, []).append(sample)
    unlabelled = by_raters.pop((), [])
    groups = [
        LabelGroup(
            raters, torch.from_numpy(np.stack([each.labels for each in group]).astype(np.int64))
        )
        for raters, group in by_raters.items()
    ]
    ordered = [sample for group in by_raters.values() for sample in group] + unlabelled
    return _stacked(ordered, groups)


def _of_classes(samples: Sequence[Sample]) -> LabelGroup:
    """Put the labels of each case side by side, in as many places as any of them needs."""
    shape = (len(samples), max(len(sample.raters) for sample in samples))
    raters, labels = torch.zeros(shape, dtype=torch.int64), torch.full(shape, MISSING)
    for row, sample in enumerate(samples):
        raters[row, : len(sample.raters)] = torch.tensor(sample.raters)
        labels[row, : len(sample.raters)] = torch.from_numpy(sample.labels)
    return LabelGroup(raters, labels)


def _stacked(samples: Sequence[Sample], groups: list[LabelGroup]) -> Batch:
    image = torch.from_numpy(np.stack([sample.image for sample in samples]))
    truth = torch.from_numpy(np.stack([sample.truth for sample in samples]).astype(np.int64))
    hints = [sample.hint for sample in samples if sample.hint is not None]
    return Batch(image, groups, truth, torch.from_numpy(np.stack(hints)) if hints else None)


class BatchOrder(Sampler[list[tuple[int, int]]]):
    """Which samples form each batch: the same for any number of processes.

    The order of an epoch follows from seed and epoch alone. Step s takes the next `batch_size`
    samples of that order, and each process its equal part of them, so that two processes take the
    same steps as one. Yields (epoch, sample) pairs, from which the random changes of a sample
    follow.

    Args:
        n_samples: in the data set.
        batch_size: over all processes.
        seed: of the run.
        rank: of this process.
        world: number of processes.
        shuffle: off for validation.
    """

    def __init__(
        self,
        n_samples: int,
        batch_size: int,
        *,
        seed: int,
        rank: int = 0,
        world: int = 1,
        shuffle: bool = True,
    ) -> None:
        self.n_samples = n_samples
        self.batch_size = batch_size
        self.seed = seed
        self.rank = rank
        self.world = world
        self.shuffle = shuffle
        self.epoch = 0
        # Lightning tells the epoch to the sampler of a batch sampler.
        self.sampler = self

    def set_epoch(self, epoch: int) -> None:
        """Tell the epoch; Lightning does before each one."""
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self._starts())

    def _starts(self) -> range:
        """Return where batches start; the last is longer rather than one of a single item.

        No statistic can be taken over one item, as normalisation by batches has to.
        """
        is_joined = self.n_samples % self.batch_size == 1 < self.n_samples
        return range(0, self.n_samples - is_joined, self.batch_size)

    def __iter__(self) -> Iterator[list[tuple[int, int]]]:
        order = np.arange(self.n_samples)
        if self.shuffle:
            order = np.random.default_rng([self.seed, self.epoch]).permutation(self.n_samples)
        starts = self._starts()
        for start in starts:
            end = start + self.batch_size if start != starts[-1] else self.n_samples
            batch = order[start:end]
            # The last batch is filled up, so that every process has its part.
            if missing := -len(batch) % self.world:
                batch = np.concatenate([batch, np.resize(order, missing)])
            part = len(batch) // self.world
            mine = batch[self.rank * part : (self.rank + 1) * part]
            yield [(self.epoch, int(index)) for index in mine]
