"""What can be wrong with a data set's table, before any image is read."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

from multirater.errors import Fault
from multirater.io.formats.images import READABLE, suffix_of
from multirater.io.formats.stray import STRAYS
from multirater.io.tables.dates import day_of
from multirater.io.tables.manifest import IMAGE_SEPARATOR, KINDS, MASK, Row

LabelKind: TypeAlias = Literal["masks", "classes"]

_OF_A_CASE = ("image", "truth", "split", "patient", "diagnosis")
"""Columns that say the same in every row of a case, or nothing."""


class Files:
    """The files that cells of a table name, relative to a folder; each is looked for once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._root = str(root)
        self._exists: dict[str, bool] = {}

    def path(self, cell: str) -> Path:
        """Return the file of a cell; backslashes separate folders where no file has them."""
        return Path(self.name(cell))

    def name(self, cell: str) -> str:
        """Return the file of a cell as text."""
        if "\\" in cell and not self._is_there(cell):
            cell = cell.replace("\\", "/")
        return os.path.join(self._root, cell)  # noqa: PTH118, a path takes more memory

    def images(self, cell: str) -> tuple[Path, ...]:
        """Return the image files of a cell, one per modality."""
        return tuple(self.path(part) for part in self.parts(cell))

    def parts(self, cell: str) -> list[str]:
        """Cut a cell with several files; a single file may have the separator in its name."""
        if IMAGE_SEPARATOR not in cell or self.exists(cell):
            return [cell] if cell else []
        return [part.strip() for part in cell.split(IMAGE_SEPARATOR) if part.strip()]

    def exists(self, cell: str) -> bool:
        """Whether the file of a cell is there."""
        if cell not in self._exists:
            self._exists[cell] = self._is_there(cell) or (
                "\\" in cell and self._is_there(cell.replace("\\", "/"))
            )
        return self._exists[cell]

    def _is_there(self, cell: str) -> bool:
        # Not by pathlib, which takes ten times as long and raises on names that are too long.
        return os.path.exists(os.path.join(self._root, cell))  # noqa: PTH110, PTH118

    def is_named(self, cell: str) -> bool:
        """Whether a cell names a file, there or not, rather than a class."""
        if suffix_of(cell) in READABLE:
            return True
        path = str(self.path(cell))
        return os.path.isfile(path) or ("/" in cell and os.path.isdir(path))  # noqa: PTH112, PTH113


def kind_of_labels(rows: Sequence[Row], files: Files) -> LabelKind:
    """Labels are masks when any of them is named like a file or is one, or is a drawing."""
    if any(row.is_drawing for row in rows):
        return "masks"
    cells = [cell for row in rows for cell in (row.label, row.truth) if cell]
    return "classes" if cells and not any(map(files.is_named, cells)) else "masks"


def table_faults(rows: list[Row], files: Files, kind: LabelKind) -> tuple[list[Row], list[Fault]]:
    """Find every fault of the table.

    Args:
        rows: the table.
        files: to look for the files it names.
        kind: `masks`, or `classes` when labels are no files.

    Returns:
        What is in order of the rows (cells at fault are emptied), and the faults.
    """
    faults: list[Fault] = []
    first: dict[str, Row] = {}
    seen: set[tuple[str, str, str]] = set()
    in_order = []
    for row in rows:
        found = [*_cell_faults(row), *_conflicts(first.setdefault(row.case, row), row)]
        first[row.case] = _merged(first[row.case], row)
        what = (row.case, row.rater, row.kind if row.is_drawing else MASK)
        if what in seen:
            found.append(_twice(row))
        seen.add(what)
        missing, kept = _missing_files(row, files, kind)
        faults += [*found, *missing]
        if not found:
            in_order.append(kept)
    if kind == "masks":
        faults += _empty_cases(first.values(), rows)
    faults += _idle_raters(rows)
    return in_order, list(dict.fromkeys(faults))


def _cell_faults(row: Row) -> list[Fault]:
    said = ", ".join(cell for cell in (row.image, row.rater, row.label) if cell)
    faults = []
    if not row.case:
        faults.append(
            Fault(
                f"a row without a case name ({said})",
                expected="a name in every row",
                fix="fill in the column `case`",
                rater=row.rater,
            )
        )
    if row.label and not row.rater:
        faults.append(
            Fault(
                f"a label without a rater ({row.label})",
                expected="who drew it",
                fix="fill in the column `rater`",
                case=row.case,
            )
        )
    if row.kind and row.kind not in KINDS:
        faults.append(
            Fault(
                f"kind {row.kind!r}",
                expected=f"one of {', '.join(KINDS)}; empty for a mask",
                fix="correct the column `kind`",
                case=row.case,
                rater=row.rater,
            )
        )
    return [*faults, *_undrawn_faults(row), *_stray_faults(row), *_when_faults(row)]


def _when_faults(row: Row) -> list[Fault]:
    if not row.when or math.isfinite(day_of(row.when)):
        return []
    return [
        Fault(
            f"when {row.when!r}",
            expected="a date or time in ISO 8601, such as 2025-03-01 or 2025-03-01T14:30",
            fix="correct the column `when`, or leave the cell empty",
            case=row.case,
            rater=row.rater,
        )
    ]


def _stray_faults(row: Row) -> list[Fault]:
    if row.stray in ("", *STRAYS):
        return []
    expected = f"{' or '.join(STRAYS)}; empty where values that stand for no class are refused"
    return [Fault(f"stray {row.stray!r}", expected=expected, case=row.case, rater=row.rater)]


def _undrawn_faults(row: Row) -> list[Fault]:
    if not row.undrawn:
        return []
    where = {"case": row.case, "rater": row.rater}
    if not row.is_drawing:
        fix = "declare unlabelled pixels of masks in classes.csv, or set the column `kind`"
        return [Fault("a mask with a value in the column `undrawn`", fix=fix, **where)]
    if not row.undrawn.removeprefix("-").isdecimal():
        expected = "a whole number: the value of the pixels where nothing was drawn"
        return [Fault(f"undrawn {row.undrawn!r}", expected=expected, **where)]
    return []


def _twice(row: Row) -> Fault:
    what = f"{row.kind} drawings" if row.is_drawing else "rows"
    return Fault(
        f"two {what} for one case and rater" if row.rater else "two rows for one case",
        expected="one row per case and rater, and per kind of drawing",
        fix="keep one of them, or give the second a name of its own",
        case=row.case,
        rater=row.rater,
    )


def _conflicts(first: Row, row: Row) -> list[Fault]:
    fixes = {"image": "give two images two case names"}
    fixes |= dict.fromkeys(("truth", "split", "patient", "diagnosis"), "keep one")
    return [
        Fault(
            f"{column} is both {getattr(first, column)} and {getattr(row, column)}",
            expected=f"one {column} per case",
            fix=fix,
            case=row.case,
        )
        for column, fix in fixes.items()
        if getattr(row, column) and getattr(first, column) not in ("", getattr(row, column))
    ]


def _merged(first: Row, row: Row) -> Row:
    said = {name: getattr(first, name) or getattr(row, name) for name in _OF_A_CASE}
    if all(getattr(first, name) == text for name, text in said.items()):
        return first
    return replace(first, **said)


def _missing_files(row: Row, files: Files, kind: LabelKind) -> tuple[list[Fault], Row]:
    """Return the faults, and the row without what is missing."""
    cells = [("image", "", part) for part in files.parts(row.image)]
    if kind == "masks":
        cells += [("label", row.rater, row.label), ("truth", "(truth)", row.truth)]
    faults = []
    for column, rater, cell in cells:
        if cell and not files.exists(cell):
            row = replace(row, **{column: ""})
            faults.append(
                Fault(
                    "file does not exist",
                    expected="a path relative to the manifest, or an absolute one",
                    fix="correct the path, or leave the cell empty",
                    file=str(files.path(cell)),
                    case=row.case,
                    rater=rater,
                )
            )
    return faults, row


def _empty_cases(cases: Iterable[Row], rows: list[Row]) -> list[Fault]:
    labelled = {row.case for row in rows if row.label}
    return [
        Fault(
            "case has neither image nor label",
            expected="at least one of them",
            fix="fill in the row, or remove it",
            case=case.case,
        )
        for case in cases
        if case.case and not case.image and not case.truth and case.case not in labelled
    ]


def _idle_raters(rows: list[Row]) -> list[Fault]:
    labelled = {row.rater for row in rows if row.label}
    return [
        Fault(
            "rater has no labels",
            expected="at least one label of every rater",
            fix="add labels, or remove the rows",
            rater=rater,
        )
        for rater in dict.fromkeys(row.rater for row in rows if row.rater)
        if rater not in labelled
    ]
