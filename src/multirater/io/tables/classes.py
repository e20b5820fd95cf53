"""Class names, colours and file values, kept in `classes.csv` beside the manifest.

Columns: `index` (0, 1, ...; -1 for *unlabelled*), `name`, optional `colour` (`#rrggbb`) and
optional `value` (what stands for the class in label files, when that is not its index).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.atomic import replacing
from multirater.io.tables.csv_table import read_table
from multirater.io.tables.spreadsheet import shown
from multirater.types import MISSING, Classes, LabelClass

FILE_NAME = "classes.csv"
_EXPECTED = "columns index, name[, colour][, value]"


def read_classes(path: Path) -> Classes:
    """Read a classes file.

    Raises:
        InputError: with everything that is wrong in it.
    """
    faults: list[Fault] = []
    header, lines = read_table(path, faults, expected=_EXPECTED, aliases={"color": "colour"})
    if "index" not in header:
        raise InputError(
            Fault(
                f"has columns {', '.join(header)}: no index",
                expected=_EXPECTED,
                fix="rename or add the column in the first line",
                file=str(path),
            )
        )
    rows = [dict(zip(header, line, strict=True)) for line in lines]
    numbers = {
        column: [_whole_number(row.get(column, ""), column, faults) for row in rows]
        for column in ("index", "value")
    }
    colours = [_colour(row.get("colour", ""), faults) for row in rows]
    indices = numbers["index"]
    faults += _index_faults(indices) if not faults else []
    by_index = dict(zip(indices, zip(rows, colours, numbers["value"], strict=True), strict=True))
    items = [
        LabelClass(row.get("name") or f"class {index}", colour, value)
        for index, (row, colour, value) in sorted(by_index.items(), key=lambda each: each[0] or 0)
        if index != MISSING
    ]
    unlabelled = by_index[MISSING][2] if MISSING in by_index else None
    faults += _ambiguities(items, unlabelled)
    if faults:
        raise InputError([fault.at(file=path) for fault in faults])
    return Classes(tuple(items), unlabelled)


def _whole_number(cell: str, column: str, faults: list[Fault]) -> int | None:
    try:
        return int(cell) if cell or column == "index" else None
    except ValueError:
        faults.append(
            Fault(
                f"{column} is {cell!r}",
                expected="a whole number",
                fix="correct it" if column == "index" else "correct it, or leave the cell empty",
            )
        )
        return None


def _colour(cell: str, faults: list[Fault]) -> str:
    if not cell:
        return ""
    if re.fullmatch("#?[0-9a-fA-F]{6}", cell):
        return "#" + cell.lstrip("#").lower()
    faults.append(
        Fault(f"colour is {cell!r}", expected="#rrggbb, such as #e66100", fix="correct the colour")
    )
    return ""


def _index_faults(indices: Sequence[int | None]) -> list[Fault]:
    positive = sorted(index for index in indices if index is not None and index != MISSING)
    if positive == list(range(len(positive))) and positive and indices.count(MISSING) <= 1:
        return []
    return [
        Fault(
            f"class indices {', '.join(map(str, indices)) or 'are missing'}",
            expected="0, 1, 2, ... without gaps, each once; 0 is the background of masks",
            fix="number the classes from 0; use the column `value` for other numbers in files",
        )
    ]


def _ambiguities(items: Sequence[LabelClass], unlabelled: int | None) -> list[Fault]:
    """List names, colours and file values that stand for two classes."""
    # A class without a value of its own is stored as its index.
    values: list[int | None] = [
        index if item.value is None else item.value for index, item in enumerate(items)
    ]
    columns: dict[str, list[object]] = {
        "name": [item.name for item in items],
        "colour": [item.colour for item in items if item.colour],
        "value": [*values, *([] if unlabelled is None else [unlabelled])],
    }
    return [
        Fault(
            f"{column} {twice} stands for two classes",
            expected=f"a {column} of its own for each class",
            fix=f"change one {column}",
        )
        for column, cells in columns.items()
        for twice in dict.fromkeys(cell for cell in cells if cells.count(cell) > 1)
    ]


def write_classes(classes: Classes, path: Path, *, overwrite: bool = False) -> None:
    """Write a classes file."""
    with (
        replacing(path, overwrite=overwrite) as temporary,
        temporary.open("w", newline="", encoding="utf-8") as stream,
    ):
        writer = csv.writer(stream)
        writer.writerow(["index", "name", "colour", "value"])
        for index, item in enumerate(classes.items):
            writer.writerow([index, shown(item.name), item.colour, _or_empty(item.value)])
        if classes.unlabelled is not None:
            writer.writerow([MISSING, "unlabelled", "", classes.unlabelled])


def _or_empty(value: int | None) -> str:
    return "" if value is None else str(value)
