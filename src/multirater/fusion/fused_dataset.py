"""Fuse a whole data set into a folder: one label per case, and what is known of each rater.

The folder is itself a data set whose only rater is the fusion, so that everything that reads data
sets reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from multirater.errors import Fault, InputError
from multirater.fuse.choice import choice_of, choose_method
from multirater.fuse.methods import ALWAYS_POOLED, NEEDS_SPACE, method_named, require_options
from multirater.fusion.case import CaseFuser
from multirater.fusion.class_dataset import ClassFuser, by_method, fuse_classes
from multirater.fusion.folder import (
    FusedDataset,
    fusion_folder,
    has_progress,
    write_settings,
)
from multirater.fusion.mask_dataset import fuse_masks, read_progress
from multirater.io.case_files import folders_of
from multirater.io.results.layout import FUSION
from multirater.io.results.origin import write_origin
from multirater.io.results.statements import read_json
from multirater.io.survey import Survey, survey
from multirater.progress import say, say_how_to_go_on
from multirater.sanity import say_findings
from multirater.types import Dataset
from multirater.words import counted, listed


def fuse_dataset(
    dataset: Dataset,
    folder: str | Path,
    *,
    method: str | None = None,
    pooled: bool = False,
    probability: bool = False,
    options: Mapping[str, Any] | None = None,
    workers: int = 1,
    scheduler: str | None = None,
    resume: bool = False,
    overwrite: bool = False,
    fuser: CaseFuser | None = None,
    class_fuser: ClassFuser | None = None,
) -> FusedDataset:
    """Fuse the labels of every case and write the result into a folder.

    Args:
        dataset: masks or class labels; gold labels (`with_gold`) stand, and raters are learned
            from them.
        folder: target.
        method: a name from `fuse.methods.METHODS`; when not given, what fits the labels at hand,
            see `choose_method`.
        pooled: estimate the raters once, from all cases; per case when not set. Class labels and
            the weighted vote are always pooled.
        probability: also write class probabilities.
        options: keyword arguments of the method.
        workers: number of processes.
        scheduler: address of a Dask scheduler to fuse the cases on.
        resume: go on with a run that was interrupted.
        overwrite: replace an earlier fusion.
        fuser: fuses a case when `method` is none of this package's: a trained network, say, which
            looks at images, too.
        class_fuser: the same for class labels, all cases at once.

    Raises:
        InputError: with every fault of the data set; nothing is written then.
    """
    if resume and overwrite:
        raise InputError(
            Fault(
                "asked to go on with a fusion and to replace it",
                fix="leave --resume or --overwrite out",
            )
        )
    choice = choice_of(method, options, choose_method(dataset))
    method, options = choice.method, choice.options
    if fuser is None and class_fuser is None:
        method_named(method)
        require_options(method, options)
    if pooled and method in NEEDS_SPACE:
        raise InputError(
            Fault(f"{method} cannot be pooled: it uses where pixels lie", fix="leave --pooled out")
        )
    target = Path(folder)
    settings = {
        "method": method,
        "pooled": pooled or method in ALWAYS_POOLED,
        "probability": probability,
        "options": dict(options),
        "why": choice.why,
    }
    decided = [case for case in dataset if case.gold is not None]
    if decided:
        settings["gold"] = sum(bool(case.labels) for case in decided)
        _say_left_out([case.name for case in decided if not case.labels])
    inputs = folders_of(dataset)
    with fusion_folder(target, settings, inputs, resume=resume, overwrite=overwrite) as part:
        found = survey(dataset, workers=workers, with_images=fuser is not None)
        say_findings(found)
        if not any(case.labels for case in dataset):
            raise InputError(
                Fault(
                    "no case has a label", expected="labels to fuse; coarse drawings do not count"
                )
            )
        found.require_labels()
        if resume:
            _require_finished_of(target, found)
        _require_same_labels(part, found, pooled=bool(settings["pooled"]))
        write_settings(part, {**settings, "labels": found.digest})
        write_origin(part, dataset.folder)
        try:
            if dataset.kind == "classes":
                plain = partial(by_method, method=method, options=options)
                done = fuse_classes(found, part, method, class_fuser or plain)
            else:
                done = fuse_masks(found, part, settings, workers, scheduler, fuser)
        except (KeyboardInterrupt, SystemExit):
            n_done = len(read_progress(part))
            say_how_to_go_on(f"stopped after {n_done} of {len(dataset)} cases; go on with --resume")
            raise
        write_settings(part, {**settings, "labels": found.digest}, done.findings)
    done = replace(done, folder=target)
    return replace(done, method=method, why=choice.why)


def _say_left_out(decided: Sequence[str]) -> None:
    """Tell cases that an expert decided and no rater labelled: there is nothing to fuse."""
    if decided:
        say(
            f"gold labels of {counted(len(decided), 'case')} without any label of a rater are "
            f"left out: {listed(decided)}"
        )


def _require_finished_of(target: Path, found: Survey) -> None:
    """Refuse a finished fusion of labels that have changed since: it would be lost."""
    path = target / FUSION
    before = read_json(path).get("labels") if path.is_file() else None
    if before is not None and before != found.digest:
        raise InputError(
            Fault(
                "labels have changed since they were fused",
                expected="the labels that the fusion is of",
                fix="choose another folder, or --overwrite",
                file=str(target),
            )
        )


def _require_same_labels(part: Path, found: Survey, *, pooled: bool) -> None:
    """Refuse to go on with pooled raters of other labels: every case depends on all of them."""
    before = read_json(part / FUSION).get("labels")
    if pooled and has_progress(part) and before != found.digest:
        raise InputError(
            Fault(
                "labels have changed since the fusion began, and it looks at all of them at once",
                fix="start again, without --resume",
            )
        )
