"""Open a data set: from a table, from folders, or from a table in memory.

Only the table is read here; images and labels are read when asked for. Every fault of the table
is reported at once, together with those of the files, which are read then to find them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from multirater.errors import Fault, InputError
from multirater.io.case_files import read_case_files
from multirater.io.class_labels import class_labels, index_by_name
from multirater.io.drawings.reading import read_drawing
from multirater.io.folders import discover_rows, is_folder_layout
from multirater.io.formats.images import image_shape, read_image
from multirater.io.formats.labels import Grid, read_label
from multirater.io.formats.stray import Stray
from multirater.io.tables import classes as classes_file
from multirater.io.tables import manifest
from multirater.io.tables.features import features_beside, read_features, with_features
from multirater.io.tables.manifest import Row
from multirater.io.tables.rater_info import RaterInfo, read_rater_info
from multirater.io.tables.table_check import Files, LabelKind, kind_of_labels, table_faults
from multirater.progress import track
from multirater.types import (
    MISSING,
    Case,
    Classes,
    Dataset,
    Drawing,
    DrawingKind,
    Geometry,
    LabelMap,
    Source,
)

if TYPE_CHECKING:
    import pandas as pd

_POINT = Geometry((), (), ())
"""The geometry of a label without space: one class for the whole image."""

_NOTHING: Mapping[str, str] = {}
"""What most cases say, shared by all of them."""

_MOST_CASES_TO_SEARCH = 1000
"""A data set with a faulty table is searched for faulty files up to this size: it takes time."""


def read_dataset(
    path: str | Path | pd.DataFrame,
    *,
    root: str | Path | None = None,
    classes: Classes | None = None,
) -> Dataset:
    """Open a data set without reading its images.

    Args:
        path: a manifest; a folder with `manifest.csv`, or with `images/`, `raters/<rater>/` and
            `truth/`; or a table with the manifest's columns. Beside a manifest without images,
            `features.csv`, `.parquet` or `.npy` holds one vector per case.
        root: folder that the paths of a table in memory are relative to; the current folder when
            not given.
        classes: the classes; those of `classes.csv` beside the table when not given.

    Raises:
        InputError: with every fault of the table and, up to 1000 cases, of the files it names.

    Example:
        >>> import pandas as pd
        >>> table = pd.DataFrame({"case": 1, "rater": ["anna", "bert"], "label": ["cat", "dog"]})
        >>> data = read_dataset(table)
        >>> data.raters, data.classes.names, data["1"].read_labels().array
        (('anna', 'bert'), ('cat', 'dog'), array([0, 1], dtype=int16))
    """
    faults: list[Fault] = []
    _require_place_or_table(path)
    if isinstance(path, str | Path):
        rows, folder = _rows_at(Path(path), faults)
        table = Path(path) / manifest.FILE_NAME
        origin = str(table if table.is_file() else path)
    else:
        rows = _rows_of_frame(path)
        folder, origin = Path(root or "."), "the table"
    in_classes: list[Fault] = []
    has_folder = root is not None or isinstance(path, str | Path)
    if classes is None and has_folder:
        classes = _classes_beside(folder, in_classes)
    raters = _raters_beside(folder, faults) if has_folder else {}
    if not rows and not faults:
        raise InputError(
            Fault(
                "the data set is empty",
                expected="at least one case",
                fix="add rows to the table, or files to the folder",
                file=origin,
            )
        )
    files = Files(folder)
    table_of_features = _features(rows, files) if has_folder else None
    kind = "classes" if table_of_features else kind_of_labels(rows, files)
    if kind == "classes":
        rows, classes = class_labels(rows, classes, faults)
    in_order, found = table_faults(rows, files, kind)
    faults += [*in_classes, *found]
    if not faults:
        made = replace(_made(rows, files, kind, classes), rater_info=raters)
        if table_of_features is None:
            return made
        vectors = read_features(table_of_features, [case.name for case in made])
        return with_features(made, vectors)
    # Without the classes nobody knows what label files should hold.
    more = [] if in_classes else _file_faults(in_order, files, kind, classes)
    if table_of_features is not None:
        more += _feature_faults(table_of_features, rows)
    raise InputError([*(fault.at(file=origin) for fault in faults), *more])


def _require_place_or_table(path: object) -> None:
    is_table = hasattr(path, "columns")  # to ask for its type would load pandas for folders, too
    if is_table or (isinstance(path, str | Path) and "\0" not in str(path)):
        return
    raise InputError(
        Fault(
            f"{path!r:.60} is no data set",
            expected="the path of a folder or table, or a table in memory",
            fix="arrays become one by `dataset_from_arrays`",
        )
    )


def _features(rows: list[Row], files: Files) -> Path | None:
    """Return the table that stands in for images, where rows name neither image nor mask."""
    if any(row.image for row in rows):
        return None
    labelled = any(row.label or row.truth for row in rows)
    if labelled and kind_of_labels(rows, files) == "masks":
        return None
    return features_beside(files.root)


def _feature_faults(table: Path, rows: Iterable[Row]) -> list[Fault]:
    try:
        read_features(table, list(dict.fromkeys(row.case for row in rows if row.case)))
    except InputError as error:
        return list(error.faults)
    return []


def _file_faults(
    rows: list[Row], files: Files, kind: LabelKind, classes: Classes | None
) -> list[Fault]:
    if kind == "classes":  # only the images are files
        rows = [replace(row, label="", truth="") for row in rows]
    dataset = _made(rows, files, kind, classes)
    if len(dataset) > _MOST_CASES_TO_SEARCH:
        return []
    cases = track(dataset, "searching for more faults", len(dataset))
    return [fault for case in cases for fault in read_case_files(case).faults]


def _made(rows: list[Row], files: Files, kind: LabelKind, classes: Classes | None) -> Dataset:
    by_case: dict[str, list[Row]] = {}
    for row in rows:
        by_case.setdefault(row.case, []).append(row)
    cases = tuple(_case(name, group, files, kind, classes) for name, group in by_case.items())
    labelled = {row.rater for row in rows if row.label and not row.is_drawing}
    raters = tuple(dict.fromkeys(row.rater for row in rows if row.rater in labelled))
    return Dataset(cases, raters, kind, classes, files.root)


def _require_text(path: Path) -> None:
    """Refuse a study in a folder whose name is no text: tables and pages could not name it."""
    try:
        str(path.resolve()).encode()
    except UnicodeEncodeError:
        raise InputError(
            Fault(
                f"the name {os.fsencode(path)!r} is no text",
                expected="names in UTF-8",
                fix="rename the file or folder",
                file=str(path),
            )
        ) from None


def _rows_at(path: Path, faults: list[Fault]) -> tuple[list[Row], Path]:
    _require_text(path)
    if path.is_file():
        return manifest.read_rows(path, faults), path.parent
    _require_files(path, manifest.FILE_NAME, classes_file.FILE_NAME)
    if (path / manifest.FILE_NAME).is_file():
        return manifest.read_rows(path / manifest.FILE_NAME, faults), path
    if is_folder_layout(path):
        return discover_rows(path, faults), path
    if not path.exists():
        raise InputError(Fault("does not exist", fix="check the path", file=str(path)))
    raise InputError(
        Fault(
            "holds no data set",
            expected="manifest.csv, or the folders images/ and raters/<rater>/",
            fix="see docs/data-format.md; `multirater import files` writes a manifest for files "
            "that follow a naming pattern",
            file=str(path),
        )
    )


def _require_files(folder: Path, *names: str) -> None:
    """Refuse tables that are no files, such as folders, pipes and links to nowhere.

    To read on without them could change what values mean.
    """
    faults = [
        Fault("is no file", expected="a table", fix="mend or remove it", file=str(folder / name))
        for name in names
        if (folder / name).is_symlink() or (folder / name).exists()
        if not (folder / name).is_file()
    ]
    if faults:
        raise InputError(faults)


def _rows_of_frame(frame: pd.DataFrame) -> list[Row]:
    names = [str(name).strip().lower() for name in frame.columns]
    header = manifest.known_columns(names, "the table")
    columns = {}
    for name in manifest.COLUMNS:
        if name in header:
            values = frame.iloc[:, header.index(name)]
            absent = values.isna()
            if name in ("label", "truth"):
                absent |= values.map(_is_missing_number)
            columns[name] = ["" if no else _cell(v) for v, no in zip(values, absent, strict=True)]
    lines = zip(*columns.values(), strict=True)
    return [Row(**dict(zip(columns, cells, strict=True))) for cells in lines]


def _is_missing_number(value: object) -> bool:
    """Whether a table in memory says *not labelled* by a number; the text "-1" is a class."""
    return isinstance(value, int | float | np.number) and value == MISSING


def _cell(value: object) -> str:
    """Return the text a CSV file would hold; a missing value turns whole numbers into floats."""
    if isinstance(value, float | np.floating) and np.isinf(value):
        raise InputError(
            Fault(
                f"the table holds {value}",
                expected="texts, whole numbers, or nothing",
                fix="leave the cell empty where there is no label",
            )
        )
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    return str(value).strip()


def _classes_beside(folder: Path, faults: list[Fault]) -> Classes | None:
    file = folder / classes_file.FILE_NAME
    try:
        return classes_file.read_classes(file) if file.is_file() else None
    except InputError as error:
        faults += error.faults
        return None


def _raters_beside(folder: Path, faults: list[Fault]) -> RaterInfo:
    try:
        return read_rater_info(folder)
    except InputError as error:
        faults += error.faults
        return {}


@dataclass(frozen=True, slots=True)
class _LabelFile:
    """Reads a label file when called, as a `partial` of `read_label` in a tenth of its memory."""

    file: str
    classes: Classes | None
    like: Callable[[], Grid] | None
    stray: Stray | None

    def __call__(self) -> LabelMap:
        return read_label(self.file, classes=self.classes, like=self.like, stray=self.stray)


def _case(
    name: str, rows: list[Row], files: Files, kind: LabelKind, classes: Classes | None
) -> Case:
    paths = files.images(_said(rows, "image"))
    image = None
    if paths:
        image = Source(partial(read_image, paths if len(paths) > 1 else paths[0]), paths)
    like = partial(image_shape, paths[0]) if paths else None

    def source(known: Classes | None) -> Callable[[str, str], Source[LabelMap]]:
        indices = index_by_name(known) if kind == "classes" and known is not None else {}

        def of_cell(cell: str, stray: str) -> Source[LabelMap]:
            if kind == "classes":
                return Source(partial(_class_label, indices[cell]))
            file = files.name(cell)
            how = cast(Stray | None, stray or None)
            return Source(_LabelFile(file, known, like, how), (file,), stray)

        return of_cell

    label, truth = source(classes), _said(rows, "truth")
    of_truth = None if classes is None else classes.in_truth()
    return Case(
        name,
        image,
        {
            sys.intern(row.rater): label(row.label, row.stray)
            for row in rows
            if row.label and not row.is_drawing
        },
        source(of_truth)(truth, _said(rows, "stray")) if truth else None,
        _said(rows, "split"),
        {r.rater: r.simulated for r in rows if r.simulated and not r.is_drawing} or _NOTHING,
        tuple(
            _drawing(row, files.path(row.label), paths, classes)
            for row in rows
            if row.label and row.is_drawing
        ),
        _said(rows, "patient"),
        when={r.rater: r.when for r in rows if r.when and not r.is_drawing} or _NOTHING,
        diagnosis=_said(rows, "diagnosis"),
    )


def _drawing(row: Row, file: Path, image: Sequence[Path], classes: Classes | None) -> Drawing:
    read = partial(
        read_drawing,
        file,
        classes=classes,
        like=partial(image_shape, image[0]) if image else None,
        image_name=image[0].as_posix() if image else "",
        rater=row.rater,
        undrawn=int(row.undrawn) if row.undrawn else None,
    )
    return Drawing(row.rater, cast(DrawingKind, row.kind), Source(read, (file,)), row.simulated)


def _said(rows: Iterable[Row], column: str) -> str:
    """Return what the rows of a case say in a column; an empty cell says nothing."""
    return next((text for row in rows if (text := str(getattr(row, column)))), "")


def _class_label(index: int) -> LabelMap:
    return LabelMap(np.array(index, dtype=np.int16), _POINT, "class name")
