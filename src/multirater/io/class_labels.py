"""Class labels of a table: their classes, and which cell says what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from multirater.errors import Fault, InputError
from multirater.io.tables.classes import names_in_order
from multirater.io.tables.manifest import Row
from multirater.types import MISSING, MOST_CLASSES, Classes, LabelClass
from multirater.words import listed


def class_labels(
    rows: Iterable[Row], classes: Classes | None, faults: list[Fault]
) -> tuple[list[Row], Classes]:
    """Settle the classes.

    Only an empty cell says *not labelled*; so does -1 where classes are declared, by their index
    too, and none of them is called so.
    """
    named = [_without_missing(row) for row in rows] if _is_by_index(classes) else list(rows)
    faults += [
        Fault(
            f"the label {name!r} holds the end of a line, or what no text holds",
            expected="the name of a class",
            fix="end the quotes before it",
            case=row.case,
            rater=row.rater,
        )
        for row in named
        for name in (row.label, row.truth)
        if re.search(r"[\r\n\0]", name)
    ]
    settled = classes or _counted_names(named)
    faults += _unknown_names(named, settled)
    return named, settled


def _is_by_index(classes: Classes | None) -> bool:
    return classes is not None and str(MISSING) not in classes.names


def _without_missing(row: Row) -> Row:
    cells = {name: getattr(row, name) for name in ("label", "truth")}
    return replace(row, **{n: "" if cell == str(MISSING) else cell for n, cell in cells.items()})


def _counted_names(rows: Iterable[Row]) -> Classes:
    names = {name for row in rows for name in (row.label, row.truth) if name}
    ordered = names_in_order(sorted(names))
    if len(ordered) > MOST_CLASSES:
        raise InputError(
            Fault(
                f"{len(ordered)} different labels, such as {listed(ordered, most=3)}",
                expected=f"at most {MOST_CLASSES} classes",
                fix="is the column of labels one of classes, rather than of texts or numbers?",
            )
        )
    return Classes(tuple(LabelClass(name) for name in ordered))


def _unknown_names(rows: Iterable[Row], classes: Classes) -> list[Fault]:
    known = index_by_name(classes)
    of_truth = index_by_name(classes.in_truth())
    return [
        Fault(
            f"unknown class {name!r}",
            expected=f"one of {', '.join(classes.names)}",
            fix="correct the name, or add it to classes.csv",
            case=row.case,
            rater=rater,
        )
        for row in rows
        for rater, name, among in (
            (row.rater, row.label, known),
            ("(truth)", row.truth, of_truth),
        )
        if name and name not in among
    ]


def index_by_name(classes: Classes) -> Mapping[str, int]:
    """Classes go by their names; or by their number, where that is no other's name."""
    numbers = {str(value): index for value, index in classes.by_value().items() if index >= 0}
    return numbers | {name: index for index, name in enumerate(classes.names)}
