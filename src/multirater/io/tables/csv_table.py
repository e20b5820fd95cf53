"""CSV files as people save them: three separators, with or without a byte-order mark."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.tables.parquet_table import is_parquet, read_cells
from multirater.io.tables.spreadsheet import meant

UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""How a text of UTF-16 begins, by which it is told."""


def read_table(
    path: Path, faults: list[Fault], *, expected: str, aliases: Mapping[str, str] | None = None
) -> tuple[list[str], list[list[str]]]:
    """Read a table with a header; comma, semicolon or tab separates its columns.

    Cells are stripped, blank lines are left out, and cells that are missing at the end of a line
    are empty.

    Args:
        path: the file, UTF-8 with or without a byte-order mark, or UTF-16 with one; or Parquet.
        faults: where lines that do not fit the header are noted; they are left out.
        expected: the header, in words, for messages.
        aliases: other names of columns.

    Returns:
        The names of the columns in lower case, and the lines, with one cell per column.

    Raises:
        InputError: the file as a whole cannot be used.
    """
    if is_parquet(path):
        names, cells = read_cells(path)
        header = [(aliases or {}).get(name, name) for name in names]
        require_distinct(header, str(path))
        return header, cells
    text = _text(path)
    first = next((line for line in text.splitlines() if line.strip()), "")
    if not first:
        raise InputError(Fault("is empty", expected=expected, file=str(path)))
    separator = max(",;\t", key=first.count)
    reader = csv.reader(
        StringIO(text, newline=""), delimiter=separator, skipinitialspace=True, strict=True
    )
    try:
        lines = [
            (reader.line_num, [meant(cell.strip()) for cell in cells])
            for cells in reader
            if any(cell.strip() for cell in cells)
        ]
    except csv.Error as error:
        raise InputError(
            Fault(
                f"cannot be read as a table: line {reader.line_num}: {error}",
                expected=expected,
                fix='quote cells as "..." and write a quote inside them twice',
                file=str(path),
            )
        ) from None
    header = [(aliases or {}).get(name.lower(), name.lower()) for name in lines[0][1]]
    require_distinct(header, str(path))
    rows = [_row(header, number, cells, path, faults) for number, cells in lines[1:]]
    return header, [row for row in rows if row is not None]


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
        return content.decode("utf-16" if content[:2] in UTF_16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            Fault(f"is not UTF-8 text ({error})", fix="save the table as UTF-8 CSV", file=str(path))
        ) from None
    except OSError as error:
        raise InputError(
            Fault(f"cannot be read: {error.strerror}", fix="ask for read access", file=str(path))
        ) from None


def require_distinct(header: list[str], where: str) -> None:
    """Refuse a table with two columns of one name."""
    twice = [name for name in dict.fromkeys(header) if name and header.count(name) > 1]
    if twice:
        raise InputError(
            Fault(
                f"has two columns {', '.join(twice)}",
                expected="each column once",
                fix="remove or rename one of them",
                file=where,
            )
        )


def _row(
    header: list[str], number: int, cells: list[str], path: Path, faults: list[Fault]
) -> list[str] | None:
    if any(cells[len(header) :]):
        faults.append(
            Fault(
                f"line {number} has {len(cells)} cells: {', '.join(cells)}",
                expected=f"{len(header)} cells: {', '.join(header)}",
                fix='quote cells that contain the separator: "a;b"',
                file=str(path),
            )
        )
        return None
    return [*cells[: len(header)], *([""] * (len(header) - len(cells)))]
