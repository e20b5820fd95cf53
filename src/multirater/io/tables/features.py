"""One table with the feature vectors of all cases, beside the manifest.

`features.csv` and `features.parquet` name the case of every row in a column `case`; the other
columns are the features. A Parquet column may also hold whole vectors (embeddings). The rows of
`features.npy`, (n_cases, n_features), come in the order of the manifest's cases. The table stands
in for images, so it is used where the manifest names none.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.extras import extra
from multirater.io.formats.guard import reading
from multirater.io.formats.numpy_files import read_array
from multirater.types import Case, Dataset, Geometry, Image, Source
from multirater.words import counted, listed

if TYPE_CHECKING:
    import pandas as pd

FILE_NAMES = ("features.csv", "features.parquet", "features.npy")

_ABSENT = ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null"]
"""What stands for a missing number in CSV files."""

_MOST_NAMED = 5
"""Cases that a message names one by one."""


def features_beside(folder: Path) -> Path | None:
    """Return the table of features in a folder, None when there is none.

    Raises:
        InputError: there are several.
    """
    found = [folder / name for name in FILE_NAMES if (folder / name).is_file()]
    if len(found) > 1:
        raise InputError(
            Fault(
                f"holds {' and '.join(file.name for file in found)}",
                expected="one table of features",
                fix="keep the one you mean",
                file=str(folder),
            )
        )
    return found[0] if found else None


@dataclass(frozen=True, eq=False)
class Features:
    """Vectors of cases.

    Attributes:
        matrix: (n_cases, n_features).
        names: of the features; empty where the table has none.
    """

    matrix: NDArray[Any]
    names: tuple[str, ...]


def read_features(path: Path, cases: Sequence[str]) -> Features:
    r"""Read the vectors of these cases, in their order.

    Rows of other cases are passed by.

    Raises:
        InputError: with every case without row or with two, and every value that is no finite
            number.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "features.csv"
        >>> _ = file.write_text("case,age,size\nb,31,1.5\na,64,2.0\n")
        >>> read_features(file, ["a", "b"]).matrix.tolist()
        [[64.0, 2.0], [31.0, 1.5]]
    """
    faults: list[Fault] = []
    with reading(path, path.suffix[1:].upper()):
        if path.suffix == ".npy":
            with path.open("rb") as stream:
                stored = read_array(stream, path.stat().st_size)
            matrix, names = _rows_in_order(stored, cases)
            found = cases
        else:
            frame = _of_cases(_read_frame(path), cases, faults)
            matrix, names = _numbers(frame, faults)
            found = list(frame.index)
        faults += _not_finite(matrix, names, found)
        if faults:
            raise InputError(faults)
    return Features(matrix, () if path.suffix == ".npy" else tuple(names))


def with_features(dataset: Dataset, features: Features) -> Dataset:
    """Give every case its row of the table as image: an array (n_features,) without space."""
    pairs = zip(dataset.cases, features.matrix, strict=True)
    cases = tuple(_with_vector(case, row) for case, row in pairs)
    return replace(dataset, cases=cases, features=features.names)


def _with_vector(case: Case, vector: NDArray[Any]) -> Case:
    # No path: the table is not the case's own file, which a manifest could name.
    return replace(case, image=Source(partial(_image, vector)))


def _image(vector: NDArray[Any]) -> Image:
    return Image(vector, Geometry.default(0))


def _rows_in_order(array: NDArray[Any], cases: Sequence[str]) -> tuple[NDArray[Any], list[str]]:
    if array.ndim != 2 or array.dtype.kind not in "biuf" or not array.size:
        raise InputError(
            Fault(
                f"holds an array {array.shape} of {array.dtype}",
                expected="numbers (n_cases, n_features)",
            )
        )
    if len(array) != len(cases):
        raise InputError(
            Fault(
                f"holds {len(array)} rows",
                expected=f"{len(cases)}, one per case of the manifest in its order",
                fix="save the rows of these cases only, or name the cases in features.csv",
            )
        )
    return array, [f"{number}" for number in range(array.shape[1])]


def _read_frame(path: Path) -> pd.DataFrame:
    import pandas as pd

    if path.suffix == ".parquet":
        with extra():
            import pyarrow  # noqa: F401  (pandas reads by it)
        frame = pd.read_parquet(path)
        return frame.reset_index() if frame.index.name is not None else frame
    with path.open(encoding="utf-8-sig") as stream:
        separator = max(",;\t", key=stream.readline().count)
    kind: dict[str, Any] = {"sep": separator, "encoding": "utf-8-sig", "skipinitialspace": True}
    names = list(pd.read_csv(path, nrows=0, **kind).columns)
    # A case may be called 007, or NA.
    try:
        frame = pd.read_csv(
            path,
            dtype={name: str for name in names if _is_case(name)},
            na_values={name: _ABSENT for name in names if not _is_case(name)},
            keep_default_na=False,
            **kind,
        )
    except pd.errors.ParserError:
        _require_even_lines(path, separator)
        raise
    assert isinstance(frame, pd.DataFrame)
    if not isinstance(frame.index, pd.RangeIndex):  # lines longer than the header become an index
        _require_even_lines(path, separator)
    return frame


def _require_even_lines(path: Path, separator: str) -> None:
    """Refuse lines that have more or fewer columns than the first, and say which they are."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.reader(stream, delimiter=separator, skipinitialspace=True)
        header = next(reader)
        fitting = (0, len(header))
        odd = [(reader.line_num, len(cells)) for cells in reader if len(cells) not in fitting]
    if not odd:
        return
    shown = [f"line {line} has {counted(count, 'column')}" for line, count in odd]
    raise InputError(
        Fault(
            listed(shown, _MOST_NAMED),
            expected=f"{counted(len(header), 'column')}, as in the first line: "
            f"{', '.join(header[:8])}{', ...' * (len(header) > 8)}",
            fix="give every line one cell per column; quote cells that contain the separator",
        )
    )


def _is_case(name: object) -> bool:
    return str(name).strip().lower() == "case"


def _of_cases(frame: pd.DataFrame, cases: Sequence[str], faults: list[Fault]) -> pd.DataFrame:
    """Return one row per case, in order, without the column that names them.

    Cases without a row are left out, second rows too; both go to `faults`.
    """
    named = [name for name in frame.columns if _is_case(name)]
    if len(named) != 1 or frame.shape[1] < 2:
        raise InputError(
            Fault(
                f"has columns {', '.join(map(str, frame.columns[:8]))}",
                expected="one column `case`, and at least one feature",
                fix="name the cases as the manifest does",
            )
        )
    indexed = frame.set_index(frame[named[0]].astype(str).str.strip()).drop(columns=named)
    second = indexed.index.duplicated()
    twice = indexed.index[second].unique()
    if len(twice):
        faults.append(Fault(f"two rows for {_listed(list(twice))}", expected="one row per case"))
    absent = [case for case in cases if case not in indexed.index]
    if absent:
        faults.append(
            Fault(
                f"no row for {_listed(absent)}",
                expected=f"a row for each of the {len(cases)} cases of the manifest",
                fix="add the rows, or take the cases out of the manifest",
            )
        )
    if len(absent) == len(cases):
        raise InputError(faults)
    return indexed[~second].loc[[case for case in cases if case in indexed.index]]


def _numbers(frame: pd.DataFrame, faults: list[Fault]) -> tuple[NDArray[Any], list[str]]:
    """Return the features as one matrix, and what each of its columns is called.

    Cells that are no numbers go to `faults`, and count as 0 so that they are told only once.
    """
    columns, names = [], []
    for name in frame.columns:
        values = frame[name].to_numpy()
        if values.dtype.kind in "biuf":
            columns.append(values[:, None])
            names.append(f"{name}")
        elif (lengths := {_length(value) for value in values}) != {None} and len(lengths) == 1:
            columns.append(np.stack([np.asarray(value) for value in values]))
            names += [f"{name}[{number}]" for number in range(columns[-1].shape[1])]
        else:
            faults.append(_no_numbers(name, frame[name], lengths))
            columns.append(np.array([[float(v) if _is_number(v) else 0.0] for v in values]))
            names.append(f"{name}")
    return np.concatenate(columns, axis=1), names


def _length(value: object) -> int | None:
    """Return the length of a vector of numbers; None for anything else."""
    if not isinstance(value, list | np.ndarray):
        return None
    array = np.asarray(value)
    return len(array) if array.ndim == 1 and array.dtype.kind in "biuf" else None


def _no_numbers(name: object, column: pd.Series[Any], lengths: set[int | None]) -> Fault:
    if None not in lengths:
        found = ", ".join(map(str, sorted(length for length in lengths if length is not None)))
        return Fault(f"column {name} holds vectors of length {found}", expected="one length")
    wrong = {
        str(case): value
        for case, value in column.items()
        if _length(value) is None and not _is_number(value)
    }
    if not wrong:
        return Fault(f"column {name} holds values of type {column.dtype}", expected="numbers")
    values = listed([repr(value) for value in dict.fromkeys(map(str, wrong.values()))], _MOST_NAMED)
    return Fault(
        f"column {name} holds {values} for {_listed(list(wrong))}",
        expected="numbers",
        fix="turn categories into numbers, or remove the column",
    )


def _is_number(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def _not_finite(matrix: NDArray[Any], names: Sequence[str], cases: Sequence[str]) -> list[Fault]:
    wrong = ~np.isfinite(matrix)
    faults = []
    for number in np.flatnonzero(wrong.any(0)).tolist():
        where = [cases[row] for row in np.flatnonzero(wrong[:, number]).tolist()]
        faults.append(
            Fault(
                f"column {names[number]} is empty, NaN or infinite for {_listed(where)}",
                expected="finite numbers",
                fix="fill in the values, or leave the cases or the column out",
            )
        )
    return faults


def _listed(cases: Sequence[str]) -> str:
    shown = ", ".join(map(str, cases[:_MOST_NAMED]))
    rest = len(cases) - _MOST_NAMED
    return ("case " if len(cases) == 1 else "cases ") + shown + (f" and {rest} more" * (rest > 0))
