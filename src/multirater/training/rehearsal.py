"""One real step before training starts: does it fit into memory, how long does it take.

What does not fit is made smaller, with a word. Where a time is given, that of a step decides how
many threads work, and, with what else a run does, how many steps there is room for (`timing`).
Otherwise nothing that a run computes follows from the clock: with another number of threads sums
are taken in another order, and the same seed would give other weights on a busy machine. Large
steps are computed in the precision that the processor is fast in (`precision`).
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import prod

import torch

from multirater.io.formats.grid import size_text
from multirater.nn.adversary import AdaptingNetwork
from multirater.nn.jury import JuryNetwork
from multirater.nn.rater_network import RaterNetwork
from multirater.progress import say
from multirater.training.batches import Batch, collate
from multirater.training.budget import amount, free_memory, usual_budget
from multirater.training.clock import now
from multirater.training.config import TrainConfig
from multirater.training.data import RaterData
from multirater.training.jury import labels_settle
from multirater.training.memory import (
    at_most,
    forget_peak,
    is_out_of_memory,
    peak_resident,
    resident,
)
from multirater.training.module import RaterModule
from multirater.training.plan.room import too_small
from multirater.training.planning import wishes
from multirater.training.precision import computing_in, usual_precision
from multirater.training.samples import SampleCache
from multirater.training.timing import Costs, within_time
from multirater.training.windows import windows_of
from multirater.types import Dataset

_SMALL_STEP = 2**16
"""Pixels of a step that surely fits, and whose threads are not worth choosing."""

_GAIN = 0.8
"""More threads must bring a step below this share of its time."""

_HINDERED = 1.5
"""Share of one thread's time from which on more threads wait for one another, on cores that others
use too. An idle machine is far below: there the size of a step alone decides, and so the result."""

_SERVED = 3
"""Batches that are served to see how long it takes."""

_LEAST_PIXELS = 32 * 32


@dataclass(frozen=True)
class Stage:
    """What is rehearsed.

    Attributes:
        dataset: as the method prepared it.
        decoded: reads its cases.
        build: makes the network for settings.
        with_truth: whether the method trains on the truth.
        epochs: that the method makes in all, for settings: all networks together.
        n_looks: samples that it looks at one by one beside its steps.
    """

    dataset: Dataset
    decoded: SampleCache
    build: Callable[[TrainConfig], RaterNetwork]
    with_truth: bool
    epochs: Callable[[TrainConfig], int]
    n_looks: int = 0


def rehearsed(
    stage: Stage,
    config: TrainConfig,
    *,
    asked: TrainConfig,
    largest: Sequence[int],
    started: float,
) -> TrainConfig:
    """Return settings whose steps fit into memory and time, with the threads that serve them.

    Args:
        stage: data and network.
        config: all settings, decided.
        asked: the settings as the user gave them, which are not changed.
        largest: size of the largest image, as the network's axes see it.
        started: when the run began, by `clock.now`.

    Raises:
        InputError: not even one patch fits, or what was asked for does not.
    """
    if config.devices * config.num_nodes > 1 or _is_on_gpu(config):
        return config
    n_pixels = prod(config.patch or largest) * config.batch_size
    if n_pixels < _SMALL_STEP and config.time is None:
        return config
    wanted = config.time
    if asked.precision is None and stage.dataset.kind == "masks":
        best = usual_precision(config.patch or largest, config.batch_size)
        config = replace(config, precision=best)
    config, data, step = _fitting(stage, config, asked)
    if wanted is None:
        return replace(config, threads=config.threads or _unhindered(step, threads_for(n_pixels)))
    threads, seconds = _threads(step, config)
    config = replace(config, threads=threads)
    with threads_of(threads):
        costs = step.costs(seconds, data, stage.n_looks)
    return within_time(config, costs, stage.epochs, wanted - (now() - started))


def _fitting(
    stage: Stage, config: TrainConfig, asked: TrainConfig
) -> tuple[TrainConfig, RaterData, _Step]:
    """Return settings whose step fits into memory, the data they are served with, and the step."""
    memory = usual_budget() if config.memory is None else config.memory
    while True:
        data = _data(stage, config)
        try:
            with at_most(min(memory - resident(), free_memory())):
                forget_peak()
                step = _Step(stage, config, data)
                step.take()
            peak = peak_resident()
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            peak = 2 * memory
        if peak <= memory:
            return config, data, step
        smaller = _smaller(config, asked, data, memory)
        say(
            f"a step of {config.batch_size} x {size_text(data.training.size)} does not fit into "
            f"{amount(memory)}: now {smaller.batch_size} x {size_text(smaller.patch or ())}"
        )
        config = smaller


def _is_on_gpu(config: TrainConfig) -> bool:
    return config.accelerator not in ("cpu", "auto") or (
        config.accelerator == "auto" and torch.cuda.is_available()
    )


def _data(stage: Stage, config: TrainConfig) -> RaterData:
    data = RaterData(stage.dataset, config, with_truth=stage.with_truth, decoded=stage.decoded)
    data.setup("fit")
    return data


class _Step:
    """A step of training, on a batch of the study, with a network that is thrown away."""

    def __init__(self, stage: Stage, config: TrainConfig, data: RaterData) -> None:
        network = stage.build(config)
        if isinstance(network, JuryNetwork):  # a step takes more once raters are weighed
            network.n_weighed.fill_(1)
            network.has_ballots.fill_(labels_settle(stage.dataset))
        self.module = RaterModule(network, config)
        self.precision = config.precision
        self.optimizer = torch.optim.Adam(network.parameters())
        self.samples = data.training
        self.n_samples = min(config.batch_size, len(data.training))
        self.batch: Batch = self.served(0)
        if isinstance(network, AdaptingNetwork):  # a step takes as many images without labels
            network.target = self.batch.image

    def served(self, epoch: int) -> Batch:
        """Serve the batch, as an epoch has it."""
        return collate([self.samples[epoch, number] for number in range(self.n_samples)])

    def take(self) -> float:
        """Take the step; return its seconds."""
        started = now()
        with computing_in(self.precision):
            losses = self.module._losses(self.batch)
        loss = losses.nll + losses.truth + losses.trace + losses.overlap
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return now() - started

    @torch.inference_mode()
    def look(self) -> float:
        """Predict the batch; return its seconds."""
        started = now()
        self.module.network.eval().outputs(self.batch.image)
        self.module.network.train()
        return now() - started

    def serve(self) -> float:
        """Serve other patches of the same cases; return the seconds of a batch."""
        started = now()
        for epoch in range(1, _SERVED + 1):
            self.served(epoch)
        return (now() - started) / _SERVED

    def keep(self) -> float:
        """Write the network and the optimizer's state into memory; return the seconds."""
        started = now()
        state = [self.module.state_dict(), self.optimizer.state_dict()]
        torch.save(state, io.BytesIO())
        return now() - started

    def costs(self, seconds: float, data: RaterData, n_looks: int) -> Costs:
        """Measure all that a run is made of.

        Args:
            seconds: of a step.
            data: of the run.
            n_looks: samples that the method looks at one by one beside its steps.
        """
        samples, held_out = data.training, data.held_out_cases
        n_windows = 1
        if not samples.of_classes:
            space, size = samples.whole(0).image.shape[1:], samples.size
            one = (1,) if samples.view == "slices" else ()
            n_windows = len(windows_of(space, (*one, *map(min, size, space[len(one) :]))))
        return Costs(
            step=seconds + self.serve(),
            look=self.look(),
            keep=self.keep(),
            read=data.decoded.seconds_per_case,
            n_unread=len(data.decoded.cases) - data.decoded.n_read,
            n_cases=len(data.training_cases),
            n_held_out=len(held_out),
            n_windows=n_windows,
            window=tuple(samples.size),
            n_looks=n_looks,
            is_in_patches=samples.in_patches,
            of_classes=samples.of_classes,
        )


def _smaller(config: TrainConfig, asked: TrainConfig, data: RaterData, memory: int) -> TrainConfig:
    """Halve the batch, then the patch, unless they were asked for."""
    given = wishes(asked)
    if config.batch_size > 1 and "batch_size" not in given:
        return replace(config, batch_size=config.batch_size // 2, patch=config.patch)
    size = tuple(data.training.size)
    if "patch" not in given and size and prod(size) > _LEAST_PIXELS:
        axis = size.index(max(size))
        return replace(
            config, patch=tuple(max(s // 2, 16) if i == axis else s for i, s in enumerate(size))
        )
    raise too_small(memory, size, config.batch_size, 1.5 * memory)


def threads_for(n_pixels: int) -> int:
    """Return how many threads a step is shared by, each with enough to do: from its size alone.

    Args:
        n_pixels: of all images of a step.

    Example:
        >>> threads_for(2**16)
        1
    """
    most, number = torch.get_num_threads(), 1
    while 2 * number <= most and n_pixels >= 2 * number * _SMALL_STEP:
        number *= 2
    return number


def _unhindered(step: _Step, threads: int) -> int:
    """Return these threads, or one where they would take longer than that."""
    if threads == 1:
        return 1
    seconds = {}
    for number in (1, threads):
        with threads_of(number):
            seconds[number] = min(step.take(), step.take())
    if seconds[threads] <= _HINDERED * seconds[1]:
        return threads
    say(
        f"a step takes {seconds[1]:.2g} s with 1 thread, {seconds[threads]:.2g} s with {threads}, "
        "as others use the cores: 1 is used, and last digits may differ from an idle machine's"
    )
    return 1


def _threads(step: _Step, config: TrainConfig) -> tuple[int, float]:
    """Return how many threads serve a step best, and its seconds with them."""
    most = torch.get_num_threads()
    best = config.threads or 1
    with threads_of(best):
        seconds = min(step.take(), step.take())
    while config.threads is None and 2 * best <= most:
        with threads_of(2 * best):
            found = min(step.take(), step.take())
        if found > _GAIN * seconds:
            break
        best, seconds = 2 * best, found
    say(f"a step takes {seconds:.2g} s with {best} thread{'s' * (best > 1)}")
    return best, seconds


@contextmanager
def threads_of(number: int | None) -> Iterator[None]:
    """Let torch work with so many threads, at most four per core; with its own when None."""
    before = torch.get_num_threads()
    if number is not None:
        torch.set_num_threads(min(number, 4 * (os.cpu_count() or 1)))
    try:
        yield
    finally:
        torch.set_num_threads(before)
