"""The data set as one long table, `manifest.csv`: one row per case and rater.

Columns: `case`, `image`, `rater`, `label`, and optionally `truth`, `split`, `patient` (or `group`:
cases that belong together) and `diagnosis` (of the whole case, by name). Paths are relative to the
table. `kind`, optional, tells masks from coarse drawings (`positive`, `negative`); a rater may give
one case a mask and a drawing of each kind. `undrawn` is the value of a drawing's file that means
*nothing drawn here*; `stray` says how values that stand for no class are read (`nearest`,
`missing`). `when`, optional, says when the label was made (ISO 8601). Several image files of a case
(modalities) are separated by `;`. For data sets of class labels, `label` and `truth` hold a class
name instead of a path; tables of answers may name their columns `task`, `worker` and `answer`. A
case without label is unlabelled. `simulated`, also optional, holds what a simulator drew to make
the label, as JSON.
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
from multirater.io.tables.csv_table import read_table, require_distinct
from multirater.io.tables.spreadsheet import shown
from multirater.types import ANSWER_COLUMNS, DrawingKind

FILE_NAME = "manifest.csv"
IMAGE_SEPARATOR = ";"
_PATIENT = "patient"
_NAMES = {**ANSWER_COLUMNS, _PATIENT: (_PATIENT, "group")}
"""Columns that go by several names on the way in; the first that is there counts."""

_OF_A_LABEL = (*ANSWER_COLUMNS["rater"], *ANSWER_COLUMNS["label"])
"""A line that names a rater and ends there was cut off: it does not say *not labelled*."""

MASK = "mask"
DRAWING_KINDS: tuple[DrawingKind, ...] = get_args(DrawingKind)
KINDS = (MASK, *DRAWING_KINDS)
"""What a label may be; an empty cell means a mask."""

_ONLY_WHERE_USED = ("simulated", "kind", "undrawn", _PATIENT, "stray", "when", "diagnosis")
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
    patient: str = ""
    stray: str = ""
    when: str = ""
    diagnosis: str = ""

    @property
    def is_drawing(self) -> bool:
        """Whether the label is a coarse drawing, which says nothing of the pixels it leaves out."""
        return self.kind in DRAWING_KINDS


COLUMNS = tuple(field.name for field in fields(Row))


def read_rows(path: Path, faults: list[Fault]) -> list[Row]:
    """Read the table; lines that cannot be used are left out and noted in `faults`."""
    names, lines = read_table(path, faults, expected=_expected(), whole=_OF_A_LABEL)
    header = known_columns(names, str(path))
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
        writer.writerows([shown(getattr(row, name)) for name in used] for row in listed)


def cell_of(paths: Sequence[Path], folder: Path) -> str:
    """Return the cell that names files in a manifest of `folder`, by relative paths."""
    return IMAGE_SEPARATOR.join(
        Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix() for path in paths
    )


def known_columns(names: Sequence[str], where: str) -> list[str]:
    """Return the columns under the names of `COLUMNS`, others as they are.

    Labels need their raters and raters their labels; `image` alone is enough for unlabelled cases.

    Args:
        names: of the columns, in lower case.
        where: the table, for messages.

    Raises:
        InputError: a column is missing, misspelt, or there twice.
    """
    header = canonical(names)
    require_distinct(header, where)
    unlabelled = "image" in header and not {"rater", "label"} & set(header)
    needed = ["case"] if unlabelled else ["case", "rater", "label"]
    missing = [name for name in needed if name not in header]
    misspelt = _misspelt(header)
    if missing or misspelt:
        raise InputError(_column_fault(names, missing, misspelt).at(file=where))
    return header


def canonical(names: Sequence[str]) -> list[str]:
    """Return the columns under our names, others as they are.

    Example:
        >>> canonical(["task", "worker", "answer", "seconds"])
        ['case', 'rater', 'label', 'seconds']
    """
    ours: dict[str, str] = {}
    for column, known in _NAMES.items():
        there = next((name for name in known if name in names), column)
        # Two names of the rater are a fault; of the case, say, an item's number may stand beside.
        ours |= dict.fromkeys(known if column == "rater" else (there,), column)
    return [ours.get(name, name) for name in names]


def _misspelt(header: Sequence[str]) -> dict[str, str]:
    """Map unknown columns to the known ones, not there yet, that they are likely meant to be."""
    absent = [name for name in COLUMNS if name not in header]
    close = {
        name: get_close_matches(name, absent, n=1, cutoff=0.8)
        for name in header
        if name not in COLUMNS
    }
    return {name: meant[0] for name, meant in close.items() if meant}


def _column_fault(names: Sequence[str], missing: Sequence[str], misspelt: dict[str, str]) -> Fault:
    known = zip(names, canonical(names), strict=True)
    unknown = [name for name, column in known if name and column not in COLUMNS]
    found = f"has columns {', '.join(names)}"
    if missing:
        found += f": no {', '.join(missing)}"
    if unknown:
        found += f"; not known: {', '.join(unknown)}"
    return Fault(found, expected=_expected(), fix=_column_fix(unknown, missing, misspelt))


def _column_fix(unknown: Sequence[str], missing: Sequence[str], misspelt: dict[str, str]) -> str:
    if not misspelt and len(unknown) == len(missing) == 1:
        misspelt = {unknown[0]: missing[0]}
    if misspelt:
        each = [f"rename {name!r} to {meant!r}" for name, meant in misspelt.items()]
        return f"{' and '.join(each)}, if that is what it is"
    if {"rater", "label"} <= set(missing) and len(unknown) > 1:
        return (
            "rename or add the columns in the first line; a column per rater becomes a row per "
            "case and rater, with the columns case, rater and label"
        )
    return "rename or add the columns in the first line"


def _expected() -> str:
    return (
        "a first line with the columns case, image, rater, label[, truth][, split][, patient]"
        "[, kind][, undrawn][, stray][, when][, diagnosis]; of answers: task, worker, label"
    )
