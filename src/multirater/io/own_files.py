"""What this program wrote into a folder, so that nothing else is ever removed from it.

A finished folder holds the list of its files, `.multirater-files`, one path per line; one that is
being written holds an empty list.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

FILE_NAME = ".multirater-files"

_LEFT_BY_SYSTEMS = {"Thumbs.db", "desktop.ini", ".DS_Store"}


def begin_own_files(folder: Path) -> None:
    """Mark a folder as one that this program is writing."""
    (folder / FILE_NAME).touch()


def is_unfinished(folder: Path) -> bool:
    """Whether this program began to write a folder and did not come to its end."""
    return is_listed(folder) and not (folder / FILE_NAME).stat().st_size


def write_own_files(folder: Path) -> None:
    """List everything that is in a folder now as written by this program."""
    names = sorted(name for name in _files(folder) if name != FILE_NAME)
    (folder / FILE_NAME).write_text("".join(f"{name}\n" for name in names), encoding="utf-8")


def is_listed(folder: Path) -> bool:
    """Whether a folder says what this program wrote into it."""
    return (folder / FILE_NAME).is_file()


def files_of_others(folder: Path) -> list[str]:
    """Return what is in a folder and was not written by this program."""
    own = _own(folder)
    return sorted(
        name
        for name in _files(folder)
        if name not in own and Path(name).name not in _LEFT_BY_SYSTEMS
    )


def remove_own_files(folder: Path) -> None:
    """Remove what this program wrote, and folders that are empty then; the rest stays."""
    own = _own(folder)
    # Of the list only what is really below the folder, not what a link in it leads to.
    for name in [*_files(folder)]:
        if name in own or Path(name).name in _LEFT_BY_SYSTEMS:
            (folder / name).unlink(missing_ok=True)
    for place, _, _ in os.walk(folder, topdown=False):
        if not os.listdir(place):  # noqa: PTH208, paths of many files are not needed
            Path(place).rmdir()


def _own(folder: Path) -> set[str]:
    text = (folder / FILE_NAME).read_text(encoding="utf-8") if is_listed(folder) else ""
    return {*text.splitlines(), FILE_NAME}


def _files(folder: Path) -> Iterator[str]:
    """Yield the files below a folder, links to folders among them, relative to it."""
    for place, folders, files in os.walk(folder):
        inside = Path(place).relative_to(folder)
        links = [name for name in folders if Path(place, name).is_symlink()]
        for name in [*files, *links]:
            yield (inside / name).as_posix()
