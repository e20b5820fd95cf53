"""Class labels of a crowd, whatever platform they come from: rows become tasks with choices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from multirater.errors import Fault, InputError
from multirater.io.importers.collecting import collecting
from multirater.io.importers.item_names import is_file, item_names
from multirater.io.importers.json_files import Record, name_in, parsed
from multirater.io.importers.painting import index_of, named_classes
from multirater.io.importers.work import Export, Task, Work
from multirater.io.tables.csv_table import read_table
from multirater.words import counted


@dataclass(frozen=True)
class Answer:
    """One answer of one rater to one question; without a choice it was skipped."""

    file: Path
    where: str
    item: str
    rater: str
    chosen: tuple[str, ...]
    truth: str = ""


def answers_export(answers: Iterable[Answer], order: Sequence[str]) -> Export:
    """Return the export of answers; a rater who answers twice is found when tasks are joined."""
    listed = list(answers)
    chosen = [each for each in listed if each.chosen]
    if not chosen:
        file = str(listed[0].file) if listed else ""
        raise InputError(Fault("holds no answer", expected="at least one", file=file))
    used = {name for each in chosen for name in (*each.chosen, each.truth) if name}
    classes = named_classes(used, order, background=False)
    known = {name: index for index, name in enumerate(classes.names)}
    tasks: list[Task] = []
    faults = _golden_faults(chosen)
    names = item_names(each.item for each in chosen)
    for each in chosen:
        place = f"{each.item} ({each.where})"
        with collecting(faults, case=place, rater=each.rater, file=each.file):
            tasks.append(_task(each, names[each.item], known))
    n_skipped = len(listed) - len(chosen)
    notes = (f"{counted(n_skipped, 'answer')} skipped, so missing",) if n_skipped else ()
    return Export(classes, tuple(tasks), "classes", notes, tuple(faults))


def _golden_faults(answers: Sequence[Answer]) -> list[Fault]:
    """Find items whose golden answers differ."""
    golden: dict[str, str] = {}
    return [
        Fault(
            f"has the golden answers {golden[each.item]!r} and {each.truth!r}",
            expected="one",
            fix="keep the one that is right",
            case=f"{each.item} ({each.where})",
            file=str(each.file),
        )
        for each in answers
        if each.truth and golden.setdefault(each.item, each.truth) != each.truth
    ]


def _task(answer: Answer, name: str, known: Mapping[str, int]) -> Task:
    if len(answer.chosen) > 1:
        raise InputError(
            Fault(
                f"has {len(answer.chosen)} labels: {', '.join(answer.chosen)}",
                expected="one class per item",
                fix="keep one of them, or export each label on its own",
            )
        )
    (choice,) = answer.chosen
    index_of(choice, known, "the answer")
    truth = None
    if answer.truth:
        index_of(answer.truth, known, "the golden answer")
        truth = Work(answer.where, choice=answer.truth)
    return Task(
        answer.where,
        answer.item if is_file(answer.item) else "",
        work={answer.rater: Work(answer.where, choice=choice)},
        name=name,
        truth=truth,
    )


@dataclass(frozen=True)
class ResultColumns:
    """Where the results of a platform have what, all in small letters.

    Attributes:
        what: the file is, in words.
        item: how columns of the input begin, and the name that is taken of several.
        label: the same of the answers.
        rater: the column of the rater.
        number: what an assignment is called, and the column of its number.
        status: the column that says whether it was rejected.
        golden: how columns of known answers begin; empty where there are none.
    """

    what: str
    item: tuple[str, str]
    label: tuple[str, str]
    rater: str
    number: tuple[str, str]
    status: str
    golden: str = ""


def read_results(sources: Sequence[Path], columns: ResultColumns, order: Sequence[str]) -> Export:
    """Read the results that a platform gives as tables; rejected assignments are skipped."""
    answers = []
    for path in sources:
        header, rows = read_columns(path, columns.what)
        item = the_column(header, *columns.item, path)
        label = the_column(header, *columns.label, path)
        rater = the_column(header, columns.rater, "", path)
        golden = columns.golden + label.removeprefix(columns.label[0])
        unit, number = columns.number
        for row in rows:
            is_rejected = row.get(columns.status, "").lower() == "rejected"
            chosen = (row[label],) if row[label] and not is_rejected else ()
            truth = row.get(golden, "") if columns.golden else ""
            where = f"{unit} {row.get(number, '?')}"
            answers.append(Answer(path, where, row[item], row[rater], chosen, truth))
    return answers_export(answers, order)


def read_lines(path: Path, what: str) -> Iterator[tuple[int, Record]]:
    """Yield the objects of a JSONL file with their lines."""
    faults: list[Fault] = []
    lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    found: list[tuple[int, Record]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            content = parsed(line)
            if not isinstance(content, dict):
                raise ValueError("no object")
            found.append((number, content))
        except (ValueError, RecursionError) as error:
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


def texts_of(values: Any) -> tuple[str, ...]:
    """Return a list of cells, or a single one, as texts; what is not there is left out.

    Example:
        >>> texts_of(["cat", None]), texts_of("dog"), texts_of(None)
        (('cat',), ('dog',), ())
    """
    several = values if isinstance(values, list) else [values]
    return tuple(text for each in several if (text := text_of(each)))


def text_of(value: Any) -> str:
    """Return a cell as text; nothing for what is not there, or is empty.

    Raises:
        InputError: it is no text and no number.
    """
    if value is None or value == "":
        return ""
    return str(value) if isinstance(value, bool) else name_in(value, "an answer").strip()
