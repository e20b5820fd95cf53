"""Fuse a table of answers on disk, of which there may be millions, without opening its cases."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from multirater.errors import Fault, InputError
from multirater.fuse.choice import Choice, choice_for, choice_of
from multirater.fuse.methods import NEEDS_SPACE, method_named, require_options
from multirater.fuse.quality import quality_of_class_labels, with_quality
from multirater.fuse.rater_table import MOST_IN_TABLE, rater_table_of_tasks
from multirater.fuse.table import Table, encode_table, long_columns
from multirater.fusion.answer_file import TRUTH, declared_classes, read_answer_file
from multirater.fusion.company import judged_estimates
from multirater.fusion.folder import FusedDataset, fusion_folder, write_settings
from multirater.fusion.large_table import fuse_large_table
from multirater.fusion.parquet_answers import count_answers
from multirater.io.gold import gold_names
from multirater.io.results.origin import write_origin
from multirater.io.results.statements import write_dataset_of
from multirater.io.tables.csv_table import dialect_of
from multirater.io.tables.manifest import FILE_NAME, Row
from multirater.io.tables.parquet_table import MOST_ROWS, is_parquet
from multirater.io.tables.rater_info import read_rater_info
from multirater.io.tables.table_check import Files
from multirater.progress import say
from multirater.rater_choice import chosen_names
from multirater.sanity.class_names import odd_names
from multirater.types import ANSWER_COLUMNS, Classes, LabelClass
from multirater.words import counted, listed

_PEEKED = 100
"""Labels that tell whether a table is one of answers or of masks."""

_OF_A_CASE = (TRUTH, "split", "patient")
"""Columns that go with a case into the manifest of its fusion."""


def is_answer_table(path: Path) -> bool:
    """Whether a file names tasks, raters and answers, and no images: it need not be opened."""
    if is_parquet(path):
        return path.is_file()
    if path.suffix.lower() not in (".csv", ".tsv") or path.name == FILE_NAME or not path.is_file():
        return False
    found = dialect_of(path, errors="replace")
    cells = (name.strip().strip('"').strip() for name in found.header.split(found.separator))
    header = [name.lower() for name in cells]
    known = sum(bool({*header} & set(names)) for names in ANSWER_COLUMNS.values())
    return not {"case", "image"} & {*header} and known >= 2 and not _names_files(path, header)


def _names_files(path: Path, header: Sequence[str]) -> bool:
    """Whether the first labels of a table are files, so that it is one of masks."""
    column = next((header.index(name) for name in ANSWER_COLUMNS["label"] if name in header), -1)
    found, files = dialect_of(path, errors="replace"), Files(path.parent)
    with path.open(encoding=found.encoding, errors="replace", newline="") as stream:
        rows = csv.reader(stream, delimiter=found.separator, skipinitialspace=True)
        cells = (row[column].strip() for row in rows if -1 < column < len(row))
        first = [cell for cell in islice(cells, _PEEKED) if cell and "\0" not in cell]
    return any(files.is_named(cell) for cell in first)


def fuse_table(
    path: Path,
    folder: Path,
    *,
    method: str | None = None,
    options: Mapping[str, Any] | None = None,
    raters: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    workers: int = 1,
    scheduler: str | None = None,
    gold: Path | None = None,
    overwrite: bool = False,
) -> FusedDataset:
    """Fuse a CSV or Parquet file with the columns task, rater and label.

    Parquet of more than five million answers, or with a scheduler, is fused in parts, see
    `fuse_large_table`.

    Answers that are known (`gold`, see `io.gold`) stand, and raters are learned from them.

    Without a method one is taken that fits, see `choice_for`. The folder is that of any fusion of
    class labels: `manifest.csv`, `cases.csv`, `classes.csv`, `raters.csv` and `fusion.json`.
    """
    if method is not None:
        _require_method(method, options or {})
    if scheduler or (is_parquet(path) and count_answers(path) > MOST_ROWS):
        _require_parts(path, raters, exclude, gold)
        return fuse_large_table(
            path,
            folder,
            method=method,
            options=options,
            workers=workers,
            scheduler=scheduler,
            overwrite=overwrite,
        )
    frame = _of_raters(read_answer_file(path, _OF_A_CASE), path, raters, exclude)
    _require_one_of_each(frame, path)
    known = _known_answers(gold, frame)
    encoded = encode_table(frame, gold=known)
    n_answers = int(np.median(np.diff(encoded.answers.matrix.indptr)))
    n_raters, n_classes = len(encoded.raters), encoded.answers.n_classes
    of_a_rater = encoded.answers.matrix.nnz / max(n_raters, 1)
    chosen = choice_for(
        False, n_answers, n_raters, n_classes=n_classes, answers_of_a_rater=of_a_rater
    )
    choice = choice_of(method, options, chosen)
    _require_method(choice.method, choice.options)
    settings: dict[str, Any] = {
        "method": choice.method,
        "options": dict(choice.options),
        "why": choice.why,
    }
    if known:
        settings["gold"] = len(known)
    inputs = [path] if gold is None else [path, gold]
    with fusion_folder(folder, settings, inputs, resume=False, overwrite=overwrite) as part:
        done = _fused(frame, encoded, choice, known, path, part)
        write_settings(part, settings, done.findings)
    return replace(done, folder=folder)


def _require_parts(
    path: Path,
    raters: Iterable[str] | None,
    exclude: Iterable[str] | None,
    gold: Path | None,
) -> None:
    """Refuse what is for tables in memory only."""
    if not is_parquet(path):
        fix = "leave --scheduler out, or save the table as Parquet"
        raise InputError(Fault("a CSV is read in one process", fix=fix, file=str(path)))
    if gold is not None:
        found = "gold labels go with tables that fit into memory, and this is fused in parts"
        raise InputError(Fault(found, fix="leave --gold out", file=str(path)))
    if declared_classes(path) is not None:
        found = "classes.csv beside a table that is fused in parts, by the names that it holds"
        raise InputError(Fault(found, fix="move one of them elsewhere", file=str(path)))
    if raters or exclude:
        found = "raters are chosen from tables that fit into memory, and this is fused in parts"
        raise InputError(Fault(found, fix="choose them when you write the table", file=str(path)))


def _fused(
    frame: pd.DataFrame,
    encoded: Table,
    choice: Choice,
    known: Mapping[str, str] | None,
    path: Path,
    folder: Path,
) -> FusedDataset:
    result = method_named(choice.method)(frame, gold=known, **choice.options)
    described = rater_table_of_tasks(
        result.counts,
        result.raters,
        result.classes,
        with_matrix=len(result.classes) <= MOST_IN_TABLE,
    )
    quality = quality_of_class_labels(encoded.answers, encoded.raters)
    if not known:  # which would judge a rater who is alone
        described = judged_estimates(described, quality)
    described = with_quality(described, quality)
    cases = result.probability.rename_axis(index="case", columns=None)
    classes = declared_classes(path) or _classes_of(frame, result.classes)
    write_dataset_of(folder, described, cases, _rows(frame, result.label, choice.method), classes)
    write_origin(folder, path)
    findings = (*odd_names(classes.names), *result.findings)
    return FusedDataset(folder, described, cases, findings, choice.method, choice.why)


def _classes_of(frame: pd.DataFrame, answered: Sequence[Any]) -> Classes:
    """Return the classes that were answered, then those that only the truth knows."""
    truths = frame[TRUTH].dropna().unique() if TRUTH in frame.columns else ()
    names = dict.fromkeys(map(str, [*answered, *truths]))
    return Classes(tuple(map(LabelClass, names)))


def _rows(frame: pd.DataFrame, label: pd.Series[Any], method: str) -> list[Row]:
    """Return the manifest of the fused answers, with what the table says of each case."""
    said = [name for name in _OF_A_CASE if name in frame.columns]
    known = {name: _first_texts(frame, str(label.index.name), name, label) for name in said}
    return [
        Row(
            str(case),
            rater=method,
            label="" if pd.isna(name) else str(name),
            **dict(zip(known, cells, strict=True)),
        )
        for case, name, *cells in zip(label.index, label, *known.values(), strict=True)
    ]


def _require_one_of_each(frame: pd.DataFrame, path: Path) -> None:
    """Refuse a task of which the table says two things, such as two truths."""
    task = str(frame.columns[0])
    for name in _OF_A_CASE:
        if name not in frame.columns:
            continue
        said = frame[[task, name]].dropna().drop_duplicates()
        again = said[said[task].duplicated(keep=False)]
        if len(again):
            first = again[again[task] == again[task].iloc[0]]
            raise InputError(
                Fault(
                    f"{task} {first[task].iloc[0]} has the {name} {listed(list(first[name]))}",
                    expected=f"one {name} of each {task}",
                    fix="correct the one that is wrong",
                    file=str(path),
                )
            )


def _first_texts(frame: pd.DataFrame, task: str, name: str, label: pd.Series[Any]) -> list[str]:
    """Return what a column says first of each task, in the order of the labels."""
    given = frame[[task, name]].dropna().drop_duplicates(task)
    said = dict(zip(given[task].astype(str), given[name].astype(str), strict=True))
    return [said.get(str(case), "") for case in label.index]


def _known_answers(gold: Path | None, frame: pd.DataFrame) -> dict[str, str] | None:
    """Return the known answers to tasks of the table; None where there are none."""
    if gold is None:
        return None
    tasks = set(frame.iloc[:, 0].astype(str).unique())
    found = gold_names(gold)
    known = {task: name for task, name in found.items() if task in tasks}
    if found and not known:
        raise InputError(Fault("gold labels of none of the tasks", file=str(gold)))
    say(f"gold labels of {counted(len(known), 'task')}")
    return known or None


def _of_raters(
    frame: pd.DataFrame, path: Path, raters: Iterable[str] | None, exclude: Iterable[str] | None
) -> pd.DataFrame:
    """Return the answers of some raters, by name; all of them when nobody was chosen."""
    if not raters and not exclude:
        return frame
    columns = long_columns(frame)
    assert columns is not None
    names = frame[columns[1]].astype(str)
    kept = chosen_names(list(names.unique()), read_rater_info(path.parent), raters, exclude)
    return frame[names.isin(kept)]


def _require_method(method: str, options: Mapping[str, Any]) -> None:
    method_named(method)
    require_options(method, options)
    if method in NEEDS_SPACE:
        raise InputError(Fault(f"{method} needs masks", expected="another method"))
