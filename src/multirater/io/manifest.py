"""The data set as one long table, `manifest.csv`: one row per case and rater.

Columns: `case`, `image`, `rater`, `label`, and optionally `truth` and `split`. Paths are relative
to the table. `kind`, optional, tells masks from coarse drawings (`positive`, `negative`); a rater
may give one case a mask and a drawing of each kind. `undrawn` is the value of a drawing's file that
means *nothing drawn here*. Several image files of a case (modalities) are separated by `;`. For
data sets of class labels, `label` and `truth` hold a class name instead of a path. A case without
label is unlabelled. `simulated`, also optional, holds what a simulator drew to make the label, as
JSON.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import get_args

from multirater.errors import Fault, InputError
from multirater.io.atomic import replacing
from multirater.io.csv_table import read_table
from multirater.types import DrawingKind

FILE_NAME = "manifest.csv"
IMAGE_SEPARATOR = ";"
ALIASES = {"worker": "rater", "annotator": "rater"}
"""Other names of columns that are understood on the way in."""

MASK = "mask"
DRAWING_KINDS: tuple[DrawingKind, ...] = get_args(DrawingKind)
KINDS = (MASK, *DRAWING_KINDS)
"""What a label may be; an empty cell means a mask."""

_ONLY_WHERE_USED = ("simulated", "kind", "undrawn")
"""Columns that are left out of a table in which they would be empty."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; empty text where it says nothing."""

    case: str
    image: str = ""
    rater: str = ""
    label: str = ""
    truth: str = ""
    split: str = ""
    simulated: str = ""
    kind: str = ""
    undrawn: str = ""

    @property
    def is_drawing(self) -> bool:
        """Whether the label is a coarse drawing, which says nothing of the pixels it leaves out."""
        return self.kind in DRAWING_KINDS


COLUMNS = tuple(field.name for field in fields(Row))


def read_rows(path: Path, faults: list[Fault]) -> list[Row]:
    """Read the table; lines that cannot be used are left out and noted in `faults`."""
    header, lines = read_table(path, faults, expected=_expected(), aliases=ALIASES)
    require_columns(header, str(path))
    at = [header.index(name) if name in header else None for name in COLUMNS]
    return [Row(*("" if i is None else line[i] for i in at)) for line in lines]


def write_rows(rows: Iterable[Row], path: Path, *, overwrite: bool = False) -> None:
    """Write the table."""
    listed = list(rows)
    used = [
        name
        for name in COLUMNS
        if name not in _ONLY_WHERE_USED or any(getattr(row, name) for row in listed)
    ]
    with (
        replacing(path, overwrite=overwrite) as temporary,
        temporary.open("w", newline="", encoding="utf-8") as stream,
    ):
        writer = csv.writer(stream)
        writer.writerow(used)
        writer.writerows([getattr(row, name) for name in used] for row in listed)


def cell_of(paths: Sequence[Path], folder: Path) -> str:
    """Return the cell that names files in a manifest of `folder`, by relative paths."""
    return IMAGE_SEPARATOR.join(
        Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix() for path in paths
    )


def require_columns(header: Sequence[str], where: str) -> None:
    """Refuse a table that lacks a column; `image` alone is enough for unlabelled cases."""
    needed = ["case"] if "image" in header and "label" not in header else ["case", "rater", "label"]
    for name in header:
        meant = get_close_matches(name, COLUMNS, n=1, cutoff=0.8)
        if name not in COLUMNS and meant and meant[0] not in header:
            raise InputError(
                Fault(
                    f"has a column {name!r}",
                    expected=_expected(),
                    fix=f"rename it to {meant[0]!r}, if that is what it is",
                    file=where,
                )
            )
    missing = [name for name in needed if name not in header]
    if missing:
        raise InputError(
            Fault(
                f"has columns {', '.join(header)}: no {', '.join(missing)}",
                expected=_expected(),
                fix="rename or add the columns in the first line",
                file=where,
            )
        )


def _expected() -> str:
    return "a first line with the columns case, image, rater, label[, truth][, split][, kind]"
