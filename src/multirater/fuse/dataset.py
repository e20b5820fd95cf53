"""Fuse a whole data set into a folder: one label per case, and what is known of each rater.

The folder is itself a data set whose only rater is the fusion, so that everything that reads data
sets reads it. An interrupted run goes on where it stopped: finished cases are lines of
`progress.jsonl`, which disappears when the folder is complete.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from shutil import rmtree
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater import __version__
from multirater.errors import Fault, InputError
from multirater.fuse.case import CaseFuser, CaseJob, CaseRecord, PooledFit, fuse_case
from multirater.fuse.class_tables import write_class_tables
from multirater.fuse.methods import NEEDS_SPACE, method_named, require_options
from multirater.fuse.rater_table import rater_table, rater_table_of_tasks
from multirater.fuse.result import FusionResult
from multirater.io import classes as classes_file
from multirater.io import manifest
from multirater.io.atomic import replacing
from multirater.io.manifest import Row, cell_of
from multirater.io.naming import file_names
from multirater.io.origin import write_origin
from multirater.io.survey import Survey, survey
from multirater.parallel import map_parallel
from multirater.progress import say
from multirater.types import MISSING, Case, Classes, Dataset

PROGRESS = "progress.jsonl"
SETTINGS = "fusion.json"


@dataclass(frozen=True, eq=False)
class FusedClasses:
    """Class labels of many cases, fused.

    Attributes:
        label: (n_cases,).
        probability: (n_classes, n_cases).
        counts: expected answers (n_raters, true, observed).
        messages: what speaks against the result.
    """

    label: NDArray[np.int16]
    probability: NDArray[np.floating[Any]]
    counts: NDArray[np.float64]
    messages: tuple[str, ...] = ()


ClassFuser: TypeAlias = Callable[[Sequence[Case], NDArray[np.int64], Survey], FusedClasses]
"""Fuses the class labels (n_raters, n_cases) of cases."""


@dataclass(frozen=True, eq=False)
class FusedDataset:
    """A fusion on disk.

    Attributes:
        folder: holds `labels/`, `raters.csv`, `cases.csv`, `manifest.csv`, `fusion.json` and, when
            asked for, `probability/`.
        raters: the content of `raters.csv`.
        cases: the content of `cases.csv`.
        messages: what speaks against the result, most frequent first.
    """

    folder: Path
    raters: pd.DataFrame
    cases: pd.DataFrame
    messages: tuple[str, ...]


def fuse_dataset(
    dataset: Dataset,
    folder: str | Path,
    *,
    method: str = "staple",
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
        method: a name from `fuse.methods.METHODS`.
        pooled: estimate the raters once, from all cases; per case when not set. Class labels are
            always pooled.
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
    if fuser is None and class_fuser is None:
        method_named(method)
        require_options(method, options or {})
    if pooled and method in NEEDS_SPACE:
        raise InputError(
            Fault(f"{method} cannot be pooled: it uses where pixels lie", fix="leave --pooled out")
        )
    target = Path(folder)
    settings = {
        "method": method,
        "pooled": pooled,
        "probability": probability,
        "options": dict(options or {}),
    }
    _prepare(target, settings, resume=resume, overwrite=overwrite)
    found = survey(dataset, workers=workers)
    if not any(case.labels for case in dataset):
        raise InputError(Fault("no case has a label", expected="labels to fuse"))
    target.mkdir(parents=True, exist_ok=True)
    write_settings(target, settings)
    write_origin(target, dataset.folder)
    try:
        if dataset.kind == "classes":
            by_method = partial(_by_method, method=method, options=options or {})
            done = _fuse_classes(found, target, method, class_fuser or by_method)
        else:
            done = _fuse_masks(found, target, settings, workers, scheduler, fuser)
    except InputError:
        if not _read_progress(target):
            # Nothing was fused: leave no folder in the way of the corrected command.
            rmtree(target)
        raise
    except KeyboardInterrupt:
        n_done = len(_read_progress(target))
        say(f"stopped after {n_done} of {len(dataset)} cases; go on with --resume")
        raise
    write_settings(target, settings, done.messages)
    return done


def _prepare(target: Path, settings: Mapping[str, Any], *, resume: bool, overwrite: bool) -> None:
    """Make sure that nothing is lost: start in an empty folder, go on, or replace a fusion."""
    if not target.exists() or not any(target.iterdir()):
        return
    if not (target / SETTINGS).is_file():
        raise InputError(
            Fault(
                "exists and is not a fusion, so nothing is written there",
                fix="choose another folder",
                file=str(target),
            )
        )
    if overwrite:
        rmtree(target)
        return
    if not resume:
        raise InputError(
            Fault(
                "already exists",
                fix="choose another folder, --resume an interrupted run, or --overwrite",
                file=str(target),
            )
        )
    before = json.loads((target / SETTINGS).read_text(encoding="utf-8"))
    changed = [key for key, value in settings.items() if before.get(key) != value]
    if changed:
        raise InputError(
            Fault(
                f"was begun with {changed[0]} = {before.get(changed[0])!r}",
                expected=f"{settings[changed[0]]!r}",
                fix="resume with the same settings, or --overwrite",
                file=str(target),
            )
        )


def _fuse_masks(
    found: Survey,
    target: Path,
    settings: Mapping[str, Any],
    workers: int,
    scheduler: str | None,
    fuser: CaseFuser | None,
) -> FusedDataset:
    dataset = found.dataset
    labelled = [case for case in dataset if case.labels]
    whole = _pooled_result(found, settings) if settings["pooled"] else None
    classes = _classes_for_files(found)
    job = CaseJob(
        method=settings["method"],
        options=settings["options"],
        raters=dataset.raters,
        classes=classes,
        folder=target.resolve(),
        file_names=file_names(case.name for case in dataset),
        write_probability=settings["probability"],
        pooled=None if whole is None else PooledFit(whole.cm, whole.prior),
        fuser=fuser,
    )
    done = _read_progress(target)
    left = [case for case in labelled if case.name not in done]
    with (target / PROGRESS).open("a", encoding="utf-8") as stream:
        results = map_parallel(
            partial(fuse_case, job=job), left, label="fusing", workers=workers, scheduler=scheduler
        )
        for record in results:
            stream.write(json.dumps(record.to_dict()) + "\n")
            stream.flush()
            done[record.case] = record
    records = [done[case.name] for case in labelled]
    return _finish(found, target, settings["method"], classes, records, whole)


def _pooled_result(found: Survey, settings: Mapping[str, Any]) -> FusionResult:
    """Estimate the raters from the patterns of all cases, without reading them again."""
    parts = [case for case in found.cases if len(case.rows)]
    # A pattern and how often it occurs say all that the methods use of an image.
    rows = np.concatenate([part.rows for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    return method_named(settings["method"])(
        rows.T,
        len(found.classes),
        raters=found.dataset.raters,
        classes=found.classes.names,
        weights=counts,
        **settings["options"],
    )


def _classes_for_files(found: Survey) -> Classes:
    """Write masks the way they came: 0 and 255 stay 0 and 255.

    Where some pixels were labelled by nobody, a value is declared that says so.
    """
    rules = {rule for case in found.cases for rule in case.rules}
    classes = found.classes
    if len(classes) == 2 and any("255 is foreground" in rule for rule in rules):
        background, foreground = classes.items
        items = (replace(background, value=0), replace(foreground, value=255))
        classes = Classes(items, classes.unlabelled)
    if classes.unlabelled is None and any(
        (case.rows == MISSING).all(1).any() for case in found.cases
    ):
        values = {i if item.value is None else item.value for i, item in enumerate(classes.items)}
        spare = next(value for value in range(255, -1, -1) if value not in values)
        classes = replace(classes, unlabelled=spare)
    return classes


def _read_progress(target: Path) -> dict[str, CaseRecord]:
    """Read the finished cases; a line cut off by an interruption does not count."""
    path = target / PROGRESS
    done: dict[str, CaseRecord] = {}
    if not path.exists():
        return done
    whole_lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in whole_lines if line.endswith(b"\n")]
    for line in kept:
        record = CaseRecord(**json.loads(line))
        if (target / record.label).exists():
            done[record.case] = record
    with replacing(path, overwrite=True) as temporary:
        temporary.write_bytes(b"".join(kept))
    return done


def _finish(
    found: Survey,
    target: Path,
    method: str,
    classes: Classes,
    records: list[CaseRecord],
    whole: FusionResult | None,
) -> FusedDataset:
    dataset = found.dataset
    counts = np.array([record.counts for record in records])
    judged = counts if whole is not None else np.where(_has_company(counts), counts, 0.0)
    raters = rater_table(judged, dataset.raters, classes.names)
    raters["labels"] = (counts.sum((2, 3)) > 0).sum(0)
    cases = pd.DataFrame(
        {
            "case": [record.case for record in records],
            "iterations": [record.n_iter for record in records],
            "converged": [record.converged for record in records],
            "ties": [record.n_ties for record in records],
            "warnings": [" | ".join(record.messages) for record in records],
        }
    ).set_index("case")
    messages = _ranked([message for record in records for message in record.messages])
    n_alone = int((~_has_company(counts)).sum())
    if n_alone and whole is None:
        messages = (
            f"{n_alone} cases were labelled by one rater: their label stands as it is, and they "
            "say nothing about the rater (--pooled learns from other cases)",
            *messages,
        )
    if whole is not None:
        messages = tuple(whole.identifiability.messages())
    by_name = {record.case: record for record in records}
    rows = [_row(case, by_name.get(case.name), method, target) for case in dataset]
    _write_tables(target, raters, cases, rows, classes)
    (target / PROGRESS).unlink(missing_ok=True)
    return FusedDataset(target, raters, cases, messages)


def _has_company(counts: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether a case was labelled by two raters or more, (n_cases, 1, 1, 1)."""
    n_raters = (counts.sum((2, 3)) > 0).sum(1)
    return np.asarray(n_raters >= 2)[:, None, None, None]


def _by_method(
    cases: Sequence[Case], answers: NDArray[np.int64], found: Survey, *, method: str, options: Any
) -> FusedClasses:
    """Fuse class labels by a method of this package."""
    if method in NEEDS_SPACE:
        raise InputError(Fault(f"{method} needs masks", expected="another method"))
    names = found.classes.names
    result = method_named(method)(
        answers, len(names), raters=found.dataset.raters, classes=names, **options
    )
    messages = tuple(result.identifiability.messages())
    return FusedClasses(result.label, result.probability, result.counts, messages)


def _fuse_classes(found: Survey, target: Path, method: str, fuser: ClassFuser) -> FusedDataset:
    """Fuse class labels: all cases at once, one row of the table each."""
    dataset, names = found.dataset, found.classes.names
    with_labels = [
        (case, part) for case, part in zip(dataset, found.cases, strict=True) if len(part.rows)
    ]
    answers = np.concatenate([part.rows for _, part in with_labels]).T
    result = fuser([case for case, _ in with_labels], answers, found)
    raters = rater_table_of_tasks(result.counts, dataset.raters, names)
    by_case = [case.name for case, _ in with_labels]
    cases = write_class_tables(
        target,
        dataset,
        found.classes,
        method,
        dict(zip(by_case, result.probability.T, strict=True)),
        raters,
        {case: int(k) for case, k in zip(by_case, result.label, strict=True)},
    )
    return FusedDataset(target, raters, cases, result.messages)


def _row(case: Case, record: CaseRecord | None, method: str, target: Path) -> Row:
    truth = cell_of(case.truth.paths, target) if case.truth is not None else ""
    return Row(
        case.name,
        _image_cell(case, target),
        method if record else "",
        record.label if record else "",
        truth,
        case.split,
    )


def _image_cell(case: Case, target: Path) -> str:
    return cell_of(case.image.paths, target) if case.image is not None else ""


def _ranked(messages: list[str]) -> tuple[str, ...]:
    counted = pd.Series(messages, dtype=object).value_counts()
    return tuple(f"{message} ({count} cases)" for message, count in counted.items())


def _write_tables(
    target: Path, raters: pd.DataFrame, cases: pd.DataFrame, rows: list[Row], classes: Classes
) -> None:
    for frame, name in ((raters, "raters.csv"), (cases, "cases.csv")):
        with replacing(target / name, overwrite=True) as temporary:
            frame.to_csv(temporary)
    classes_file.write_classes(classes, target / classes_file.FILE_NAME, overwrite=True)
    manifest.write_rows(rows, target / manifest.FILE_NAME, overwrite=True)


def write_settings(
    folder: Path, settings: Mapping[str, Any], notes: Sequence[str] | None = None
) -> None:
    """Write how a fusion is made and, when it is done, what speaks against it."""
    content = {**settings, "version": __version__}
    if notes is not None:
        content["notes"] = list(notes)
    with replacing(folder / SETTINGS, overwrite=True) as temporary:
        temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
