"""Class names, colours and file values, kept in `classes.csv` beside the manifest.

Columns: `index` (0, 1, ...; -1 for *unlabelled*), `name`, optional `colour` (`#rrggbb`), optional
`value` (what stands for the class in label files, when that is not its index; several by spaces, of
which the first is written), and optional `truth_value` (the same for files of the truth, when those
hold other values).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.atomic import replacing
from multirater.io.tables.csv_table import read_table
from multirater.io.tables.spreadsheet import shown
from multirater.types import MISSING, Classes, LabelClass

FILE_NAME = "classes.csv"
COLOUR = re.compile("#?[0-9a-fA-F]{6}")
"""A colour: red, green and blue."""

_EXPECTED = "columns index, name[, colour][, value][, truth_value]"
_ALIASES = {"color": "colour", "truth value": "truth_value"}


def names_in_order(names: Sequence[str]) -> list[str]:
    """Put classes in order: whole numbers by their value, then names.

    Example:
        >>> names_in_order(["b", "10", "a", "9"])
        ['9', '10', 'a', 'b']
    """
    numbers = [name for name in names if re.fullmatch(r"[+-]?[0-9]{1,15}", name)]
    others = sorted(set(names) - set(numbers))
    return [*sorted(numbers, key=lambda name: (int(name), name)), *others]


def read_classes(path: Path) -> Classes:
    """Read a classes file.

    Raises:
        InputError: with everything that is wrong in it.
    """
    faults: list[Fault] = []
    header, lines = read_table(path, faults, expected=_EXPECTED, aliases=_ALIASES)
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
    indices = [_index(row["index"], faults) for row in rows]
    items = [_item(index, row, faults) for index, row in zip(indices, rows, strict=True)]
    faults += _index_faults(indices) if not faults else []
    by_index = dict(zip(indices, items, strict=True))
    blank = by_index.pop(MISSING, LabelClass("unlabelled"))
    in_order = sorted(by_index, key=lambda index: index or 0)
    classes = Classes(
        tuple(by_index[index] for index in in_order),
        blank.value,
        blank.other_values,
        blank.truth_values,
    )
    faults += _ambiguities(classes)
    if faults:
        raise InputError([fault.at(file=path) for fault in faults])
    return classes


def _item(index: int | None, row: Mapping[str, str], faults: list[Fault]) -> LabelClass:
    """Return the class of a row; that of index -1 holds the values of unlabelled pixels."""
    first, *others = _values(row, "value", faults) or (None,)
    return LabelClass(
        row.get("name") or f"class {index}",
        _colour(row.get("colour", ""), faults),
        first,
        tuple(value for value in others if value is not None),
        _values(row, "truth_value", faults),
    )


def _index(cell: str, faults: list[Fault]) -> int | None:
    try:
        return int(cell)
    except ValueError:
        faults.append(Fault(f"index is {cell!r}", expected="a whole number", fix="correct it"))
        return None


def _values(row: Mapping[str, str], column: str, faults: list[Fault]) -> tuple[int, ...]:
    cell = row.get(column, "")
    try:
        return tuple(dict.fromkeys(int(part) for part in re.split(r"[\s;,|]+", cell) if part))
    except ValueError:
        faults.append(
            Fault(
                f"{column} is {cell!r}",
                expected="a whole number, or several by spaces",
                fix="correct it, or leave the cell empty",
            )
        )
        return ()


def _colour(cell: str, faults: list[Fault]) -> str:
    if not cell:
        return ""
    if COLOUR.fullmatch(cell):
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


def _ambiguities(classes: Classes) -> list[Fault]:
    """List names, colours and file values that stand for two classes."""
    columns: dict[str, list[object]] = {
        "name": list(classes.names),
        "colour": [item.colour for item in classes.items if item.colour],
        "value": _in_files(classes),
        "truth_value": _in_files(classes.in_truth()),
    }
    if columns["truth_value"] == columns["value"]:
        del columns["truth_value"]
    return [
        Fault(
            f"{column} {twice} stands for two classes",
            expected=f"a {column} of its own for each class",
            fix=f"change one {column}",
        )
        for column, cells in columns.items()
        for twice in dict.fromkeys(cell for cell in cells if cells.count(cell) > 1)
    ]


def _in_files(classes: Classes) -> list[object]:
    """List every value that stands for something; a class without one is stored as its index."""
    found: list[object] = []
    for index, item in enumerate(classes.items):
        found += [index if item.value is None else item.value, *item.other_values]
    if classes.unlabelled is not None:
        found += [classes.unlabelled, *classes.other_unlabelled]
    return found


def write_classes(classes: Classes, path: Path, *, overwrite: bool = False) -> None:
    """Write a classes file."""
    has_truth = bool(classes.truth_unlabelled) or any(item.truth_values for item in classes.items)
    blank = LabelClass(
        "unlabelled", "", classes.unlabelled, classes.other_unlabelled, classes.truth_unlabelled
    )
    rows = list(enumerate(classes.items))
    if blank.value is not None or blank.truth_values:
        rows.append((MISSING, blank))
    with (
        replacing(path, overwrite=overwrite) as temporary,
        temporary.open("w", newline="", encoding="utf-8") as stream,
    ):
        writer = csv.writer(stream)
        writer.writerow(["index", "name", "colour", "value", *["truth_value"] * has_truth])
        for index, item in rows:
            own = () if item.value is None else (item.value, *item.other_values)
            cells = [_cell(own), *[_cell(item.truth_values)] * has_truth]
            writer.writerow([index, shown(item.name), item.colour, *cells])


def _cell(values: Sequence[int]) -> str:
    return " ".join(map(str, values))
