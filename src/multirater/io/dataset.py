"""Open a data set: from a table, from folders, or from a table in memory.

Only the table is read here; images and labels are read when asked for. Every fault of the table
is reported at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from multirater.errors import Fault, InputError
from multirater.io import classes as classes_file
from multirater.io import manifest
from multirater.io.folders import discover_rows, is_folder_layout
from multirater.io.formats import image_shape, is_image_file, read_image
from multirater.io.labels import read_label
from multirater.io.manifest import IMAGE_SEPARATOR, Row
from multirater.types import Case, Classes, Dataset, Geometry, LabelClass, LabelMap, Source

_POINT = Geometry((), (), ())
"""The geometry of a label without space: one class for the whole image."""


def read_dataset(
    path: str | Path | pd.DataFrame,
    *,
    root: str | Path | None = None,
    classes: Classes | None = None,
) -> Dataset:
    """Open a data set without reading its images.

    Args:
        path: a manifest; a folder with `manifest.csv`, or with `images/`, `raters/<rater>/` and
            `truth/`; or a table with the manifest's columns.
        root: folder that the paths of a table in memory are relative to; the current folder when
            not given.
        classes: the classes; those of `classes.csv` beside the table when not given.

    Raises:
        InputError: with every fault of the table.
    """
    if isinstance(path, pd.DataFrame):
        rows = _rows_of_frame(path)
        folder, origin = Path(root or "."), "the table"
    else:
        rows, folder = _rows_at(Path(path))
        origin = str(path)
    if classes is None and (folder / classes_file.FILE_NAME).is_file():
        classes = classes_file.read_classes(folder / classes_file.FILE_NAME)
    if not rows:
        raise InputError(Fault("the data set is empty", expected="at least one case", file=origin))
    return dataset_from_rows(rows, folder, classes)


def dataset_from_rows(rows: list[Row], folder: Path, classes: Classes | None) -> Dataset:
    """Build a data set from table rows whose paths are relative to `folder`."""
    kind = _kind(rows, folder)
    faults = [*_table_faults(rows), *_missing_files(rows, folder, kind)]
    if kind == "classes":
        classes = classes or _named_classes(rows)
        faults += _unknown_names(rows, classes)
    if faults:
        raise InputError(faults)
    by_case: dict[str, list[Row]] = {}
    for row in rows:
        by_case.setdefault(row.case, []).append(row)
    cases = tuple(_case(name, group, folder, kind, classes) for name, group in by_case.items())
    raters = dict.fromkeys(row.rater for row in rows if row.label)
    return Dataset(cases, tuple(raters), kind, classes, folder)


def _rows_at(path: Path) -> tuple[list[Row], Path]:
    if path.is_file():
        return manifest.read_rows(path), path.parent
    if (path / manifest.FILE_NAME).is_file():
        return manifest.read_rows(path / manifest.FILE_NAME), path
    if is_folder_layout(path):
        return discover_rows(path), path
    raise InputError(
        Fault(
            "holds no data set" if path.is_dir() else "does not exist",
            expected="manifest.csv, or the folders images/ and raters/<rater>/",
            fix="see docs/data-format.md; `multirater import files` writes a manifest for files "
            "that follow a naming pattern",
            file=str(path),
        )
    )


def _rows_of_frame(frame: pd.DataFrame) -> list[Row]:
    if "case" not in frame.columns:
        raise InputError(
            Fault(
                f"the table has columns {', '.join(map(str, frame.columns))}",
                expected=f"some of {', '.join(manifest.COLUMNS)}, at least case",
            )
        )
    known = frame[[name for name in manifest.COLUMNS if name in frame.columns]]
    texts = known.astype(object).where(known.notna(), "").astype(str)
    records = texts.to_dict("records")
    return [Row(**{str(key): str(value) for key, value in record.items()}) for record in records]


def _kind(rows: Iterable[Row], folder: Path) -> Literal["masks", "classes"]:
    """Labels are masks when any of them is named like a file or is one."""
    for row in rows:
        for cell in (row.label, row.truth):
            if cell and (is_image_file(Path(cell)) or (folder / cell).exists()):
                return "masks"
    return "classes" if any(row.label for row in rows) else "masks"


def _table_faults(rows: list[Row]) -> list[Fault]:
    faults: list[Fault] = []
    seen: set[tuple[str, str]] = set()
    first: dict[str, Row] = {}
    labelled = {row.rater for row in rows if row.label}
    for row in rows:
        if not row.case:
            faults.append(Fault("a row without a case name", fix="fill in the column `case`"))
        if row.label and not row.rater:
            faults.append(
                Fault("a label without a rater", fix="fill in the column `rater`", case=row.case)
            )
        if row.rater and (row.case, row.rater) in seen:
            faults.append(
                Fault(
                    "two rows for one case and rater",
                    fix="keep one of them, or give the second drawing a rater name of its own",
                    case=row.case,
                    rater=row.rater,
                )
            )
        seen.add((row.case, row.rater))
        faults += _conflicts(first.setdefault(row.case, row), row)
    for rater in dict.fromkeys(row.rater for row in rows if row.rater):
        if rater not in labelled:
            faults.append(
                Fault("rater has no labels", fix="add labels, or remove the rows", rater=rater)
            )
    return faults


def _conflicts(first: Row, row: Row) -> list[Fault]:
    return [
        Fault(
            f"{column} is both {getattr(first, column)!r} and {getattr(row, column)!r}",
            expected=f"one {column} per case",
            fix="two images need two case names",
            case=row.case,
        )
        for column in ("image", "truth", "split")
        if getattr(first, column) != getattr(row, column)
    ]


def _missing_files(rows: list[Row], folder: Path, kind: str) -> list[Fault]:
    faults = []
    known: dict[str, bool] = {}
    for row in rows:
        cells = [("", cell) for cell in row.image.split(IMAGE_SEPARATOR)]
        if kind == "masks":
            cells += [(row.rater, row.label), ("(truth)", row.truth)]
        for rater, cell in cells:
            if cell and cell not in known:
                known[cell] = (folder / cell).exists()
                if not known[cell]:
                    faults.append(
                        Fault(
                            "file does not exist",
                            expected="paths relative to the manifest",
                            fix="correct the path, or leave the cell empty",
                            file=str(folder / cell),
                            case=row.case,
                            rater=rater,
                        )
                    )
    return faults


def _named_classes(rows: Iterable[Row]) -> Classes:
    names = {name for row in rows for name in (row.label, row.truth) if name}
    numbers = sorted((name for name in names if name.isdigit()), key=int)
    ordered = numbers + sorted(name for name in names if not name.isdigit())
    return Classes(tuple(LabelClass(name) for name in ordered))


def _unknown_names(rows: Iterable[Row], classes: Classes) -> list[Fault]:
    return [
        Fault(
            f"unknown class {name!r}",
            expected=f"one of {', '.join(classes.names)}",
            fix="correct the name, or add it to classes.csv",
            case=row.case,
            rater=rater,
        )
        for row in rows
        for rater, name in ((row.rater, row.label), ("(truth)", row.truth))
        if name and name not in classes.names
    ]


def _case(name: str, rows: list[Row], folder: Path, kind: str, classes: Classes | None) -> Case:
    paths = tuple(folder / cell for cell in rows[0].image.split(IMAGE_SEPARATOR) if cell)
    image = None
    if paths:
        image = Source(partial(read_image, paths if len(paths) > 1 else paths[0]), paths)
    truth = rows[0].truth

    def source(cell: str) -> Source[LabelMap]:
        if kind == "classes":
            assert classes is not None
            return Source(partial(_class_label, classes.names.index(cell)))
        like = partial(image_shape, paths[0]) if paths else None
        file = folder / cell
        return Source(partial(read_label, file, classes=classes, like=like), (file,))

    return Case(
        name,
        image,
        {row.rater: source(row.label) for row in rows if row.label},
        source(truth) if truth else None,
        rows[0].split,
        {row.rater: row.simulated for row in rows if row.simulated},
    )


def _class_label(index: int) -> LabelMap:
    return LabelMap(np.array(index, dtype=np.int16), _POINT, "class name")
