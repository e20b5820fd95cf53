"""Read answers from Parquet a little at a time, and sort them into parts that fit into memory.

A task belongs to the part that its name's hash says, so that all its answers are together wherever
they stand in the file. Nothing is kept of all rows but the names of raters and classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.fuse.table import long_columns
from multirater.io.tables.csv_table import require_distinct
from multirater.io.tables.parquet_table import opened_parquet, plain_column
from multirater.words import counted

_ROWS_AT_ONCE = 1 << 20
SCATTERED = "answers.arrow"
"""The answers of a part as they were read: task, rater, label and row."""


@dataclass
class Names:
    """Distinct texts in the order they were met, and their numbers."""

    place: dict[str, int] = field(default_factory=dict)

    def numbers_of(self, texts: list[str]) -> NDArray[np.int32]:
        """Return the number of each text; new ones get the next."""
        numbers = [self.place.setdefault(each, len(self.place)) for each in texts]
        return np.array(numbers, dtype=np.int32)


@dataclass(frozen=True)
class Scattered:
    """Answers in parts.

    Attributes:
        parts: a folder each.
        raters: names by number.
        labels: names by number.
        n_answers: rows of the file.
    """

    parts: tuple[Path, ...]
    raters: tuple[str, ...]
    labels: tuple[str, ...]
    n_answers: int


def count_answers(path: Path) -> int:
    """Return how many rows a Parquet file says it has."""
    with opened_parquet(path) as file:
        return int(file.metadata.num_rows)


def read_answers(path: Path, also: Sequence[str] = ()) -> pd.DataFrame:
    """Read task, rater and label of every answer, as categories of texts; NaN where empty.

    Args:
        path: see `scatter`.
        also: further columns to keep, where the table has them.
    """
    with opened_parquet(path) as file:
        known = _columns_of(file)
        more = [name for name in file.schema_arrow.names if _lower(name) in also]
        table = file.read(columns=[*known, *more])
        found = {
            _lower(name): _categories(plain_column(table.column(name).combine_chunks(), name))
            for name in (*known, *more)
        }
    return pd.DataFrame(found)


def _categories(column: Any) -> pd.Categorical:
    names = Names()
    codes = _numbered(column, names)
    kind = pd.CategoricalDtype(pd.Index(list(names.place), dtype=object))
    return pd.Categorical.from_codes(codes, dtype=kind)


def scatter(path: Path, folder: Path, answers_per_part: int) -> Scattered:
    """Sort the answers of a Parquet file into parts.

    Args:
        path: with the columns task, rater (or worker, annotator) and label: texts or whole
            numbers; a label that is empty or null is a missing answer.
        folder: where the parts go.
        answers_per_part: how many answers a part has, about.

    Raises:
        InputError: it cannot be read, lacks a column, or has a row without task or rater.
    """
    raters, labels = Names(), Names()
    with opened_parquet(path) as file, ExitStack() as stack:
        n_answers = file.metadata.num_rows
        parts = tuple(
            folder / f"part-{number:04d}" for number in range(-(-n_answers // answers_per_part))
        )
        columns = _columns_of(file)
        writers: list[Any] = []
        first = 0
        for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=list(columns)):
            coded = _coded(batch, columns, raters, labels, first)
            if not writers:
                writers = [stack.enter_context(_writer(each, coded.schema)) for each in parts]
            _write(coded, writers)
            first += len(coded)
    if not first:
        raise InputError(Fault("the table has no rows", expected="one row per answer"))
    return Scattered(parts, tuple(raters.place), tuple(labels.place), first)


def _columns_of(file: Any) -> tuple[str, str, str]:
    """Return the names of the columns of task, rater and label."""
    require_distinct([_lower(name) for name in file.schema_arrow.names], "")
    found = {_lower(name): str(name) for name in file.schema_arrow.names}
    columns = long_columns(pd.DataFrame(columns=list(found)))
    if columns is None:
        raise InputError(Fault("has no columns of raters and labels"))
    return (found[columns[0]], found[columns[1]], found[columns[2]])


def _lower(name: str) -> str:
    return str(name).strip().lower()


def _coded(
    batch: Any, columns: tuple[str, str, str], raters: Names, labels: Names, first: int
) -> Any:
    """Return task, numbers of rater and label (-1 where missing), and row; `first` is the first."""
    import pyarrow as pa

    task, rater, label = (plain_column(batch.column(name), name) for name in columns)
    _require_no_gap(task, columns[0], first)
    _require_no_gap(rater, columns[1], first)
    row = pa.array(np.arange(first, first + len(batch), dtype=np.int64))
    said = [_numbered(rater, raters), _numbered(label, labels)]
    names = ["task", "rater", "label", "row"]
    return pa.record_batch([task, *map(pa.array, said), row], names=names)


def _require_no_gap(column: Any, name: str, first: int) -> None:
    if column.null_count:
        gap = np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))
        raise InputError(
            Fault(
                f"{counted(len(gap), 'row')} without {name}, first row {first + int(gap[0]) + 1}",
                fix="fill them in, or remove the rows",
            )
        )


def _numbered(column: Any, names: Names) -> NDArray[np.int32]:
    encoded = column.dictionary_encode()
    own = names.numbers_of([str(each) for each in encoded.dictionary.to_pylist()])
    where = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return np.asarray(np.append(own, np.int32(-1))[where])


@contextmanager
def _writer(part: Path, schema: Any) -> Iterator[Any]:
    import pyarrow as pa

    part.mkdir(parents=True)
    with pa.OSFile(str(part / SCATTERED), "wb") as stream, pa.ipc.new_stream(stream, schema) as to:
        yield to


def _write(coded: Any, writers: list[Any]) -> None:
    """Give every part its rows, in the order they were read."""
    where = _hashes(coded.column("task")) % np.uint64(len(writers))
    order = np.argsort(where, kind="stable")
    ends = np.cumsum(np.bincount(where.astype(np.int64), minlength=len(writers)))
    sorted_rows = coded.take(order)
    for writer, start, end in zip(writers, np.append(0, ends[:-1]), ends, strict=True):
        writer.write_batch(sorted_rows.slice(start, end - start))


def _hashes(tasks: Any) -> NDArray[np.uint64]:
    """Hash tasks, the same in every process and on every machine."""
    if str(tasks.type) == "int64":
        return pd.util.hash_array(tasks.to_numpy())
    encoded = tasks.dictionary_encode()
    texts = encoded.dictionary.to_numpy(zero_copy_only=False)
    return np.asarray(pd.util.hash_array(texts, categorize=False)[encoded.indices.to_numpy()])
