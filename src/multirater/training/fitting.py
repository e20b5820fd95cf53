"""One network is fitted to a study: its data, its method and Lightning's loop brought together."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

import lightning
from lightning.pytorch.callbacks import Callback, ModelCheckpoint
from lightning.pytorch.loggers import TensorBoardLogger
from lightning.pytorch.strategies import DDPStrategy
from torch.distributed.constants import default_pg_timeout

from multirater.errors import Fault, InputError
from multirater.io.results.layout import BEST, CHECKPOINTS, CURVES, DATA, LAST
from multirater.io.survey import Survey
from multirater.progress import say
from multirater.training import jury
from multirater.training.callbacks import BestEpoch, Curves, StopEarly, StopWhenDiverged
from multirater.training.checkpoints import Checkpoints, read_checkpoint
from multirater.training.class_balance import balanced_weights
from multirater.training.config import TrainConfig
from multirater.training.data import RaterData, decoded_cases
from multirater.training.description import describe_run
from multirater.training.ending import HearSignals
from multirater.training.gold_targets import held_to_gold
from multirater.training.methods import Method, prepared, training_method
from multirater.training.module import RaterModule
from multirater.training.processes import is_first_process, start_others
from multirater.training.rehearsal import threads_of
from multirater.training.resumable import Settings, require_resumable, restoring
from multirater.training.run_data import describe_data, require_same_data
from multirater.training.run_folder import Run, RunData, build_network, plain_network, write_data
from multirater.training.samples import SampleCache
from multirater.types import Dataset

DECODED = "decoded"
"""Decoded cases that memory has no room for, while a run works."""

_LONGEST_WAIT = timedelta(days=1)
"""That processes of one machine wait for the first, which alone describes and predicts."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A study as its method trains on it: the method, the data set, and what reads its cases."""

    method: Method
    dataset: Dataset
    decoded: SampleCache


def prepare(found: Survey, target: Path, config: TrainConfig) -> Prepared:
    """Prepare a study for its method; cases that memory has no room for go into the run folder."""
    method = training_method(config.method, found.dataset.kind)
    dataset = held_to_gold(prepared(found.dataset, config))
    folder = target / DECODED
    decoded = decoded_cases(dataset, config, with_truth=method.with_truth, folder=folder)
    return Prepared(method, dataset, decoded)


def fit_network(found: Survey, prepared: Prepared, target: Path, config: TrainConfig) -> Run:
    """Train one network, or go on with it from its last epoch, and describe it.

    Args:
        found: the study, surveyed.
        prepared: the same as its method trains on it.
        target: the folder of the run, or of one of its folds.
        config: settings, all decided.
    """
    # Lightning's own notices say nothing that `Curves` does not say better.
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    with threads_of(config.threads):
        lightning.seed_everything(config.seed, workers=True, verbose=False)
        described = _described(found, prepared, target, config)
        best, n_epochs = _fit(found, prepared, described, target, config)
        prepared.decoded.forget()  # describing needs the room
        if is_first_process():
            describe_run(target, found.dataset)
    return _kept(best, n_epochs, target)


def _described(found: Survey, prepared: Prepared, target: Path, config: TrainConfig) -> RunData:
    """Describe the data, and hold it to what the run began with."""
    described = describe_data(found, prepared.dataset, config)
    if (target / DATA).exists():
        require_same_data(described, target)
    elif is_first_process():
        write_data(described, target)
    last = target / CHECKPOINTS / LAST
    if last.exists():
        require_resumable(config, described, last)
    return described


def _fit(
    found: Survey,
    prepared: Prepared,
    described: RunData,
    target: Path,
    config: TrainConfig,
) -> tuple[BestEpoch, int]:
    """Train by Lightning; return what kept the best epoch, and how many there were."""
    method, dataset = prepared.method, prepared.dataset
    warmup, schedule = method.warmup_epochs(config, dataset), method.schedule(config, dataset)
    data = RaterData(dataset, config, with_truth=method.with_truth, decoded=prepared.decoded)
    class_weight = None
    if config.class_weights == "balanced":
        class_weight = balanced_weights(data.training_cases, len(found.classes))
    module = RaterModule(
        build_network(config, described),
        config,
        warmup_epochs=warmup,
        schedule=schedule,
        class_weight=class_weight,
    )
    monitor = "val_nll" if data.held_out_cases else "train_nll"
    begins = 0 if method.warmup_competes else warmup
    best = BestEpoch(target / CHECKPOINTS, monitor, begins, _as_good(method, config))
    settings = Settings(config)
    callbacks: list[Callback] = [settings, *(make() for make in method.callbacks), best]
    if config.patience:
        callbacks.append(StopEarly(monitor, config.patience, begins))
    finds_unused = warmup > 0 or method.leaves_out
    trainer = _trainer(config, target, callbacks, sum(schedule), finds_unused=finds_unused)
    if method.begin is not None:
        method.begin(module.network, data, partial(plain_network, config, described))
    _start_others(trainer, config)
    last = target / CHECKPOINTS / LAST
    with restoring(last, settings):
        trainer.fit(module, data, ckpt_path=str(last) if last.exists() else None)
    return best, sum(schedule)


def _kept(best: BestEpoch, n_epochs: int, target: Path) -> Run:
    """Say which epoch was kept."""
    score = best.best_model_score
    epoch = read_checkpoint(target / CHECKPOINTS / BEST)["epoch"]
    kept = Run(target, int(epoch), float("nan") if score is None else float(score))
    said = f"epoch {kept.best_epoch + 1} of {n_epochs} was kept"
    say(said if score is None else f"{said}: {kept.best_nll:.4f} nats per label")
    return kept


def _as_good(method: Method, config: TrainConfig) -> float:
    """Return the share by which held-out likelihoods of epochs may differ and tell nothing.

    A network that learns by overlap, too, goes on getting better at it when the likelihood has
    come to rest: of such epochs the last is kept.
    """
    if method.keeps_last(config):
        return math.inf
    return max(method.as_good, jury.AS_GOOD if config.overlap_weight else 0.0)


def _trainer(
    config: TrainConfig,
    target: Path,
    callbacks: Sequence[Callback],
    epochs: int,
    *,
    finds_unused: bool,
) -> lightning.Trainer:
    # Lightning's own `save_last` skips the epochs that are not the best. Order matters: what the
    # last epoch keeps includes which one is best.
    last = ModelCheckpoint(
        target / CHECKPOINTS, "last", enable_version_counter=False, save_on_train_epoch_end=True
    )
    always = [HearSignals(), Curves(target / CURVES), StopWhenDiverged(target)]
    several = config.devices * config.num_nodes > 1
    wait = _LONGEST_WAIT if config.num_nodes == 1 else default_pg_timeout
    together = DDPStrategy(find_unused_parameters=finds_unused, timeout=wait)
    return lightning.Trainer(
        max_epochs=epochs,
        accelerator=config.accelerator,
        devices=config.devices,
        num_nodes=config.num_nodes,
        strategy=together if several else "auto",
        precision=config.precision,  # type: ignore[arg-type]
        callbacks=[*always, *callbacks, last],
        logger=TensorBoardLogger(target, name="tensorboard", version=""),
        enable_progress_bar=False,
        enable_model_summary=False,
        plugins=[Checkpoints()],
        use_distributed_sampler=False,
        num_sanity_val_steps=0,
        log_every_n_steps=1,
        deterministic=True,
    )


def _start_others(trainer: lightning.Trainer, config: TrainConfig) -> None:
    """Start the other processes of a run, unless it has none or a cluster has started them."""
    strategy = trainer.strategy
    if not isinstance(strategy, DDPStrategy) or strategy.cluster_environment is None:
        return
    is_told = strategy.cluster_environment.creates_processes_externally
    if config.num_nodes > 1:
        if not is_told and "MASTER_ADDR" not in os.environ:
            raise InputError(
                Fault(
                    f"{config.num_nodes} machines, and nothing says which is the first",
                    expected="MASTER_ADDR, MASTER_PORT and NODE_RANK among the variables of each",
                    fix="set them, or train on one of the --nodes",
                )
            )
        say(f"waiting for the processes of {config.num_nodes} machines")
    if not is_told:
        start_others(config.devices, config.num_nodes)
