"""Fuse a table of answers that may be larger than memory: from Parquet, in parts, to Parquet.

The parts can be worked on in threads or on a Dask cluster whose workers see the target folder. What
comes out is the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
import pandas as pd

from multirater.errors import Fault, InputError
from multirater.fuse.choice import Choice, choice_for, choice_of
from multirater.fuse.dawid_skene import FreeMatrices
from multirater.fuse.em import RaterFit, Stopping, estimate
from multirater.fuse.fitting import Prior, class_prior
from multirater.fuse.identifiability import assess_counts, outvoted_share, swapped_prior
from multirater.fuse.methods import require_options
from multirater.fuse.quality import (
    LONG_ENOUGH,
    consensus_model,
    quality_of_answers,
    with_quality,
)
from multirater.fuse.rater_table import MOST_IN_TABLE, rater_table_of_tasks
from multirater.fuse.result import unfinished
from multirater.fusion.answer_parts import AnswerParts, Encoded, encode_part
from multirater.fusion.company import judged_estimates
from multirater.fusion.folder import FusedDataset, fusion_folder, write_settings
from multirater.fusion.parquet_answers import Scattered, scatter
from multirater.fusion.parquet_cases import case_tables, write_cases
from multirater.io.results.origin import write_origin
from multirater.io.results.statements import write_dataset_of, write_rater_table
from multirater.io.tables.classes import FILE_NAME, names_in_order, write_classes
from multirater.parallel import Apply, many_times
from multirater.progress import say, track
from multirater.trust import Finding
from multirater.types import Classes, LabelClass
from multirater.words import counted

METHOD = "dawid-skene"

_ANSWERS_PER_PART = 1 << 22
_MOST_CELLS = 1 << 27
"""Entries of all confusion matrices: a gigabyte."""

_AS_DATASET = 200_000
"""Tasks up to which the folder is a data set too, by tables of text."""

_SCRATCH = "scratch"


def fuse_large_table(
    path: Path,
    folder: Path,
    *,
    method: str | None = None,
    options: Mapping[str, Any] | None = None,
    workers: int = 1,
    scheduler: str | None = None,
    overwrite: bool = False,
    answers_per_part: int = _ANSWERS_PER_PART,
) -> FusedDataset:
    """Fuse a Parquet file with the columns task, rater and label by Dawid-Skene.

    Args:
        path: the table.
        folder: target. It gets `cases.parquet` (case, label, probabilities), `raters.csv`,
            `classes.csv` and `fusion.json`; up to 200 000 tasks also what makes it a data set.
        method: `dawid-skene`; without one it is taken as for any table of answers.
        options: keyword arguments of the method.
        workers: threads to work in.
        scheduler: address of a Dask scheduler to work on instead; its workers must see the target.
        overwrite: replace an earlier fusion.
        answers_per_part: how many answers are worked on at a time, about.
    """
    if method not in (None, METHOD):
        raise InputError(
            Fault(
                f"{method} works on answers in memory, and these are fused in parts",
                expected=METHOD,
                fix=f"--method {METHOD}, or a smaller table",
                file=str(path),
            )
        )
    require_options(METHOD, options or {})
    settings: dict[str, Any] = {"method": METHOD, "options": dict(options or {}), "why": ""}
    with (
        fusion_folder(folder, settings, [path], resume=False, overwrite=overwrite) as part,
        many_times(threads=workers, scheduler=scheduler) as apply,
    ):
        scratch = part / _SCRATCH
        say(f"sorting the answers of {path} into parts")
        read = scatter(path, scratch, answers_per_part)
        problem = _encoded(read, scratch, apply, path)
        per_task = problem.answers_per_task
        n_raters, n_classes = len(problem.raters), problem.parts.n_classes
        chosen = choice_for(False, per_task, n_raters, n_classes=n_classes)
        choice = choice_of(method, options, chosen)
        if choice.method != METHOD:
            choice = Choice(METHOD, "", dict(options or {}))
        settings |= {"options": dict(choice.options), "why": choice.why}
        done = _fused(problem, choice, part)
        rmtree(scratch)
        write_origin(part, path)
        write_settings(part, settings, done.findings)
    return replace(done, folder=folder)


@dataclass(frozen=True, eq=False)
class _Problem:
    """Answers in parts, with names; `n_rows` of the file."""

    parts: AnswerParts
    raters: tuple[str, ...]
    classes: tuple[str, ...]
    n_tasks: int
    n_rows: int
    answers_per_task: int


def _encoded(read: Scattered, scratch: Path, apply: Apply, path: Path) -> _Problem:
    classes = tuple(names_in_order(read.labels))
    n_raters, n_classes = len(read.raters), len(classes)
    if n_classes < 1:
        raise InputError(Fault("no row has a label", file=str(path)))
    if n_raters * n_classes**2 > _MOST_CELLS:
        raise InputError(
            Fault(
                f"{n_raters} raters and {n_classes} classes: their matrices have "
                f"{n_raters * n_classes**2:.1e} entries",
                expected=f"at most {_MOST_CELLS:.1e}",
                fix="look whether the columns are what they are called",
                file=str(path),
            )
        )
    place = {name: number for number, name in enumerate(classes)}
    codes = np.array([place[name] for name in read.labels], dtype=np.int32)
    work = partial(encode_part, code_of_label=codes, n_raters=n_raters)
    found = list(track(apply(work, read.parts), "laying out parts", len(read.parts)))
    _require_once(found, read, path)
    by_column = np.sum([each.by_column for each in found], axis=0)
    parts = AnswerParts(read.parts, n_raters, n_classes, by_column, scratch, apply)
    n_tasks = sum(each.n_tasks for each in found)
    return _Problem(parts, read.raters, classes, n_tasks, read.n_answers, _median(found))


def _median(found: list[Encoded]) -> int:
    """Answers of most tasks, from how many tasks have how many of them."""
    most = max(len(each.n_answers) for each in found)
    tasks = sum(np.pad(each.n_answers, (0, most - len(each.n_answers))) for each in found)
    return int(np.searchsorted(np.cumsum(tasks), np.sum(tasks) / 2))


def _require_once(found: list[Encoded], read: Scattered, path: Path) -> None:
    again = [each.repeated for each in found if each.repeated.number]
    if again:
        first = min(again, key=lambda each: each.row)
        raise InputError(
            Fault(
                f"{counted(sum(each.number for each in again), 'answer')} given twice, first by "
                f"{read.raters[first.rater]} to {first.task}, row {first.row + 1}",
                expected="one answer of a rater to a task",
                fix="keep the answer that counts; if several people go by one name, tell them "
                "apart",
                file=str(path),
            )
        )


def _fused(problem: _Problem, choice: Choice, folder: Path) -> FusedDataset:
    parts = problem.parts
    found = _estimate(parts, **choice.options)
    say(f"{METHOD}: {counted(len(found.log_likelihood), 'step')}")
    parts.write_posteriors(found)
    described = rater_table_of_tasks(
        found.counts,
        problem.raters,
        problem.classes,
        with_matrix=len(problem.classes) <= MOST_IN_TABLE,
    )
    quality = quality_of_answers(*parts.alike(_consensus(parts, found, choice)), problem.raters)
    raters = with_quality(judged_estimates(described, quality), quality)
    write_cases(folder, parts.parts, problem.classes, problem.n_rows)
    classes = Classes(tuple(LabelClass(name) for name in problem.classes))
    cases = pd.DataFrame()
    if problem.n_tasks <= _AS_DATASET:
        cases, rows = case_tables(folder, METHOD)
        write_dataset_of(folder, raters, cases, rows, classes)
    else:
        write_rater_table(folder, raters)
        write_classes(classes, folder / FILE_NAME)
    return FusedDataset(folder, raters, cases, _findings(problem, found), METHOD, choice.why)


def _estimate(
    parts: AnswerParts,
    *,
    prior: Prior = "estimated",
    dirichlet: float = 0.0,
    max_iter: int = 1000,
    tol: float = 1e-7,
) -> RaterFit:
    estimated = isinstance(prior, str) and prior == "estimated"
    return estimate(
        parts,
        FreeMatrices(dirichlet),
        prior=class_prior(prior, parts),
        estimate_prior=estimated,
        stopping=Stopping(max_iter, tol),
    )


def _consensus(parts: AnswerParts, found: RaterFit, choice: Choice) -> RaterFit:
    """Return the estimate that quality is measured by; the one at hand where it is the same."""
    model = consensus_model(parts.n_classes)
    as_chosen = choice.options == {"dirichlet": model.dirichlet}
    if as_chosen and len(found.log_likelihood) <= LONG_ENOUGH.max_iter:
        return found
    prior = parts.class_frequency()
    return estimate(parts, model, prior=prior, estimate_prior=True, stopping=LONG_ENOUGH)


def _findings(problem: _Problem, found: RaterFit) -> tuple[Finding, ...]:
    parts = problem.parts

    def swap_drop(pair: tuple[int, int]) -> float:
        exchanged = swapped_prior(found.prior, pair)
        as_found, other = parts.log_likelihoods(found.cm, found.prior, exchanged)
        return as_found - other

    report = assess_counts(
        found.cm,
        found.counts,
        problem.raters,
        problem.classes,
        swap_drop=swap_drop,
        outvoted=lambda k: outvoted_share(parts.outvoted(found, k)),
    )
    n_steps = len(found.log_likelihood)
    stopped = () if found.converged else (unfinished(METHOD, n_steps),)
    return (*stopped, *report.findings())
