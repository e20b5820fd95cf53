"""Tables that results hold: `raters.csv`, `cases.csv`, scores and curves.

Names in them come from the study, and may be anything; what is written can be read again.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from multirater.io.atomic import replacing
from multirater.io.formats.guard import reading
from multirater.io.tables.spreadsheet import meant, shown
from multirater.terminal import harmless

if TYPE_CHECKING:
    import pandas as pd

_NAMES = ("case", "rater", "task", "label")
"""Columns that hold names, whatever they look like."""

_NUMBERS = ("quality", "cm[")
"""How columns of the raters begin that hold numbers alone."""


def write_result_table(frame: pd.DataFrame, path: Path, *, overwrite: bool = False) -> None:
    """Write a table in one move."""
    with replacing(path, overwrite=overwrite) as temporary:
        print_result_table(frame, temporary)


def print_result_table(frame: pd.DataFrame, target: Path | IO[str]) -> None:
    """Write a table as CSV, to a file or a stream; on a terminal, only as it can show it."""
    safe = frame.copy()
    for name in safe.columns[[kind == "O" or kind.name in _TEXTS for kind in safe.dtypes]]:
        safe[name] = safe[name].map(_shown)
    safe.index = safe.index.map(_shown_key)
    safe.index.names = frame.index.names
    safe.columns = safe.columns.map(_shown)
    if isinstance(target, Path) or not target.isatty():
        safe.to_csv(target)
    else:
        target.write(harmless(safe.to_csv(lineterminator="\n")))


def read_result_table(path: Path, *, key: str | None = None) -> pd.DataFrame:
    """Read a table of results, names as texts, without an index.

    Args:
        path: of the table.
        key: the column that names its rows, each row another.

    Raises:
        InputError: it is damaged, or rows have no name.
    """
    import pandas as pd

    with reading(path, "table of results", fix="make the result again"):
        with path.open(encoding="utf-8-sig", newline="") as stream:
            header = next(csv.reader(stream), [])
        # By number: a class may be called as the first column is.
        texts: dict[Any, Any] = {
            place: str
            for place, name in enumerate(header)
            if name in _NAMES and header.index(name) == place
        }
        table = pd.read_csv(
            path,
            names=list(range(len(header))),
            header=0,
            dtype=texts,
            keep_default_na=False,
            na_values=[""],
        )
        if not isinstance(table.index, pd.RangeIndex):
            raise ValueError("its lines have more cells than its header")
        for place in texts:
            table[place] = table[place].map(meant, na_action="ignore")
        table.columns = pd.Index([meant(name) for name in header])
        if key is not None:
            _check_key(table, key)
        return table


def named_rows(table: pd.DataFrame, key: str) -> pd.DataFrame:
    """Return a table whose rows go by the first column of a name; others may be called so, too."""
    import pandas as pd

    place = list(table.columns).index(key)
    rows = table.iloc[:, place]
    rest = table.iloc[:, [n for n in range(table.shape[1]) if n != place]]
    return rest.set_index(pd.Index(rows, name=key))


def _check_key(table: pd.DataFrame, key: str) -> None:
    if key not in table:
        raise ValueError(f"it has no column {key}")
    keys = named_rows(table, key).index
    if keys.isna().any():
        raise ValueError(f"a line has no {key}")
    if keys.duplicated().any():
        twice = keys[keys.duplicated()][0]
        raise ValueError(f"{key} {twice} is there twice")
    _check_numbers(table, [name for name in map(str, table) if name.startswith(_NUMBERS)])


def _check_numbers(table: pd.DataFrame, names: Iterable[str]) -> None:
    import pandas as pd

    words = [name for name in names if not pd.api.types.is_numeric_dtype(table[name])]
    if words:
        raise ValueError(f"column {words[0]} holds something else than numbers")


def read_curves_table(path: Path) -> pd.DataFrame:
    """Read a table of numbers, one row per epoch, in which NaN may be spelt out.

    Raises:
        InputError: it is damaged, or something else.
    """
    import pandas as pd

    with reading(path, "table of curves", fix="make the result again"):
        table = pd.read_csv(path)
        if "epoch" not in table or not isinstance(table.index, pd.RangeIndex):
            raise ValueError("it has no column epoch, or more cells than columns")
        _check_numbers(table, table.columns)
        if not np.isfinite(table["epoch"].to_numpy(dtype=float)).all():
            raise ValueError("an epoch has no number")
        return table


_TEXTS = {"str", "string", "category"}


def _shown(value: object) -> object:
    return shown(value) if isinstance(value, str) else value


def _shown_key(key: object) -> object:
    return tuple(map(_shown, key)) if isinstance(key, tuple) else _shown(key)
