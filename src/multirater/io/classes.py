"""Class names, colours and file values, kept in `classes.csv` beside the manifest.

Columns: `index` (0, 1, ...; -1 for *unlabelled*), `name`, optional `colour` (`#rrggbb`) and
optional `value` (what stands for the class in label files, when that is not its index).
"""

from __future__ import annotations

import csv
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.atomic import replacing
from multirater.types import MISSING, Classes, LabelClass

FILE_NAME = "classes.csv"


def read_classes(path: Path) -> Classes:
    """Read a classes file."""
    with path.open(newline="", encoding="utf-8-sig") as stream:
        rows = [
            {(key or "").strip().lower(): (value or "").strip() for key, value in row.items()}
            for row in csv.DictReader(stream)
        ]
    try:
        by_index = {int(row["index"]): row for row in rows}
        values = {index: int(row["value"]) for index, row in by_index.items() if row.get("value")}
    except (KeyError, ValueError) as error:
        raise InputError(
            Fault(
                f"cannot be read as classes: {error}",
                expected="columns index, name[, colour][, value] with whole numbers",
                file=str(path),
            )
        ) from None
    indices = sorted(index for index in by_index if index != MISSING)
    if indices != list(range(len(indices))) or len(by_index) != len(rows) or len(indices) < 2:
        raise InputError(
            Fault(
                f"class indices {[row['index'] for row in rows]}",
                expected="0, 1, 2, ... without gaps, at least two, each once",
                file=str(path),
            )
        )
    items = []
    for index in indices:
        row = by_index[index]
        colour = row.get("colour") or row.get("color") or ""
        items.append(LabelClass(row.get("name") or f"class {index}", colour, values.get(index)))
    return Classes(tuple(items), values.get(MISSING))


def write_classes(classes: Classes, path: Path, *, overwrite: bool = False) -> None:
    """Write a classes file."""
    with (
        replacing(path, overwrite=overwrite) as temporary,
        temporary.open("w", newline="", encoding="utf-8") as stream,
    ):
        writer = csv.writer(stream)
        writer.writerow(["index", "name", "colour", "value"])
        for index, item in enumerate(classes.items):
            writer.writerow([index, item.name, item.colour, _or_empty(item.value)])
        if classes.unlabelled is not None:
            writer.writerow([MISSING, "unlabelled", "", classes.unlabelled])


def _or_empty(value: int | None) -> str:
    return "" if value is None else str(value)
