"""A folder appears whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import rmtree

from multirater.errors import Fault, InputError
from multirater.io.tables import classes, manifest

_MADE_BY_US = {
    manifest.FILE_NAME,
    classes.FILE_NAME,
    "images",
    "raters",
    "truth",
    "positive",
    "negative",
    "nodules.csv",
}
_LEFT_BY_SYSTEMS = {"Thumbs.db", "desktop.ini"}


@contextmanager
def new_folder(target: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a folder beside the target that takes its place when all went well.

    Whatever happens before leaves the target as it was and nothing beside it. Only a data set as
    this package writes it is replaced, never a folder that holds anything else.

    Args:
        target: the folder to make.
        overwrite: whether a data set that is there may be replaced.

    Raises:
        InputError: the target exists, or cannot be written.
    """
    place = Path(os.path.abspath(target))  # noqa: PTH100, a link stays a link
    temporary = _beside(place)
    try:
        _require_free(place, Path(target), overwrite)
        temporary.mkdir(parents=True)
        yield temporary
        _move(temporary, place)
    except OSError as error:
        raise InputError(
            Fault(
                f"cannot be written: {error.strerror or error}",
                expected="a place with enough room where you may write",
                fix="free some space, or choose another folder",
                file=str(target),
            )
        ) from error
    except InputError as error:
        # The user knows the target; the folder beside it is gone by the time they read this.
        raise InputError(
            [
                replace(fault, file=fault.file.replace(str(temporary), str(target)))
                for fault in error.faults
            ]
        ) from error
    finally:
        rmtree(temporary, ignore_errors=True)


def _beside(place: Path) -> Path:
    return place.with_name(f".{secrets.token_hex(6)}.part")


def _require_free(place: Path, target: Path, overwrite: bool) -> None:
    if not os.path.lexists(place) or (place.is_dir() and not any(place.iterdir())):
        return
    if not overwrite:
        raise InputError(
            Fault("already exists", fix="choose another folder or --overwrite", file=str(target))
        )
    if not (place / manifest.FILE_NAME).is_file():
        raise InputError(
            Fault(
                "exists and is not a data set, so it is not replaced",
                fix="choose another folder",
                file=str(target),
            )
        )
    names = sorted(path.name for path in place.iterdir() if not path.name.startswith("."))
    others = [name for name in names if name not in _MADE_BY_US | _LEFT_BY_SYSTEMS]
    if others:
        raise InputError(
            Fault(
                f"holds more than a data set ({', '.join(others[:5])}), so it is not replaced",
                expected=f"nothing but {', '.join(sorted(_MADE_BY_US))}",
                fix="move these files elsewhere, or choose another folder",
                file=str(target),
            )
        )


def _move(temporary: Path, place: Path) -> None:
    if not os.path.lexists(place):
        temporary.replace(place)
        return
    old = _beside(place)
    try:
        place.replace(old)
        temporary.replace(place)
    except BaseException:
        if old.exists() and not place.exists():
            old.replace(place)
        raise
    if old.is_symlink():
        old.unlink()
    else:
        rmtree(old, ignore_errors=True)
