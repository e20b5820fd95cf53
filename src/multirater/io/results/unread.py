"""Nothing is written over what a verb reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.results import layout, origin
from multirater.io.tables import classes, features, manifest

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
    for each in map(Path.resolve, inputs):
        if place == each or (place.parent == each and place.name in _READ):
            raise InputError(
                Fault("is what is read, so it is not replaced", fix="choose another name")
            ).at(file=path)
