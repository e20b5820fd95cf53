"""The tables at the top of a data set's folder: what there is, and the classes in it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from multirater.io.tables import classes as classes_file
from multirater.io.tables import manifest
from multirater.types import Classes


def write_dataset_tables(
    folder: Path, rows: Iterable[manifest.Row], classes: Classes | None, *, overwrite: bool = False
) -> None:
    """Write `manifest.csv` and, where the classes are known, `classes.csv`.

    Example:
        >>> import tempfile
        >>> from multirater.types import LabelClass
        >>> folder = Path(tempfile.mkdtemp())
        >>> row = manifest.Row("case 1", "1.png", "anna", "anna/1.png")
        >>> write_dataset_tables(folder, [row], Classes((LabelClass("air"), LabelClass("bone"))))
        >>> sorted(path.name for path in folder.iterdir())
        ['classes.csv', 'manifest.csv']
    """
    if classes is not None:
        classes_file.write_classes(classes, folder / classes_file.FILE_NAME, overwrite=overwrite)
    manifest.write_rows(rows, folder / manifest.FILE_NAME, overwrite=overwrite)
