"""Fuse a table of answers on disk, of which there may be millions, without opening its cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from multirater.errors import Fault, InputError
from multirater.fuse.choice import choice_for, choice_of
from multirater.fuse.methods import NEEDS_SPACE, method_named, require_options
from multirater.fuse.quality import quality_of_class_labels, with_quality
from multirater.fuse.rater_table import rater_table_of_tasks
from multirater.fuse.table import encode_table, long_columns
from multirater.fusion.folder import FusedDataset, prepare, write_settings
from multirater.io.results.contents import write_dataset_of
from multirater.io.results.origin import write_origin
from multirater.io.tables.manifest import FILE_NAME, Row
from multirater.io.tables.rater_info import read_rater_info
from multirater.rater_choice import chosen_names
from multirater.types import ANSWER_COLUMNS, Classes, LabelClass

_OF_A_CASE = ("truth", "split", "patient")
"""Columns that go with a case into the manifest of its fusion."""


def is_answer_table(path: Path) -> bool:
    """Whether a file names tasks, raters and answers, and no images: it need not be opened."""
    if path.suffix.lower() not in (".csv", ".tsv") or path.name == FILE_NAME or not path.is_file():
        return False
    with path.open(encoding="utf-8-sig", errors="replace") as stream:
        first = stream.readline()
    header = {name.strip().lower() for name in first.split(_separator(first))}
    known = sum(bool(header & set(names)) for names in ANSWER_COLUMNS.values())
    return not {"case", "image"} & header and known >= 2


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

    Without a method one is taken that fits, see `choice_for`. The folder is that of any fusion of
    class labels: `manifest.csv`, `cases.csv`, `classes.csv`, `raters.csv` and `fusion.json`.
    """
    if method is not None:
        _require_method(method, options or {})
    frame = _of_raters(_read(path), path, raters, exclude)
    encoded = encode_table(frame)
    n_answers = int(np.median(np.diff(encoded.answers.matrix.indptr)))
    choice = choice_of(method, options, choice_for(False, n_answers, len(encoded.raters)))
    _require_method(choice.method, choice.options)
    settings = {"method": choice.method, "options": dict(choice.options), "why": choice.why}
    prepare(folder, settings, resume=False, overwrite=overwrite)
    result = method_named(choice.method)(frame, **choice.options)
    described = with_quality(
        rater_table_of_tasks(result.counts, result.raters, result.classes),
        quality_of_class_labels(encoded.answers, encoded.raters),
    )
    cases = result.probability.rename_axis(index="case", columns=None)
    classes = Classes(tuple(LabelClass(str(name)) for name in result.classes))
    write_dataset_of(folder, described, cases, _rows(frame, result.label, choice.method), classes)
    write_settings(folder, settings, result.findings)
    write_origin(folder, path)
    return FusedDataset(folder, described, cases, result.findings, choice.method, choice.why)


def _rows(frame: pd.DataFrame, label: pd.Series[Any], method: str) -> list[Row]:
    """Return the manifest of the fused answers, with what the table says of each case."""
    said = [name for name in _OF_A_CASE if name in frame.columns]
    by_case = frame.groupby(str(label.index.name), sort=False)
    of_case = by_case[said].first().reindex(label.index)
    # Missing cells turn whole numbers into floats; they are whole again as texts.
    texts = of_case.convert_dtypes().astype("string").fillna("")
    known = {name: texts[name].tolist() for name in said}
    return [
        Row(str(case), rater=method, label=str(name), **dict(zip(known, cells, strict=True)))
        for case, name, *cells in zip(label.index, label, *known.values(), strict=True)
    ]


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
