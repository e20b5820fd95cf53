"""The data set as one long table, `manifest.csv`: one row per case and rater.

Columns: `case`, `image`, `rater`, `label`, and optionally `truth` and `split`. Paths are relative
to the table. Several image files of a case (modalities) are separated by `;`. For data sets of
class labels, `label` and `truth` hold a class name instead of a path. A case without label is
unlabelled. `simulated`, also optional, holds what a simulator drew to make the label, as JSON.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.atomic import replacing

FILE_NAME = "manifest.csv"
IMAGE_SEPARATOR = ";"
_ALIASES = {"worker": "rater", "annotator": "rater"}


@dataclass(frozen=True)
class Row:
    """One line of the table; empty text where it says nothing."""

    case: str
    image: str = ""
    rater: str = ""
    label: str = ""
    truth: str = ""
    split: str = ""
    simulated: str = ""


COLUMNS = tuple(field.name for field in fields(Row))


def read_rows(path: Path) -> list[Row]:
    """Read the table; comma, semicolon or tab may separate its columns."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            Fault(f"is not UTF-8 text ({error})", fix="save the table as UTF-8 CSV", file=str(path))
        ) from None
    lines = text.splitlines()
    if not lines:
        raise InputError(Fault("is empty", expected=_expected(), file=str(path)))
    separator = max(",;\t", key=lines[0].count)
    reader = csv.reader(lines, delimiter=separator)
    header = [name.strip().lower() for name in next(reader)]
    header = [_ALIASES.get(name, name) for name in header]
    _require_columns(header, path)
    positions = [header.index(name) if name in header else None for name in COLUMNS]
    rows = []
    for cells in reader:
        if any(cell.strip() for cell in cells):
            padded = [*cells, *([""] * (len(header) - len(cells)))]
            rows.append(Row(*("" if at is None else padded[at].strip() for at in positions)))
    return rows


def write_rows(rows: Iterable[Row], path: Path, *, overwrite: bool = False) -> None:
    """Write the table."""
    listed = list(rows)
    used = [name for name in COLUMNS if name != "simulated" or any(row.simulated for row in listed)]
    with (
        replacing(path, overwrite=overwrite) as temporary,
        temporary.open("w", newline="", encoding="utf-8") as stream,
    ):
        writer = csv.writer(stream)
        writer.writerow(used)
        writer.writerows([getattr(row, name) for name in used] for row in listed)


def _require_columns(header: Sequence[str], path: Path) -> None:
    needed = ["case"] if "image" in header and "label" not in header else ["case", "rater", "label"]
    missing = [name for name in needed if name not in header]
    if missing:
        raise InputError(
            Fault(
                f"has columns {', '.join(header)}: no {', '.join(missing)}",
                expected=_expected(),
                fix="rename or add the columns in the first line",
                file=str(path),
            )
        )


def _expected() -> str:
    return "a first line with the columns case, image, rater, label[, truth][, split]"
