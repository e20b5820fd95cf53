"""CSV files as people save them: three separators, with or without a byte-order mark."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.tables.parquet_table import is_parquet, read_cells
from multirater.io.tables.spreadsheet import meant
from multirater.words import counted

UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""How a text of UTF-16 begins, by which it is told."""


_SEPARATORS = ",;\t"
_STATED = re.compile(r'"?sep=(.)"?[,;\t]*\s*', re.IGNORECASE)
"""A first line by which Excel states what separates the columns."""


@dataclass(frozen=True)
class Dialect:
    """How a table is written.

    Attributes:
        encoding: UTF-8, or UTF-16 where its first bytes say so.
        separator: of the columns: what the first line states (`sep=;`), else the most frequent one
            of the header.
        header: the line with the names of the columns; empty where there is none.
        skipped: lines before the header.
    """

    encoding: str
    separator: str
    header: str
    skipped: int


def dialect_of(path: Path, *, errors: str = "strict") -> Dialect:
    """Look at the beginning of a table.

    Args:
        path: the file.
        errors: what to do about bytes that are no text, as for `open`.
    """
    with path.open("rb") as stream:
        encoding = "utf-16" if stream.read(2) in UTF_16 else "utf-8-sig"
    stated: re.Match[str] | None = None
    with path.open(encoding=encoding, errors=errors) as lines:
        for number, line in enumerate(lines):
            if line.strip() and stated is None:
                stated = _STATED.fullmatch(line)
                if stated is None:
                    return Dialect(encoding, _separator_of(line), line, number)
            elif line.strip() and stated is not None:
                return Dialect(encoding, stated[1], line, number)
    return Dialect(encoding, ",", "", 0)


def _separator_of(header: str) -> str:
    return max(_SEPARATORS, key=header.count)


def records(lines: Iterator[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which each record ends, and its cells; blank lines are passed by.

    Raises:
        csv.Error: quotes do not end, or text stands behind one that does.
    """
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise csv.Error(f"line {reader.line_num}: {error}") from None


def read_table(
    path: Path,
    faults: list[Fault],
    *,
    expected: str,
    aliases: Mapping[str, str] | None = None,
    once: Collection[str] | None = None,
    whole: Collection[str] = (),
) -> tuple[list[str], list[list[str]]]:
    """Read a table with a header; comma, semicolon or tab separates its columns.

    Cells are stripped, blank lines are left out, and cells that are missing at the end of a line
    are empty, but for those of which a line says a part.

    Args:
        path: the file, UTF-8 with or without a byte-order mark, or UTF-16 with one; or Parquet.
        faults: where lines that do not fit the header are noted; they are left out.
        expected: the header, in words, for messages.
        aliases: other names of columns.
        once: the columns that must not be there twice; all of them when not given.
        whole: columns that belong together: a line that fills some of them has a cell for each.

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
    dialect = dialect_of(path)
    if not dialect.header:
        raise InputError(Fault("is empty", expected=expected, file=str(path)))
    stream = StringIO(text, newline="")
    for _ in range(dialect.skipped):
        stream.readline()
    try:
        lines = [
            (number + dialect.skipped, [meant(cell.strip()) for cell in cells])
            for number, cells in records(stream, dialect.separator)
        ]
    except csv.Error as error:
        raise InputError(
            Fault(
                f"cannot be read as a table: {error}",
                expected=expected,
                fix='quote cells as "..." and write a quote inside them twice',
                file=str(path),
            )
        ) from None
    header = [(aliases or {}).get(name.lower(), name.lower()) for name in lines[0][1]]
    require_distinct([name for name in header if once is None or name in once], str(path))
    together = [place for place, name in enumerate(header) if name in whole]
    rows = [_row(header, number, cells, together, path, faults) for number, cells in lines[1:]]
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
    header: list[str],
    number: int,
    cells: list[str],
    together: Collection[int],
    path: Path,
    faults: list[Fault],
) -> list[str] | None:
    is_cut = any(cells[k : k + 1] not in ([], [""]) for k in together) and any(
        k >= len(cells) for k in together
    )
    if is_cut or any(cells[len(header) :]):
        faults.append(
            Fault(
                f"line {number} has {counted(len(cells), 'cell')}: {', '.join(cells)}",
                expected=f"{len(header)} cells: {', '.join(header)}",
                fix="give every line one cell per column, and quote cells that contain the "
                'separator: "a;b"',
                file=str(path),
            )
        )
        return None
    return [*cells[: len(header)], *([""] * (len(header) - len(cells)))]
