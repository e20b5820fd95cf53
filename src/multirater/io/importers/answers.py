"""Class labels of a crowd, whatever platform they come from: rows become tasks with choices."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from multirater.errors import Fault, InputError
from multirater.io.importers.image_folder import stem_of
from multirater.io.importers.json_files import Record
from multirater.io.importers.layers import index_of, named_classes
from multirater.io.importers.work import Export, Task, Work
from multirater.io.tables.csv_table import read_table
from multirater.words import counted


@dataclass(frozen=True)
class Answer:
    """One answer of one rater to one question; without a choice it was skipped."""

    where: str
    item: str
    rater: str
    choice: str
    truth: str = ""


def answers_export(answers: Iterable[Answer], order: Sequence[str], file: Path) -> Export:
    """Return the export of answers; a rater who answers twice is found when tasks are joined."""
    listed = list(answers)
    chosen = [each for each in listed if each.choice]
    if not chosen:
        raise InputError(Fault("holds no answer", expected="at least one", file=str(file)))
    used = {each.choice for each in chosen} | {each.truth for each in chosen if each.truth}
    classes = named_classes(used, order, background=False)
    known = {name: index for index, name in enumerate(classes.names)}
    faults: list[Fault] = []
    for each in chosen:
        said = {"the answer": each.choice, "the golden answer": each.truth or each.choice}
        for what, name in said.items():
            try:
                index_of(name, known, what)
            except InputError as error:
                place = f"{each.item} ({each.where})"
                faults += error.at(case=place, rater=each.rater, file=file).faults
    tasks = tuple(
        Task(
            each.where,
            each.item if "." in stem_name(each.item) else "",
            work={each.rater: Work(each.where, choice=each.choice)},
            name=stem_of(each.item) if "." in stem_name(each.item) else each.item,
            truth=Work(each.where, choice=each.truth) if each.truth in known else None,
        )
        for each in chosen
        if each.choice in known
    )
    n_skipped = len(listed) - len(chosen)
    notes = (f"{counted(n_skipped, 'answer')} skipped, so missing",) if n_skipped else ()
    return Export(classes, tasks, "classes", notes, tuple(faults))


def stem_name(item: str) -> str:
    """Return the last part of a path or address."""
    return item.split("?")[0].rsplit("/", 1)[-1]


def read_lines(path: Path, what: str) -> Iterator[tuple[int, Record]]:
    """Yield the objects of a JSONL file with their lines."""
    faults: list[Fault] = []
    lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    found: list[tuple[int, Record]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            content = json.loads(line)
            if not isinstance(content, dict):
                raise ValueError("no object")
            found.append((number, content))
        except ValueError as error:
            faults.append(
                Fault(f"line {number}: {error}", expected=what, fix="export again", file=str(path))
            )
    if not found and not faults:
        faults.append(Fault("is empty", expected=what, file=str(path)))
    if faults:
        raise InputError(faults)
    yield from found


def read_columns(path: Path, what: str) -> tuple[list[str], list[dict[str, str]]]:
    """Return the columns and the rows of a CSV or TSV file."""
    faults: list[Fault] = []
    try:
        header, lines = read_table(path, faults, expected=what)
    except UnicodeDecodeError:
        raise InputError(Fault("is no text", expected=what, file=str(path))) from None
    if faults:
        raise InputError([fault.at(file=path) for fault in faults])
    return header, [dict(zip(header, line, strict=True)) for line in lines]


def the_column(header: Sequence[str], start: str, wanted: str, path: Path) -> str:
    """Return the one column that begins so, or the one that is called `wanted` after it."""
    found = [name for name in header if name.startswith(start)]
    if start + wanted in found:
        return start + wanted
    if len(found) == 1:
        return found[0]
    raise InputError(
        Fault(
            f"{len(found) or 'no'} columns begin with {start!r}: {', '.join(found or header)}",
            expected=f"one, or one called {start + wanted}",
            fix="remove the other columns, or rename the one that is meant",
            file=str(path),
        )
    )


def text_of(value: Any) -> str:
    """Return a cell as text; nothing for what is not there."""
    return "" if value is None else str(value).strip()
