"""One real step before training starts: does it fit into memory, how long does it take.

What does not fit is made smaller, with a word. The time of a step decides how many threads work,
and how many steps a given time has room for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

import torch

from multirater.errors import Fault, InputError
from multirater.io.formats.grid import size_text
from multirater.nn.rater_network import RaterNetwork
from multirater.progress import say
from multirater.training.batches import Batch, collate
from multirater.training.budget import amount, free_memory, usual_budget
from multirater.training.config import TrainConfig
from multirater.training.data import RaterData
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
from multirater.types import Dataset

CLOCK = time.perf_counter
"""What measures a step."""

_SMALL_STEP = 2**16
"""Pixels of a step that surely fits, and whose threads are not worth choosing."""

_GAIN = 0.8
"""More threads must bring a step below this share of its time."""

_OVERHEAD = 1.15
"""Of an epoch beside its steps: reading, held-out cases, weighing raters, checkpoints."""

_FEWEST_STEPS = 5
_LEAST_PIXELS = 32 * 32


@dataclass(frozen=True)
class _Stage:
    """What is rehearsed: the data, and how its network is built."""

    dataset: Dataset
    build: Callable[[TrainConfig], RaterNetwork]
    with_truth: bool
    folder: Path


def rehearsed(
    dataset: Dataset,
    config: TrainConfig,
    build: Callable[[TrainConfig], RaterNetwork],
    *,
    with_truth: bool,
    folder: Path,
    asked: TrainConfig,
    largest: Sequence[int],
    passes: float = 1.0,
) -> TrainConfig:
    """Return settings whose steps fit into memory and time, with the threads that serve them.

    Args:
        dataset: as the method prepared it.
        config: all settings, decided.
        build: makes the network for settings.
        with_truth: whether the method trains on the truth.
        folder: for decoded cases that memory has no room for.
        asked: the settings as the user gave them, which are not changed.
        largest: size of the largest image, as the network's axes see it.
        passes: epochs that the method makes for each that is asked for, all networks together.

    Raises:
        InputError: not even one patch fits, or what was asked for does not.
    """
    if config.devices * config.num_nodes > 1 or _is_on_gpu(config):
        return config
    memory = usual_budget() if config.memory is None else config.memory
    stage = _Stage(dataset, build, with_truth, folder)
    n_pixels = prod(config.patch or largest) * config.batch_size
    if n_pixels < _SMALL_STEP and config.time is None:
        return config
    data = _data(stage, config)
    while True:
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
            break
        smaller = _smaller(config, asked, data, memory)
        say(
            f"a step of {config.batch_size} x {size_text(data.training.size)} does not fit into "
            f"{amount(memory)}: now {smaller.batch_size} x {size_text(smaller.patch or ())}"
        )
        config = smaller
        data = _data(stage, config)
    threads, seconds = _threads(step, config)
    config = replace(config, threads=threads)
    if config.time is None:
        return config
    with threads_of(threads):
        return _within_time(config, data, passes * seconds, step.look())


def _is_on_gpu(config: TrainConfig) -> bool:
    return config.accelerator not in ("cpu", "auto") or (
        config.accelerator == "auto" and torch.cuda.is_available()
    )


def _data(stage: _Stage, config: TrainConfig) -> RaterData:
    data = RaterData(stage.dataset, config, with_truth=stage.with_truth, folder=stage.folder)
    data.setup("fit")
    return data


class _Step:
    """A step of training, on a batch of the study, with a network that is thrown away."""

    def __init__(self, stage: _Stage, config: TrainConfig, data: RaterData) -> None:
        network = stage.build(config)
        # Raters are weighed later in training, and such a step takes more.
        weighed = getattr(network, "n_weighed", None)
        if weighed is not None:
            weighed.fill_(1)
        self.module = RaterModule(network, config)
        self.optimizer = torch.optim.Adam(network.parameters())
        n_samples = min(config.batch_size, len(data.training))
        self.batch: Batch = collate([data.training[0, number] for number in range(n_samples)])

    def take(self) -> float:
        """Take the step; return its seconds."""
        started = CLOCK()
        losses = self.module._losses(self.batch)
        loss = losses.nll + losses.truth + losses.trace + losses.overlap
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        return CLOCK() - started

    @torch.inference_mode()
    def look(self) -> float:
        """Predict the batch; return its seconds."""
        started = CLOCK()
        self.module.network.eval().outputs(self.batch.image)
        self.module.network.train()
        return CLOCK() - started


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
    """Let torch work with so many threads; with as many as it does when None."""
    before = torch.get_num_threads()
    if number is not None:
        torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _within_time(config: TrainConfig, data: RaterData, seconds: float, look: float) -> TrainConfig:
    """Fit the schedule into the time given, less what describing the run will take."""
    assert config.time is not None
    n_train, n_cases = len(data.training_cases), len(data.training_cases) + len(data.held_out_cases)
    sample = data.training.cache[0]
    parts = prod(sample.image.shape[1:]) / max(prod(data.training.size), 1)
    describing = config.folds * n_cases * max(parts, 1) * look / config.batch_size
    if describing > config.time / 2:
        say(f"raters are described in the end, which takes about {describing:.0f} s more")
        describing = 0.0
    n_steps = int((config.time - describing) / (config.folds * seconds * _OVERHEAD))
    if n_steps < 1:
        raise InputError(
            Fault(
                f"{config.time:.0f} s is too short: a step takes {seconds:.2g} s",
                expected="time for some steps",
                fix="give more --time, or a smaller --patch or --batch-size",
            )
        )
    if data.training.of_classes:
        per_pass = -(-n_train // config.batch_size)
        return replace(config, epochs=max(min(config.epochs, n_steps // per_pass), 1))
    epochs = max(min(config.epochs, n_steps // _FEWEST_STEPS), 1)
    steps = max(n_steps // epochs, 1)
    say(f"{epochs * steps} steps in {epochs} epochs fit into {config.time:.0f} s")
    return replace(config, epochs=epochs, steps_per_epoch=steps)
