"""Fuse a table of answers on disk: crowd-sourced class labels without images."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from multirater.errors import Fault, InputError
from multirater.fuse.choice import choice_for, choice_of
from multirater.fuse.methods import NEEDS_SPACE, method_named, require_options
from multirater.fuse.quality import quality_of_class_labels, with_quality
from multirater.fuse.rater_table import rater_table_of_tasks
from multirater.fuse.table import COLUMNS, encode_table, long_columns
from multirater.fusion.folder import FusedDataset, write_settings
from multirater.io import read_dataset
from multirater.io.atomic import replacing
from multirater.io.results.layout import RATERS
from multirater.io.results.origin import write_origin
from multirater.io.tables.manifest import FILE_NAME
from multirater.io.tables.rater_info import read_rater_info
from multirater.rater_choice import chosen_names
from multirater.types import Classes, Dataset, LabelClass


def is_answer_table(path: Path) -> bool:
    """Whether a file is meant as a table of answers rather than as a manifest of cases."""
    if path.suffix.lower() not in (".csv", ".tsv") or path.name == FILE_NAME or not path.is_file():
        return False
    with path.open(encoding="utf-8-sig", errors="replace") as stream:
        first = stream.readline()
    header = {name.strip().lower() for name in first.split(_separator(first))}
    known = sum(bool(header & set(names)) for names in COLUMNS.values())
    return "case" not in header and known >= 2


def _separator(header: str) -> str:
    return max(",;\t", key=header.count)


def fuse_table(
    path: Path,
    folder: Path,
    *,
    method: str | None = None,
    options: Mapping[str, Any] | None = None,
    raters: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    overwrite: bool = False,
) -> FusedDataset:
    """Fuse a CSV with the columns task, rater and label; of all raters, or of some.

    Without a method one is taken that fits, see `choice_for`.

    Writes `labels.csv` (task, label and the probability of every class), `raters.csv` and
    `fusion.json`.
    """
    for name in ("labels.csv", RATERS):
        if (folder / name).exists() and not overwrite:
            raise InputError(
                Fault(
                    "already exists", fix="choose another folder or --overwrite", file=str(folder)
                )
            )
    if method is not None:
        _require_method(method, options or {})
    frame = _of_raters(_read(path), path, raters, exclude)
    encoded = encode_table(frame)
    n_answers = int(np.median(np.diff(encoded.answers.matrix.indptr)))
    choice = choice_of(method, options, choice_for(False, n_answers, len(encoded.raters)))
    _require_method(choice.method, choice.options)
    result = method_named(choice.method)(frame, **choice.options)
    described = with_quality(
        rater_table_of_tasks(result.counts, result.raters, result.classes),
        quality_of_class_labels(encoded.answers, encoded.raters),
    )
    labels = result.probability.add_prefix("P(").add_suffix(")")
    labels.insert(0, "label", result.label)
    for table, name in ((labels, "labels.csv"), (described, RATERS)):
        with replacing(folder / name, overwrite=overwrite) as temporary:
            table.to_csv(temporary)
    done = FusedDataset(folder, described, labels, result.findings, choice.method, choice.why)
    settings = {"method": choice.method, "options": dict(choice.options), "why": choice.why}
    write_settings(folder, settings, done.findings)
    write_origin(folder, path)
    return done


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


def read_fused_answers(folder: Path, method: str) -> Dataset:
    """Open what `fuse_table` wrote as a data set whose only rater is the method."""
    table = pd.read_csv(folder / "labels.csv", dtype=str, keep_default_na=False)
    classes = [str(name)[2:-1] for name in table.columns[2:]]  # the columns P(class)
    frame = table.iloc[:, :2].set_axis(["case", "label"], axis=1).assign(rater=method)
    known = Classes(tuple(LabelClass(name) for name in classes))
    return replace(read_dataset(frame, classes=known), folder=folder)


def read_answers(path: Path) -> Dataset:
    """Open a table of answers as a data set of class labels without images.

    Args:
        path: CSV with columns for task, rater and label.
    """
    frame = _read(path)
    columns = long_columns(frame)
    assert columns is not None
    return read_dataset(
        frame[list(columns)].set_axis(["case", "rater", "label"], axis=1), root=path.parent
    )


def _read(path: Path) -> pd.DataFrame:
    with path.open(encoding="utf-8-sig") as stream:
        separator = _separator(stream.readline())
    frame = pd.read_csv(path, sep=separator, encoding="utf-8-sig")
    frame.columns = pd.Index([str(name).strip().lower() for name in frame.columns])
    return _cleaned(frame, path)


def _cleaned(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Strip spaces around texts; an empty answer is a missing one, an answer needs its rater."""
    texts = [name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])]
    for name in texts:
        stripped = frame[name].astype("string").str.strip()
        frame = frame.assign(**{name: stripped.where(stripped != "")})
    try:
        columns = long_columns(frame)
    except InputError as error:
        raise error.at(file=path) from None
    assert columns is not None
    nameless = frame.index[frame[columns[1]].isna() | frame[columns[0]].isna()]
    if len(nameless):
        raise InputError(
            Fault(
                f"{len(nameless)} rows without {columns[0]} or {columns[1]}, first line "
                f"{int(nameless[0]) + 2}",
                fix="fill them in, or remove the rows",
                file=str(path),
            )
        )
    return frame
