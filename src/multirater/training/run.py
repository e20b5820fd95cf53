"""Train a network on a data set and keep everything in a run folder, see `run_folder`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from time import sleep
from typing import Literal

from multirater.io.case_files import folders_of
from multirater.io.new_folder import require_no_part
from multirater.io.results.layout import CHECKPOINTS, CONFIG, PLAN, fold_folder
from multirater.io.results.origin import write_origin
from multirater.io.survey import Survey, survey
from multirater.nn.rater_network import RaterNetwork
from multirater.progress import say
from multirater.sanity import say_findings
from multirater.training.clock import now
from multirater.training.config import TrainConfig, planned, settled
from multirater.training.description import describe_run
from multirater.training.ending import ends_when_told
from multirater.training.fitting import DECODED, Prepared, fit_network, prepare
from multirater.training.folds import train_folds
from multirater.training.memory import within_what_is_free
from multirater.training.methods import check_options
from multirater.training.orientation import turned, usual_orientation
from multirater.training.own_backbone import keep_backbone, trusting_code, with_backbone
from multirater.training.plan import Plan
from multirater.training.plan_files import followed_plan, write_plan
from multirater.training.planning import common_space, plan_for
from multirater.training.processes import end_with_first, is_first_process, is_started_by_first
from multirater.training.rehearsal import Stage, rehearsed
from multirater.training.resumable import require_settled
from multirater.training.run_data import describe_data, require_same_cases, write_digests
from multirater.training.run_folder import (
    Run,
    build_network,
    read_config,
    write_config,
    write_data,
)
from multirater.training.run_path import require_run
from multirater.training.run_writer import begin, leave, require_new, require_no_links, run_writer
from multirater.training.setting_check import require_devices
from multirater.training.witness import NoNumbersError
from multirater.types import Dataset

LESS_MEMORY = "give a smaller --memory, --patch or --batch-size"

_SECONDS_BETWEEN_LOOKS = 0.2


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
    require_no_part(target, folders_of(dataset))
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
    asked = replace(asked, orientation=asked.orientation or usual_orientation(dataset))
    found = survey(turned(dataset, asked.orientation), workers=1, with_images=True)
    found.require_labels(or_truth=asked.method in ("truth", "oracle"))
    if is_started_by_first():
        return _join(dataset, found, target)
    config, followed = _decided(found, asked, plan)
    if is_first:
        say_findings(found)
        begin(target)
        write_origin(target, dataset.folder)
        write_digests(found, target)
    try:
        prepared = prepare(found, target, config)
        config = _rehearsed(found, prepared, config, asked, started)
        if is_first:
            if followed is not None:
                write_plan(followed_plan(followed, config), target / PLAN)
            write_config(keep_backbone(config, target), target)
        with trusting_code():  # whoever trains has given it
            return _fit_all(dataset, found, prepared, target, config)
    except BaseException as error:
        if is_first:
            leave(target, is_lost=isinstance(error, NoNumbersError))
        raise


def _join(dataset: Dataset, found: Survey, target: Path) -> Run:
    """Train with the first process, by what it has decided: its rehearsal is its own."""
    while not (target / CONFIG).is_file():
        sleep(_SECONDS_BETWEEN_LOOKS)
    with trusting_code():
        config = with_backbone(read_config(target), target)
        prepared = prepare(found, target, config)
        return _fit_all(dataset, found, prepared, target, config)


def _fit_all(
    dataset: Dataset, found: Survey, prepared: Prepared, target: Path, config: TrainConfig
) -> Run:
    if config.folds == 1:
        return fit_network(found, prepared, target, config)
    return _folds(dataset, found, prepared, target, config)


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
    found: Survey, prepared: Prepared, config: TrainConfig, asked: TrainConfig, started: float
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
    require_no_links(target)
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
    found = survey(turned(dataset, config.orientation), workers=1, with_images=True)
    require_same_cases(found, target)
    prepared = prepare(found, target, config)
    if config.folds == 1 or _is_fold(target, config):
        return fit_network(found, prepared, target, config)
    return _folds(dataset, found, prepared, target, config)


def _is_fold(target: Path, config: TrainConfig) -> bool:
    """Whether a run is one fold of another, which has the same settings but no network itself."""
    whole = target.resolve().parent
    is_within = target.resolve() == fold_folder(whole, config.fold) and (whole / CONFIG).is_file()
    return is_within or (target / CHECKPOINTS).exists()


def _folds(
    dataset: Dataset, found: Survey, prepared: Prepared, target: Path, config: TrainConfig
) -> Run:
    """Train all folds, or those that are left, and describe what they say together.

    Cases are predicted as they were given, on their own grids.
    """
    described = describe_data(found, prepared.dataset, config)
    if is_first_process():
        write_data(described, target)

    def fit(folder: Path, own: TrainConfig) -> Run:
        if is_first_process() and not (folder / CONFIG).exists():
            folder.mkdir(parents=True, exist_ok=True)
            write_config(keep_backbone(own, folder), folder)
            write_origin(folder, found.dataset.folder)
        return fit_network(found, prepared, folder, own)

    runs = train_folds(dataset, target, config, described.as_classes(), fit)
    if is_first_process():
        describe_run(target, found.dataset)
    best = min(runs, key=lambda run: run.best_nll)
    return Run(target, best.best_epoch, sum(run.best_nll for run in runs) / len(runs))
