"""Read a table of answers as text: what a cell says is what was answered.

`None`, `NA` and `null` are answers, and the tasks 01, 1 and 1.0 are three. Only an empty cell is a
missing answer. Cells are kept as categories, so that millions of answers take little room.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.fuse.table import long_columns
from multirater.fusion.parquet_answers import read_answers
from multirater.io.class_labels import index_by_name
from multirater.io.tables.classes import FILE_NAME as CLASSES
from multirater.io.tables.classes import names_in_order, read_classes
from multirater.io.tables.csv_table import Dialect, dialect_of, records, require_distinct
from multirater.io.tables.parquet_table import is_parquet
from multirater.io.tables.spreadsheet import meant
from multirater.types import MISSING, Classes
from multirater.words import counted

TRUTH = "truth"

_ROWS_AT_ONCE = 2**20


def read_answer_file(path: Path, also: Sequence[str] = ()) -> pd.DataFrame:
    """Read task, rater and label of every answer, as categories of texts; NaN where empty.

    Where `classes.csv` lies beside the table labels are of the classes that it declares, by their
    names or indices, as in any data set.

    Args:
        path: CSV with a header, whose columns comma, semicolon or tab separates; or Parquet.
        also: further columns to keep, where the table has them.

    Raises:
        InputError: it cannot be read as a table, lacks a column, names no task or rater in some
            row, holds two answers of a rater to one task, or an answer of no declared class.
    """
    try:
        frame = _read(path, also)
        columns = (frame.columns[0], frame.columns[1], frame.columns[2])
        _require_names(frame, columns, path)
        _require_once(frame, columns, path)
        declared = declared_classes(path)
        if declared is None:
            return frame.assign(**{columns[2]: _with_classes_in_order(frame[columns[2]])})
        return _in_classes(frame, columns[2], declared)
    except InputError as error:
        raise error.at(file=path) from None


def _read(path: Path, also: Sequence[str]) -> pd.DataFrame:
    if not path.is_file():
        raise InputError(Fault("no such table", fix="check the path"))
    if is_parquet(path):
        return read_answers(path, also)
    try:
        dialect = dialect_of(path)
        # Of two columns of one name pandas would take the first, and call the other something else.
        names = next(csv.reader([dialect.header], delimiter=dialect.separator), [])
        require_distinct([name.strip().lower() for name in names], str(path))
        if _has_quotes(path):  # which pandas reads on behind their end
            _require_even_lines(path, dialect)
        return _columns_of(path, dialect, also)
    except UnicodeError as error:
        raise InputError(
            Fault(
                f"is not UTF-8 text ({error})",
                fix="save the table as CSV in UTF-8; its letters cannot be told otherwise",
            )
        ) from None
    except pd.errors.EmptyDataError:
        raise InputError(Fault("is empty", expected="a header and one row per answer")) from None
    except OSError as error:
        raise InputError(Fault(f"cannot be read: {error.strerror}")) from None
    except csv.Error as error:
        raise InputError(_unreadable(str(error))) from None
    except pd.errors.ParserError as error:
        _require_even_lines(path, dialect)
        raise InputError(_unreadable(str(error))) from None


def _has_quotes(path: Path) -> bool:
    with path.open("rb") as stream:
        return any(b'"' in part for part in iter(partial(stream.read, 2**20), b""))


def _columns_of(path: Path, dialect: Dialect, also: Sequence[str]) -> pd.DataFrame:
    """Read columns in parts, so that only their codes are kept of all rows."""
    parts = pd.read_csv(
        path,
        sep=dialect.separator,
        encoding=dialect.encoding,
        skiprows=dialect.skipped,
        dtype=str,
        keep_default_na=False,
        na_values=[""],
        skipinitialspace=True,
        chunksize=_ROWS_AT_ONCE,
    )
    columns: list[str] = []
    texts: list[_Texts] = []
    with parts:
        for part in parts:
            part.columns = pd.Index([str(name).strip().lower() for name in part.columns])
            is_cut = len(part) > 0 and bool(part.iloc[:, -1].isna().any())
            if is_cut or not isinstance(part.index, pd.RangeIndex):
                _require_even_lines(path, dialect)
            if not columns:
                columns = [*(long_columns(part) or ()), *(n for n in also if n in part.columns)]
                texts = [_Texts() for _ in columns]
            for name, each in zip(columns, texts, strict=True):
                each.add(part[name])
    if len(columns) < 3:
        raise InputError(Fault("has no columns of raters and labels"))
    return pd.DataFrame(
        {name: each.as_categories() for name, each in zip(columns, texts, strict=True)}
    )


class _Texts:
    """A column of texts as codes of the distinct ones, spaces around them left out."""

    def __init__(self) -> None:
        self.place: dict[str, int] = {}
        self.codes: list[NDArray[np.int32]] = []

    def add(self, values: pd.Series[Any]) -> None:
        """Take up the next rows; an empty text is missing."""
        codes, found = pd.factorize(values)
        bare = [meant(str(text).strip()) for text in found]
        broken = next((text for text in bare if re.search(r"[\r\n\0]", text)), None)
        if broken is not None:
            what = "a character that no text has" if "\0" in broken else "the end of a line"
            raise InputError(_unreadable(f"a cell holds {what}: {broken[:40]!r}"))
        own = [self.place.setdefault(text, len(self.place)) if text else -1 for text in bare]
        self.codes.append(np.array([*own, -1], dtype=np.int32)[codes])

    def as_categories(self) -> pd.Categorical:
        """Return all rows."""
        codes = np.concatenate(self.codes) if self.codes else np.empty(0, dtype=np.int32)
        kind = pd.CategoricalDtype(pd.Index(list(self.place), dtype=object))
        return pd.Categorical.from_codes(codes, dtype=kind)


def _unreadable(why: str) -> Fault:
    return Fault(
        f"cannot be read as a table: {why.splitlines()[-1]}",
        expected="one row per answer, with as many cells as the header",
        fix='quote cells as "..." and write a quote inside them twice',
    )


def _require_even_lines(path: Path, dialect: Dialect) -> None:
    """Refuse lines with more or fewer cells than the header, and quotes that do not end."""
    found = _records(path, dialect)
    try:
        _, header = next(found)
        for number, cells in found:
            if len(cells) != len(header):
                raise InputError(
                    Fault(
                        f"line {number} has {counted(len(cells), 'cell')}",
                        expected=f"{len(header)}, as in the header: {', '.join(header)}",
                        fix="give every line one cell per column; quote cells that contain the "
                        "separator",
                    )
                )
    except csv.Error as error:
        raise InputError(_unreadable(str(error))) from None


def _records(path: Path, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which each record of a table ends, its header first, and its cells."""
    with path.open(encoding=dialect.encoding, newline="") as stream:
        for _ in range(dialect.skipped):
            stream.readline()
        for number, cells in records(stream, dialect.separator):
            yield number + dialect.skipped, cells


def _place(path: Path, row: int) -> str:
    """Say where a row of answers stands, the first of which is 0."""
    if is_parquet(path):
        return f"row {row + 1}"
    number, _ = next(islice(_records(path, dialect_of(path)), row + 1, None))
    return f"line {number}"


def _with_classes_in_order(labels: pd.Series[Any]) -> pd.Series[Any]:
    return labels.cat.reorder_categories(
        names_in_order([str(each) for each in labels.cat.categories])
    )


def declared_classes(path: Path) -> Classes | None:
    """Return the classes that are declared beside a table; None where none are."""
    file = path.parent / CLASSES
    return read_classes(file) if file.is_file() else None


def _in_classes(frame: pd.DataFrame, column: str, classes: Classes) -> pd.DataFrame:
    """Return answers, and truths where there are any, by the names of declared classes."""
    kinds = {column: classes} | ({TRUTH: classes.in_truth()} if TRUTH in frame.columns else {})
    return frame.assign(**{name: _named(frame[name], kind) for name, kind in kinds.items()})


def _named(cells: pd.Series[Any], classes: Classes) -> pd.Series[Any]:
    known = index_by_name(classes)
    if str(MISSING) not in classes.names:
        known = {**known, str(MISSING): MISSING}
    unknown = [str(each) for each in cells.cat.categories if str(each) not in known]
    if unknown:
        raise InputError(
            Fault(
                f"unknown class {unknown[0]!r}",
                expected=f"one of {', '.join(classes.names)}, which {CLASSES} beside it declares",
                fix=f"correct the name, or add it to {CLASSES}",
            )
        )
    place = np.array([*(known[str(each)] for each in cells.cat.categories), MISSING])
    kind = pd.CategoricalDtype(pd.Index(list(classes.names), dtype=object))
    named = pd.Categorical.from_codes(place[cells.cat.codes.to_numpy()], dtype=kind)
    return pd.Series(named, index=cells.index, name=cells.name)


def _require_names(frame: pd.DataFrame, columns: tuple[str, str, str], path: Path) -> None:
    nameless = np.flatnonzero((frame[columns[1]].isna() | frame[columns[0]].isna()).to_numpy())
    if len(nameless):
        raise InputError(
            Fault(
                f"{counted(len(nameless), 'row')} without {columns[0]} or {columns[1]}, first "
                f"{_place(path, int(nameless[0]))}",
                fix="fill them in, or remove the rows",
            )
        )


def _require_once(frame: pd.DataFrame, columns: tuple[str, str, str], path: Path) -> None:
    """Refuse two answers of a rater to one task: which of them counts is not ours to say."""
    task, rater = (frame[name].cat.codes.to_numpy().astype(np.int64) for name in columns[:2])
    key: NDArray[np.int64] = task * max(len(frame[columns[1]].cat.categories), 1) + rater
    again = np.flatnonzero(pd.Series(key).duplicated().to_numpy())
    if len(again):
        first = frame.iloc[int(again[0])]
        raise InputError(
            Fault(
                f"{counted(len(again), 'answer')} given twice, first by {columns[1]} "
                f"{first[columns[1]]} to {columns[0]} {first[columns[0]]}, "
                f"{_place(path, int(again[0]))}",
                expected="one answer of a rater to a task",
                fix="keep the answer that counts; if several people go by one name, tell them "
                "apart",
            )
        )
