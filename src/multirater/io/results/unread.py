"""Nothing is written over what a verb reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.results import layout, origin
from multirater.io.tables import classes, features, manifest
from multirater.types import Dataset

_READ = {manifest.FILE_NAME, classes.FILE_NAME, origin.FILE_NAME, *features.FILE_NAMES}
_READ |= {layout.RATERS, layout.CASES, layout.FUSION, layout.CONFIG, layout.DATA}
_READ |= {layout.TRUST, layout.PLAN}
"""What folders that are read hold beside images and labels."""


def require_unread(path: Path, inputs: Iterable[Path]) -> None:
    """Refuse to write over what is read: a table, or one of those that a folder is read by.

    Args:
        path: to be written.
        inputs: folders and tables that are read.
    """
    place = path.resolve()
    if place.exists() and place.name in _READ:
        raise InputError(
            Fault(
                "is a table or statement of a study or a result, so it is not replaced",
                fix="choose another name",
                file=str(path),
            )
        )
    for each in map(Path.resolve, inputs):
        if place == each or (place.parent == each and place.name in _READ):
            raise _is_read(path)


def require_unread_cases(path: Path, dataset: Dataset) -> None:
    """Refuse to write over an image, a label or the truth of a data set that is read."""
    if not path.exists():
        return
    place = path.resolve()
    for case in dataset:
        known = [case.image, case.truth, case.gold, *case.labels.values()]
        known += [each.source for each in case.drawings]
        if any(place == file.resolve() for each in known if each for file in each.paths):
            raise _is_read(path)


def _is_read(path: Path) -> InputError:
    return InputError(
        Fault("is what is read, so it is not replaced", fix="choose another name", file=str(path))
    )
