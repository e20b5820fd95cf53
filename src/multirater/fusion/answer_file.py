"""Read a table of answers as text: what a cell says is what was answered.

`None`, `NA` and `null` are answers, and the tasks 01, 1 and 1.0 are three. Only an empty cell is a
missing answer. Cells are kept as categories, so that millions of answers take little room.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.fuse.table import long_columns
from multirater.fusion.parquet_answers import read_answers
from multirater.io.tables.csv_table import UTF_16, require_distinct
from multirater.io.tables.parquet_table import is_parquet
from multirater.words import counted

_SEPARATORS = ",;\t"
_ROWS_AT_ONCE = 2**20


def separator_of(header: str) -> str:
    """Return what separates the columns of a table: comma, semicolon or tab."""
    return max(_SEPARATORS, key=header.count)


def encoding_of(path: Path) -> str:
    """Return the encoding of a table by its first bytes: UTF-8, or UTF-16 where it says so."""
    with path.open("rb") as stream:
        return "utf-16" if stream.read(2) in UTF_16 else "utf-8-sig"


def read_answer_file(path: Path, also: Sequence[str] = ()) -> pd.DataFrame:
    """Read task, rater and label of every answer, as categories of texts; NaN where empty.

    Args:
        path: CSV with a header, whose columns comma, semicolon or tab separates; or Parquet.
        also: further columns to keep, where the table has them.

    Raises:
        InputError: it cannot be read as a table, lacks a column, names no task or rater in some
            row, or holds two answers of a rater to one task.
    """
    try:
        frame = _read(path, also)
        columns = (frame.columns[0], frame.columns[1], frame.columns[2])
        _require_names(frame, columns)
        _require_once(frame, columns)
        return frame.assign(**{columns[2]: _with_classes_in_order(frame[columns[2]])})
    except InputError as error:
        raise error.at(file=path) from None


def _read(path: Path, also: Sequence[str]) -> pd.DataFrame:
    if not path.is_file():
        raise InputError(Fault("no such table", fix="check the path"))
    if is_parquet(path):
        return read_answers(path, also)
    encoding = encoding_of(path)
    separator = ","
    try:
        with path.open(encoding=encoding) as stream:
            header = stream.readline()
        separator = separator_of(header)
        # Of two columns of one name pandas would take the first, and call the other something else.
        names = next(csv.reader([header], delimiter=separator, skipinitialspace=True), [])
        require_distinct([name.strip().lower() for name in names], str(path))
        return _columns_of(path, separator, encoding, also)
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
        _require_even_lines(path, separator, encoding)
        raise InputError(_unreadable(str(error))) from None


def _columns_of(path: Path, separator: str, encoding: str, also: Sequence[str]) -> pd.DataFrame:
    """Read columns in parts, so that only their codes are kept of all rows."""
    parts = pd.read_csv(
        path,
        sep=separator,
        encoding=encoding,
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
                _require_even_lines(path, separator, encoding)
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
        bare = [str(text).strip() for text in found]
        broken = next((text for text in bare if re.search(r"[\r\n\0]", text)), None)
        if broken is not None:
            raise InputError(_unreadable(f"a cell holds the end of a line: {broken[:40]!r}"))
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


def _require_even_lines(path: Path, separator: str, encoding: str) -> None:
    """Refuse lines with more or fewer cells than the header, and quotes that do not end."""
    text = path.read_bytes().decode("utf-16" if encoding == "utf-16" else "utf-8-sig")
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True
    )
    try:
        header = next(reader)
        for cells in reader:
            if cells and len(cells) != len(header):
                raise InputError(
                    Fault(
                        f"line {reader.line_num} has {counted(len(cells), 'cell')}",
                        expected=f"{len(header)}, as in the header: {', '.join(header)}",
                        fix="give every line one cell per column; quote cells that contain the "
                        "separator",
                    )
                )
    except csv.Error as error:
        raise InputError(_unreadable(f"line {reader.line_num}: {error}")) from None


def in_order(names: Sequence[str]) -> list[str]:
    """Put classes in order: whole numbers by their value, then names.

    Example:
        >>> in_order(["b", "10", "a", "9"])
        ['9', '10', 'a', 'b']
    """
    numbers = [name for name in names if re.fullmatch(r"[+-]?[0-9]{1,15}", name)]
    others = sorted(set(names) - set(numbers))
    return [*sorted(numbers, key=lambda name: (int(name), name)), *others]


def _with_classes_in_order(labels: pd.Series[Any]) -> pd.Series[Any]:
    return labels.cat.reorder_categories(in_order([str(each) for each in labels.cat.categories]))


def _require_names(frame: pd.DataFrame, columns: tuple[str, str, str]) -> None:
    nameless = np.flatnonzero((frame[columns[1]].isna() | frame[columns[0]].isna()).to_numpy())
    if len(nameless):
        raise InputError(
            Fault(
                f"{len(nameless)} rows without {columns[0]} or {columns[1]}, first line "
                f"{int(nameless[0]) + 2}",
                fix="fill them in, or remove the rows",
            )
        )


def _require_once(frame: pd.DataFrame, columns: tuple[str, str, str]) -> None:
    """Refuse two answers of a rater to one task: which of them counts is not ours to say."""
    task, rater = (frame[name].cat.codes.to_numpy().astype(np.int64) for name in columns[:2])
    key: NDArray[np.int64] = task * max(len(frame[columns[1]].cat.categories), 1) + rater
    again = np.flatnonzero(pd.Series(key).duplicated().to_numpy())
    if len(again):
        first = frame.iloc[int(again[0])]
        raise InputError(
            Fault(
                f"{counted(len(again), 'answer')} given twice, first by {columns[1]} "
                f"{first[columns[1]]} to {columns[0]} {first[columns[0]]}, line "
                f"{int(again[0]) + 2}",
                expected="one answer of a rater to a task",
                fix="keep the answer that counts; if several people go by one name, tell them "
                "apart",
            )
        )
