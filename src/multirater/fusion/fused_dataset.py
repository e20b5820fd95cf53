"""Fuse a whole data set into a folder: one label per case, and what is known of each rater.

The folder is itself a data set whose only rater is the fusion, so that everything that reads data
sets reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Any

from multirater.errors import Fault, InputError
from multirater.fuse.choice import choice_of, choose_method
from multirater.fuse.methods import ALWAYS_POOLED, NEEDS_SPACE, method_named, require_options
from multirater.fusion.case import CaseFuser
from multirater.fusion.class_dataset import ClassFuser, by_method, fuse_classes
from multirater.fusion.folder import FusedDataset, prepare, write_settings
from multirater.fusion.mask_dataset import fuse_masks, read_progress
from multirater.io.results.origin import write_origin
from multirater.io.survey import survey
from multirater.progress import say
from multirater.sanity import say_findings
from multirater.types import Dataset


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
        dataset: masks or class labels.
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
        fuser: fuses a case when `method` is none of this package's: a trained network, say.
        class_fuser: the same for class labels, all cases at once.

    Raises:
        InputError: with every fault of the data set; nothing is written then.
    """
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
    prepare(target, settings, resume=resume, overwrite=overwrite)
    found = survey(dataset, workers=workers)
    say_findings(found)
    if not any(case.labels for case in dataset):
        raise InputError(
            Fault("no case has a label", expected="labels to fuse; coarse drawings do not count")
        )
    target.mkdir(parents=True, exist_ok=True)
    write_settings(target, settings)
    write_origin(target, dataset.folder)
    try:
        if dataset.kind == "classes":
            plain = partial(by_method, method=method, options=options)
            done = fuse_classes(found, target, method, class_fuser or plain)
        else:
            done = fuse_masks(found, target, settings, workers, scheduler, fuser)
    except InputError:
        if not read_progress(target):
            # Nothing was fused: leave no folder in the way of the corrected command.
            rmtree(target)
        raise
    except KeyboardInterrupt:
        n_done = len(read_progress(target))
        say(f"stopped after {n_done} of {len(dataset)} cases; go on with --resume")
        raise
    write_settings(target, settings, done.findings)
    return replace(done, method=method, why=choice.why)
