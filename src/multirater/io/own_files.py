"""What this program wrote into a folder, so that nothing else is ever removed from it.

A finished folder holds the list of its files, `.multirater-files`, one path per line; a folder
that is empty is listed, too, with a slash at its end. One that is being written holds an empty
list.
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
    """Return what is in a folder and was not written by this program, empty folders among it."""
    own = _own(folder)
    folders = _folders_of(own)
    return sorted(
        name
        for name in _files(folder)
        if name not in own and not (_is_left_by_system(name) and _parent(name) in folders)
    )


def remove_own_files(folder: Path) -> None:
    """Remove what this program wrote, and its folders that are empty then; the rest stays."""
    own = _own(folder)
    # Of the list only what is really below the folder, not what a link in it leads to.
    for name in [*_files(folder)]:
        if not name.endswith("/") and (name in own or _is_left_by_system(name)):
            (folder / name).unlink(missing_ok=True)
    folders = _folders_of(own)
    for place, _, _ in os.walk(folder, topdown=False):
        is_own = Path(place).relative_to(folder).as_posix() in folders
        if is_own and not os.listdir(place):  # noqa: PTH208, paths of many files are not needed
            Path(place).rmdir()


def _own(folder: Path) -> set[str]:
    text = (folder / FILE_NAME).read_text(encoding="utf-8") if is_listed(folder) else ""
    return {*text.splitlines(), FILE_NAME}


def _folders_of(names: set[str]) -> set[str]:
    """Return the folders that some files lie in, and those above; `.` for the whole."""
    found = {"."}
    for name in {_parent(name) for name in names} | {n[:-1] for n in names if n.endswith("/")}:
        place = name
        while place not in found:
            found.add(place)
            place = _parent(place)
    return found


def _parent(name: str) -> str:
    return os.path.dirname(name) or "."  # noqa: PTH120, a large study has many files


def _is_left_by_system(name: str) -> bool:
    return os.path.basename(name) in _LEFT_BY_SYSTEMS  # noqa: PTH119


def _files(folder: Path) -> Iterator[str]:
    """Yield the files below a folder, links to folders and empty folders, relative to it."""
    for place, folders, files in os.walk(folder):
        inside = Path(place).relative_to(folder)
        links = [name for name in folders if Path(place, name).is_symlink()]
        for name in [*files, *links]:
            yield (inside / name).as_posix()
        if not files and not folders and inside.name:
            yield f"{inside.as_posix()}/"
