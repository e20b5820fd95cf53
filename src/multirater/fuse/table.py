"""Tables of answers: long (task, rater, label), or wide (a row per task, a column per rater)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.free_memory import free_memory
from multirater.fuse.answers import Answers, answers_from_codes
from multirater.types import ANSWER_COLUMNS, MISSING, MOST_CLASSES
from multirater.words import listed


@dataclass(frozen=True, eq=False)
class Table:
    """A table as answers, one row per task, with the names of tasks, raters and classes."""

    answers: Answers
    tasks: pd.Index[Any]
    raters: tuple[Hashable, ...]
    classes: tuple[Hashable, ...]


def long_columns(frame: pd.DataFrame) -> tuple[str, str, str] | None:
    """Return the columns for task, rater and label; None when the table is not a long one."""
    known = {
        kind: [name for name in names if name in frame.columns]
        for kind, names in ANSWER_COLUMNS.items()
    }
    found = {kind: next(iter(names), None) for kind, names in known.items()}
    twice = next((names for names in known.values() if len(names) > 1), None)
    if twice is not None and all(found.values()):
        raise InputError(
            Fault(
                f"table has columns {' and '.join(twice)}, which mean the same",
                expected="one of them",
                fix="remove or rename the other",
            )
        )
    if all(found.values()):
        return found["case"], found["rater"], found["label"]  # type: ignore[return-value]
    if found["rater"] is None and found["label"] is None:
        return None
    missing = [kind for kind, name in found.items() if name is None]
    expected = [f"{kind}: {' or '.join(names)}" for kind, names in ANSWER_COLUMNS.items()]
    raise InputError(
        Fault(
            f"table has columns {', '.join(map(str, frame.columns))}: no {', '.join(missing)}",
            expected="; ".join(expected),
            fix="rename the columns",
        )
    )


def encode_table(
    frame: pd.DataFrame,
    *,
    raters: Sequence[Hashable] | None = None,
    classes: Sequence[Hashable] | None = None,
    gold: Mapping[Any, Any] | pd.Series[Any] | None = None,
) -> Table:
    """Number tasks, raters and classes of a table and gather its answers.

    Args:
        frame: long or wide; missing answers are NaN, None, empty texts or (as a number) -1.
        raters: the raters to use, in order; the answers of others are left out.
        classes: the labels that may occur, in order of their index; those found, sorted, when not
            given.
        gold: known label of some tasks.

    Raises:
        InputError: a row names no task or no rater, or a wide table has two rows of one task.
    """
    columns = long_columns(frame)
    if columns is None:
        frame = _melt(frame)
        columns = ("task", "rater", "label")
    if len(frame) == 0:
        raise InputError(Fault("the table has no rows", expected="one row per answer"))
    task, tasks = _numbered(frame[columns[0]])
    rater, rater_names = _codes(frame[columns[1]], raters)
    _require_named(task, columns[0])
    if raters is None:
        _require_named(rater, columns[1])
    known = None if gold is None else _gold_of(gold, pd.Index(np.asarray(tasks)))
    label, class_names = _label_codes(frame[columns[2]], classes, known)
    if not len(class_names):
        raise InputError(
            Fault(
                "the table holds no answer",
                expected="a label in some row",
                fix="look at the column of labels: all its cells are empty",
            )
        )
    codes = [each.astype(np.int32) for each in (task, rater, label)]
    del task, rater, label
    answered = np.minimum(np.minimum(codes[0], codes[1]), codes[2]) != MISSING
    if not answered.all():
        codes = [each[answered] for each in codes]
    tasks = pd.Index(np.asarray(tasks), name=columns[0])  # texts, where they were categories
    shape = (len(tasks), len(rater_names), len(class_names))
    golden = None if known is None else _gold_codes(class_names, known)
    _require_room(*shape)
    task32, rater32, label32 = codes
    del codes
    answers = answers_from_codes(task32, rater32, label32, shape, gold=golden)
    return Table(answers, tasks, rater_names, class_names)


def require_raters(frame: pd.DataFrame, raters: Sequence[Hashable]) -> None:
    """Refuse raters who have no answer in a table: most likely their names are misspelt."""
    columns = long_columns(frame)
    known = rater_columns(frame) if columns is None else frame[columns[1]].unique().tolist()
    unknown = [name for name in raters if name not in known]
    if unknown:
        raise InputError(
            Fault(
                f"no rater is called {unknown[0]!r}",
                expected=f"some of {listed([str(name) for name in known])}",
                fix="correct the name, or leave it out",
            )
        )


def _require_named(codes: NDArray[Any], column: str) -> None:
    """Refuse rows that nobody can be asked about, rather than leave them out."""
    absent = np.flatnonzero(codes == MISSING)
    if len(absent):
        raise InputError(
            Fault(
                f"column {column} is empty in {len(absent)} rows, first in row {absent[0] + 1}",
                expected=f"a {column} in every row",
                fix="fill it in, or drop the rows",
            )
        )


def _require_room(n_tasks: int, n_raters: int, n_classes: int) -> None:
    """Refuse more classes than probabilities and matrices can be held for.

    A column of texts or numbers that is no label has as many as it has rows.
    """
    taken = 8 * _COPIES * n_classes * (n_tasks + n_raters * n_classes)
    room = free_memory()
    if n_classes > MOST_CLASSES:
        raise InputError(
            Fault(
                f"the table has {n_classes} different labels",
                expected=f"at most {MOST_CLASSES} classes",
                fix="is the column of labels one of classes, rather than of texts or numbers?",
            )
        )
    if n_classes > _ALWAYS and taken > room:
        raise InputError(
            Fault(
                f"the table has {n_classes} different labels, {n_tasks} tasks and {n_raters} "
                f"raters, whose matrices would take {taken / 2**30:.0f} GB",
                expected=f"as many as fit into the {room / 2**30:.0f} GB that are free",
                fix="is the column of labels one of classes, rather than of texts or numbers?",
            )
        )


_COPIES, _ALWAYS = 6, 100
"""Of probabilities and matrices that are held at once; classes of which nobody is asked."""


def rater_columns(frame: pd.DataFrame) -> list[Hashable]:
    """Return the columns of a wide table that hold a rater's answers: all but the task's name."""
    return [name for name in frame.columns if name not in ANSWER_COLUMNS["case"]]


def _melt(frame: pd.DataFrame) -> pd.DataFrame:
    """Turn a wide table into a long one; every task stays, answered or not.

    Tasks are named by a column for them, else by the index.
    """
    task = next((name for name in ANSWER_COLUMNS["case"] if name in frame.columns), None)
    named = frame if task is None else frame.set_index(task)
    if not named.index.is_unique:
        twice = named.index[named.index.duplicated()][0]
        raise InputError(
            Fault(
                f"task {twice} has two rows in a table with a column per rater",
                expected="one row per task",
                fix="name the tasks in a column `task`, or number the rows anew (reset_index)",
            )
        )
    wide = named[rater_columns(named)].rename_axis(index="task", columns="rater")
    stacked = wide.melt(ignore_index=False, value_name="label").reset_index()
    return stacked[["task", "rater", "label"]]


def _codes(
    values: pd.Series[Any], names: Sequence[Hashable] | None
) -> tuple[NDArray[Any], tuple[Hashable, ...]]:
    if names is None:
        codes, found = _numbered(values)
        return codes, tuple(found.tolist())
    return _index(names).get_indexer(pd.Index(values)), tuple(names)


def _numbered(values: pd.Series[Any], *, sort: bool = False) -> tuple[NDArray[Any], Any]:
    """Number values in the order they appear, or by size: codes, and the values by code.

    Whole numbers that lie close together are looked up in a table, which is quicker than hashing.
    """
    if not isinstance(values.dtype, np.dtype) or values.dtype.kind not in "iu" or values.empty:
        return pd.factorize(values, sort=sort)
    array: NDArray[Any] = values.to_numpy()
    low = int(array.min())
    span = int(array.max()) - low + 1
    if span > 2 * array.size:
        return pd.factorize(values, sort=sort)
    # Without a sign the difference cannot overflow for good.
    unsigned = np.dtype(f"u{array.itemsize}")
    place = array.view(unsigned) - np.array(low, dtype=array.dtype).view(unsigned)
    first = np.full(span, array.size, dtype=np.int32 if array.size < 1 << 31 else np.int64)
    # The last to write into a place stays: backwards, that is the first to appear.
    first[place[::-1]] = np.arange(array.size - 1, -1, -1, dtype=first.dtype)
    found = np.flatnonzero(first != array.size)
    if not sort:
        found = found[np.argsort(first[found])]
    code = first  # its work is done
    code[found] = np.arange(len(found), dtype=code.dtype)
    return code[place], (found + low).astype(array.dtype)


def _label_codes(
    values: pd.Series[Any],
    classes: Sequence[Hashable] | None,
    gold: pd.Series[Any] | None,
) -> tuple[NDArray[Any], tuple[Hashable, ...]]:
    if pd.api.types.is_numeric_dtype(values) and (values == MISSING).any():
        values = values.where(values != MISSING)
    if classes is None:
        codes, found = _without_missing(*_numbered(values, sort=True))
        names = [_plain(value) for value in found]
        golden = set() if gold is None else {_plain(value) for value in gold.dropna().tolist()}
        new = golden - set(names)
        if new and len({isinstance(name, str) for name in (*names, *new)}) > 1:
            raise InputError(
                Fault(
                    f"gold label {next(iter(new))!r} beside labels such as {names[0]!r}",
                    expected="numbers, or texts: 1 is not '1'",
                    fix="name classes in gold labels as the table does",
                )
            )
        known = sorted(new)
        _require_finite(names + known)
        return codes, tuple(names + known)
    codes = _index(classes).get_indexer(pd.Index(values))
    unknown = values[(codes == MISSING) & values.notna().to_numpy()]
    unknown = unknown[[not _is_missing(value) for value in unknown]]
    if len(unknown):
        raise InputError(
            Fault(
                f"label {unknown.tolist()[0]!r} in row {unknown.index[0]}",
                expected=f"one of {', '.join(map(str, classes))}",
                fix="mend the label or add it to the classes",
            )
        )
    return codes, tuple(classes)


def _without_missing(codes: NDArray[Any], found: Any) -> tuple[NDArray[Any], list[Any]]:
    """Take what stands for no answer out of the values that were found."""
    names = found.tolist()
    kept = [not _is_missing(name) for name in names]
    if all(kept):
        return codes, names
    places = np.where(kept, np.cumsum(kept) - 1, MISSING)
    moved = np.append(places, MISSING)[codes]  # -1, of cells without a value, stays
    return moved, [name for name, keep in zip(names, kept, strict=True) if keep]


def _is_missing(value: Any) -> bool:
    """Whether a value stands for no answer, in a column of any values."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value == "" if isinstance(value, str) else is_number and value == MISSING


def _index(names: Sequence[Hashable]) -> pd.Index[Any]:
    return pd.Index(list(names))


def _plain(value: Any) -> Any:
    """Undo the change of whole numbers to floats that a missing answer causes in a column."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _require_finite(names: Sequence[Any]) -> None:
    infinite = [name for name in names if isinstance(name, float) and math.isinf(name)]
    if infinite:
        raise InputError(
            Fault(
                f"a label is {infinite[0]}",
                expected="labels that are finite",
                fix="mend it, or leave it empty where there is no answer",
            )
        )


def _gold_of(gold: Mapping[Any, Any] | pd.Series[Any], tasks: pd.Index[Any]) -> pd.Series[Any]:
    """Return the gold labels by task; those of other tasks are left out."""
    given = pd.Series(gold)
    twice = given.index[given.index.duplicated()]
    if len(twice):
        raise InputError(
            Fault(
                f"task {_first(twice)!r} has two gold labels",
                expected="one",
                fix="keep one of them",
            )
        )
    if len(given) and not given.index.isin(tasks).any():
        raise InputError(
            Fault(
                f"gold labels of none of the tasks, but of {_first(given.index)!r}",
                expected=f"tasks such as {_first(tasks)!r}: 1 is not '1'",
                fix="name the tasks as the table does",
            )
        )
    is_known = [not _is_missing(value) for value in given.tolist()]
    return given[is_known].dropna().reindex(tasks)


def _first(names: pd.Index[Any]) -> Any:
    return names[:1].tolist()[0]


def _gold_codes(classes: tuple[Hashable, ...], known: pd.Series[Any]) -> NDArray[np.int64]:
    codes = _index(classes).get_indexer(pd.Index(known)).astype(np.int64)
    unknown = known[(codes == MISSING) & known.notna().to_numpy()]
    if len(unknown):
        raise InputError(
            Fault(
                f"gold label {unknown.tolist()[0]!r} of task {unknown.index[0]}",
                expected=f"one of {', '.join(map(str, classes))}",
                fix="mend the label or add it to the classes",
            )
        )
    return codes
