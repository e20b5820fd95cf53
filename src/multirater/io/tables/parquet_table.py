"""Tables in Parquet, whose cells are texts or whole numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from multirater.errors import Fault, InputError
from multirater.extras import extra
from multirater.free_memory import free_memory
from multirater.words import counted

MOST_ROWS = 5_000_000
"""Rows up to which a table is read whole."""


def is_parquet(path: str | Path) -> bool:
    """Whether a file is named as Parquet."""
    return Path(path).suffix.lower() in (".parquet", ".pq")


@contextmanager
def opened_parquet(path: Path) -> Iterator[Any]:
    """Open a Parquet file; what is wrong with it is said of it."""
    with extra():
        import pyarrow.parquet as parquet
    if not path.is_file():
        raise InputError(Fault("no such table", fix="check the path", file=str(path)))
    try:
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            _require_room(file.metadata)
            yield file
    except InputError as error:
        raise error.at(file=path) from None
    except (OSError, ValueError, NotImplementedError) as error:
        told = str(error).splitlines() or [type(error).__name__]
        fault = Fault(f"cannot be read as Parquet: {told[0]}", fix="write the file anew")
        raise InputError(fault).at(file=path) from None


def _require_room(metadata: Any) -> None:
    """Refuse pieces of a table that would not fit into memory by what they say of themselves."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    largest = max((group.total_byte_size for group in groups), default=0)
    if largest > 0.8 * free_memory():
        raise InputError(
            Fault(
                f"a group of its rows unpacks to {largest / 1e9:.1f} GB, more than is free",
                fix="write the table in smaller row groups",
            )
        )


def read_cells(path: Path) -> tuple[list[str], list[list[str]]]:
    """Read a whole table: names of columns in lower case, and rows of texts.

    Raises:
        InputError: it cannot be read, or is too large to be read whole.
    """
    with opened_parquet(path) as file:
        n_rows = file.metadata.num_rows
        if n_rows > MOST_ROWS:
            raise InputError(
                Fault(
                    f"has {counted(n_rows, 'row')}",
                    expected=f"at most {MOST_ROWS}: this verb reads a table whole",
                    fix="`multirater fuse` takes larger ones, in parts",
                )
            )
        table = file.read()
        names = [str(name).strip().lower() for name in table.column_names]
        columns = [
            [str("" if cell is None else cell) for cell in plain_column(column, name).to_pylist()]
            for column, name in zip(table.columns, names, strict=True)
        ]
    return names, [list(row) for row in zip(*columns, strict=True)]


def plain_column(column: Any, name: str) -> Any:
    """Return a column as texts without spaces around them, or as whole numbers; empty is null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
        try:  # whole numbers, which a missing cell made floats
            column = column.cast(pa.int64())
        except pa.ArrowInvalid:
            raise _wrong_kind(name, "numbers with decimals") from None
    if pa.types.is_integer(column.type) and not pa.types.is_uint64(column.type):
        return column.cast(pa.int64())
    if pa.types.is_boolean(column.type) or pa.types.is_uint64(column.type):
        column = column.cast(pa.string())
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        raise _wrong_kind(name, str(column.type))
    column = pc.utf8_trim_whitespace(column.cast(pa.large_string()))
    return pc.if_else(pc.equal(column, ""), None, column)


def _wrong_kind(name: str, found: str) -> InputError:
    return InputError(Fault(f"column {name} holds {found}", expected="texts or whole numbers"))
