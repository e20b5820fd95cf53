"""Train a network on a data set and keep everything in a run folder, see `run_folder`."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from shutil import rmtree
from time import sleep
from typing import Literal

import lightning
from lightning.pytorch.callbacks import Callback, ModelCheckpoint
from lightning.pytorch.loggers import TensorBoardLogger
from lightning.pytorch.strategies import DDPStrategy
from torch.distributed.constants import default_pg_timeout

from multirater.errors import Fault, InputError
from multirater.io.results.layout import (
    BEST,
    CHECKPOINTS,
    CONFIG,
    CURVES,
    DATA,
    LAST,
    PLAN,
    fold_folder,
)
from multirater.io.results.origin import write_origin
from multirater.io.survey import Survey, survey
from multirater.nn.rater_network import RaterNetwork
from multirater.progress import say
from multirater.sanity import say_findings
from multirater.training import jury
from multirater.training.callbacks import BestEpoch, Curves, StopEarly, StopWhenDiverged
from multirater.training.checkpoints import Checkpoints, read_checkpoint
from multirater.training.class_balance import balanced_weights
from multirater.training.clock import now
from multirater.training.config import TrainConfig, planned, settled
from multirater.training.data import RaterData, decoded_cases
from multirater.training.description import describe_run
from multirater.training.ending import HearSignals, ends_when_told
from multirater.training.folds import train_folds
from multirater.training.gold_targets import held_to_gold
from multirater.training.memory import within_what_is_free
from multirater.training.methods import Method, check_options, prepared, training_method
from multirater.training.module import RaterModule
from multirater.training.own_backbone import keep_backbone, trusting_code, with_backbone
from multirater.training.plan import Plan
from multirater.training.plan_files import followed_plan, write_plan
from multirater.training.planning import common_space, plan_for
from multirater.training.processes import (
    end_with_first,
    is_first_process,
    is_started_by_first,
    start_others,
)
from multirater.training.rehearsal import Stage, rehearsed, threads_of
from multirater.training.resumable import Settings, require_resumable, require_settled, restoring
from multirater.training.run_data import (
    describe_data,
    require_same_cases,
    require_same_data,
    write_digests,
)
from multirater.training.run_folder import (
    Run,
    build_network,
    plain_network,
    read_config,
    require_run,
    write_config,
    write_data,
)
from multirater.training.run_writer import begin, leave, require_new, run_writer
from multirater.training.samples import SampleCache
from multirater.training.setting_check import require_devices
from multirater.types import Dataset

LESS_MEMORY = "give a smaller --memory, --patch or --batch-size"

DECODED = "decoded"
"""Decoded cases that memory has no room for, while a run works."""

_SECONDS_BETWEEN_LOOKS = 0.2

_LONGEST_WAIT = timedelta(days=1)
"""That processes of one machine wait for the first, which alone describes and predicts."""


def train(
    dataset: Dataset,
    folder: str | Path,
    config: TrainConfig | Plan | None = None,
    *,
    plan: Plan | Literal["made"] | None = None,
) -> Run:
    """Train on a data set, from the start.

    A plan is made for the study and fills in what the settings leave out. Settings that say how
    many epochs are a recipe of one's own: no plan is made, unless one is given.

    Args:
        dataset: images with the labels of several raters. The cases of the split `train` (all,
            when there are no splits) are trained on; `val` or a random share is held out.
        folder: run folder to make.
        config: settings, or a plan.
        plan: of the study (see `multirater.plan`); made when not given. With `made` it is made even
            where settings say how many epochs.

    Raises:
        InputError: with every fault of the data set.
    """
    if isinstance(config, Plan):
        config, plan = None, config
    target, asked = Path(folder), config or TrainConfig()
    check_options(asked, dataset.kind)
    require_devices(asked)
    with _writing(target):
        if is_first_process():
            require_new(target)
        with _ended_by_signals(target):
            return _begin(dataset, target, asked, plan)


@contextmanager
def _writing(target: Path) -> Iterator[None]:
    """Hold the right to write a run, which the first of its processes has; others end with it."""
    is_first = is_first_process()
    if not is_first:
        end_with_first()
    with (
        within_what_is_free(LESS_MEMORY, target),
        run_writer(target) if is_first else nullcontext(),
    ):
        try:
            yield
        finally:
            if is_first:
                rmtree(target / DECODED, ignore_errors=True)


def _ended_by_signals(target: Path) -> AbstractContextManager[None]:
    """End a run when it is told to; the first process does so for all."""

    def last_words() -> None:
        leave(target)
        rmtree(target / DECODED, ignore_errors=True)

    return ends_when_told(last_words) if is_first_process() else nullcontext()


def _begin(
    dataset: Dataset, target: Path, asked: TrainConfig, plan: Plan | Literal["made"] | None
) -> Run:
    started, is_first = now(), is_first_process()
    found = survey(dataset, workers=1, with_images=True)
    found.require_labels()
    if is_started_by_first():
        return _join(found, target)
    config, followed = _decided(found, asked, plan)
    if is_first:
        say_findings(found)
        begin(target)
        write_origin(target, dataset.folder)
        write_digests(found, target)
    try:
        prepared = _prepared(found, target, config)
        config = _rehearsed(found, prepared, config, asked, started)
        if is_first:
            if followed is not None:
                write_plan(followed_plan(followed, config), target / PLAN)
            write_config(keep_backbone(config, target), target)
        with trusting_code():  # whoever trains has given it
            train_all = _fit if config.folds == 1 else _folds
            return train_all(found, prepared, target, config)
    except BaseException:
        if is_first:
            leave(target)
        raise


def _join(found: Survey, target: Path) -> Run:
    """Train with the first process, by what it has decided: its rehearsal is its own."""
    while not (target / CONFIG).is_file():
        sleep(_SECONDS_BETWEEN_LOOKS)
    with trusting_code():
        config = with_backbone(read_config(target), target)
        prepared = _prepared(found, target, config)
        return (_fit if config.folds == 1 else _folds)(found, prepared, target, config)


@dataclass(frozen=True, eq=False)
class _Prepared:
    """A study as its method trains on it: the method, the data set, and what reads its cases."""

    method: Method
    dataset: Dataset
    decoded: SampleCache


def _prepared(found: Survey, target: Path, config: TrainConfig) -> _Prepared:
    method = training_method(config.method, found.dataset.kind)
    dataset = held_to_gold(prepared(found.dataset, config))
    folder = target / DECODED
    decoded = decoded_cases(dataset, config, with_truth=method.with_truth, folder=folder)
    return _Prepared(method, dataset, decoded)


def _decided(
    found: Survey, asked: TrainConfig, given: Plan | Literal["made"] | None
) -> tuple[TrainConfig, Plan | None]:
    """Settle what the user left open, by a plan unless the settings are a recipe of their own."""
    plan = plan_for(found, asked, given)
    config = asked if plan is None else planned(asked, plan)
    if found.dataset.kind == "classes" and not config.space:
        config = replace(config, space=common_space(found))
    if plan is not None and plan.reasons:
        say(f"plan:\n{plan.as_text()}")
    return settled(config, found.dataset.kind, len(found.dataset)), plan


def _rehearsed(
    found: Survey, prepared: _Prepared, config: TrainConfig, asked: TrainConfig, started: float
) -> TrainConfig:
    """Make sure of memory and time by a real step."""
    if found.dataset.kind == "classes" and config.time is None:
        return config
    method = prepared.method

    def build(each: TrainConfig) -> RaterNetwork:
        return build_network(each, describe_data(found, prepared.dataset, each))

    def epochs(each: TrainConfig) -> int:
        # What comes before the network, such as judging raters, costs a training on all cases.
        return sum(method.schedule(each, prepared.dataset)) + (
            each.epochs if method.begin is not None else 0
        )

    stage = Stage(
        prepared.dataset, prepared.decoded, build, method.with_truth, epochs, method.n_looks
    )
    return rehearsed(stage, config, asked=asked, largest=_largest(found, config), started=started)


def _largest(found: Survey, config: TrainConfig) -> tuple[int, ...]:
    sizes = [case.image_space for case in found.cases if case.n_channels]
    first = 1 if config.view == "slices" else 0
    return tuple(map(max, zip(*(size[first:] for size in sizes), strict=False)))


def resume(dataset: Dataset, folder: str | Path, *, trust_code: bool = False) -> Run:
    """Go on with a run that was interrupted, from its last finished epoch.

    Args:
        dataset: that the run began with.
        folder: of the run.
        trust_code: whether the run may bring a backbone of its own, which is code that is run.
    """
    target = Path(folder)
    require_run(target)
    with trusting_code(trust_code), _writing(target):
        try:
            with _ended_by_signals(target):
                return _go_on(dataset, target)
        except (KeyboardInterrupt, SystemExit):
            if is_first_process():
                leave(target)
            raise


def _go_on(dataset: Dataset, target: Path) -> Run:
    config = with_backbone(read_config(target), target)
    check_options(config, dataset.kind)
    require_settled(config, dataset.kind, target)
    require_devices(config)
    found = survey(dataset, workers=1, with_images=True)
    require_same_cases(found, target)
    prepared = _prepared(found, target, config)
    is_one = config.folds == 1 or not fold_folder(target, 0).exists()
    return (_fit if is_one else _folds)(found, prepared, target, config)


def _folds(found: Survey, prepared: _Prepared, target: Path, config: TrainConfig) -> Run:
    """Train all folds, or those that are left, and describe what they say together."""
    described = describe_data(found, prepared.dataset, config)
    if is_first_process():
        write_data(described, target)

    def fit(folder: Path, own: TrainConfig) -> Run:
        if is_first_process() and not (folder / CONFIG).exists():
            folder.mkdir(parents=True, exist_ok=True)
            write_config(keep_backbone(own, folder), folder)
            write_origin(folder, found.dataset.folder)
        return _fit(found, prepared, folder, own)

    runs = train_folds(found.dataset, target, config, described.as_classes(), fit)
    if is_first_process():
        describe_run(target, found.dataset)
    best = min(runs, key=lambda run: run.best_nll)
    return Run(target, best.best_epoch, sum(run.best_nll for run in runs) / len(runs))


def _fit(found: Survey, prepared: _Prepared, target: Path, config: TrainConfig) -> Run:
    with threads_of(config.threads):
        return _fit_within(found, prepared, target, config)


def _fit_within(found: Survey, prepared: _Prepared, target: Path, config: TrainConfig) -> Run:
    # Lightning's own notices say nothing that `Curves` does not say better.
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    lightning.seed_everything(config.seed, workers=True, verbose=False)
    method, dataset = prepared.method, prepared.dataset
    described = describe_data(found, dataset, config)
    if (target / DATA).exists():
        require_same_data(described, target)
    elif is_first_process():
        write_data(described, target)
    warmup, schedule = method.warmup_epochs(config, dataset), method.schedule(config, dataset)
    data = RaterData(dataset, config, with_truth=method.with_truth, decoded=prepared.decoded)
    class_weight = None
    if config.class_weights == "balanced":
        class_weight = balanced_weights(data.training_cases, len(found.classes))
    last = target / CHECKPOINTS / LAST
    if last.exists():
        require_resumable(config, described, last)
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
    trainer = _trainer(
        config,
        target,
        callbacks,
        epochs=sum(schedule),
        finds_unused=warmup > 0 or method.leaves_out,
    )
    if method.begin is not None:
        method.begin(module.network, data, partial(plain_network, config, described))
    _start_others(trainer, config)
    with restoring(last, settings):
        trainer.fit(module, data, ckpt_path=str(last) if last.exists() else None)
    prepared.decoded.forget()  # describing needs the room
    if is_first_process():
        describe_run(target, found.dataset)
    score = best.best_model_score
    epoch = read_checkpoint(target / CHECKPOINTS / BEST)["epoch"]
    kept = Run(target, int(epoch), float("nan") if score is None else float(score))
    said = f"epoch {kept.best_epoch + 1} of {trainer.max_epochs} was kept"
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
    *,
    epochs: int,
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
