"""Files appear whole or not at all.

A writer works on a hidden temporary file beside the target, which is moved into place when it is
complete. An interrupted or failed run leaves the old target as it was and nothing beside it; what a
killed one leaves beside it is removed by the next that writes there.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.one_writer import one_writer

_DIGITS = 12
"""Of the names of temporary files."""

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}


@contextmanager
def replacing(path: str | Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a temporary path beside `path`, and move it into place if the block succeeds.

    The temporary file has the suffix of the target, so that writers which choose the format by the
    suffix do the same as for the target. Missing parent folders are made.

    Args:
        path: the file to make.
        overwrite: whether an existing file may be replaced.

    Raises:
        InputError: the target exists, its folder cannot be written, the disk is full, or another
            process writes this file.

    Example:
        >>> import tempfile
        >>> target = Path(tempfile.mkdtemp()) / "notes.txt"
        >>> with replacing(target) as temporary:
        ...     _ = temporary.write_text("whole")
        >>> target.read_text()
        'whole'
    """
    target = Path(path)
    with disk_faults(target):
        _require_free(target, overwrite)
        _make_parent(target)
        with _temporary(target) as temporary:
            try:
                yield temporary
                if not _is_in_part(target):
                    flush_to_disk(temporary)
                _move(temporary, target, overwrite)
            finally:
                temporary.unlink(missing_ok=True)


@contextmanager
def _temporary(target: Path) -> Iterator[Path]:
    """Yield a free name beside the target, which nobody else writes to.

    Names of single files are always the same, so that what a killed process left is found. In a
    folder that is written as a whole, that folder has the lock and is cleaned.
    """
    suffix = "".join(target.suffixes[-2:]).lower()  # such as .nii.gz
    if _is_in_part(target):
        yield target.with_name(f".{secrets.token_hex(_DIGITS // 2)}.part{suffix}")
        return
    digest = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:_DIGITS]
    path = target.with_name(f".{digest}.part{suffix}")
    with one_writer(target, lock=target.with_name(f".{digest}.part.lock")):
        path.unlink(missing_ok=True)
        yield path


def require_writable(
    path: Path, what: str, suffixes: Mapping[str, str], *, overwrite: bool
) -> None:
    """Refuse a file before the work rather than after it.

    Args:
        path: to be written.
        what: is written, in the plural.
        suffixes: that it may have, and what each stands for.
        overwrite: whether it may be there already.
    """
    if path.suffix.lower() not in suffixes:
        raise InputError(
            Fault(
                f"{what} cannot be written as {path.suffix or 'a file without suffix'}",
                expected=" or ".join(f"{name} ({means})" for name, means in suffixes.items()),
                fix="rename the output",
                file=str(path),
            )
        )
    if path.exists() and not overwrite:
        raise InputError(
            Fault("already exists", fix="choose another file, or --overwrite", file=str(path))
        )


def remove_left_overs(folder: Path) -> None:
    """Remove the temporary files that a killed process left; nobody else may write there."""
    for path in folder.rglob(f".{'[0-9a-f]' * _DIGITS}.part*"):
        if path.is_file():
            path.unlink(missing_ok=True)


def _require_free(target: Path, overwrite: bool) -> None:
    if target.is_dir():
        raise InputError(
            Fault("is a folder", expected="a file to write", fix="name a file", file=str(target))
        )
    if not overwrite and os.path.lexists(target):
        raise _already_exists(target)


def _already_exists(target: Path) -> InputError:
    return InputError(
        Fault("already exists", fix="choose another name, or pass --overwrite", file=str(target))
    )


def _make_parent(target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(
            Fault(
                "cannot be written: a part of its folder's path is a file",
                expected=f"a folder at {target.parent}",
                fix="choose another place",
                file=str(target),
            )
        ) from None


def part_name(name: str) -> str:
    """Return what a folder is called while it is written, and not yet in its place."""
    return f".{name}.part"


def _is_in_part(target: Path) -> bool:
    """Whether a file lies in a folder that goes to the disk as a whole, when it is complete."""
    return any(each.name.startswith(".") and each.name.endswith(".part") for each in target.parents)


def flush_to_disk(path: Path) -> None:
    """Have the system write a file now, so that it is whole even when power fails."""
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


def _move(temporary: Path, target: Path, overwrite: bool) -> None:
    if not overwrite:
        # A hard link fails when the target has appeared meanwhile, where a rename would replace it.
        try:
            os.link(temporary, target)
        except FileExistsError:
            raise _already_exists(target) from None
        except OSError:  # this file system has no hard links
            _require_free(target, overwrite)
        else:
            return
    temporary.replace(target)


@contextmanager
def disk_faults(target: Path) -> Iterator[None]:
    """Say in words that the disk is full or the place is not writable."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            found, fix = "cannot be written: the disk is full", "free some space and run again"
        elif error.errno in _FORBIDDEN:
            found, fix = (
                f"cannot be written: {target.parent} is not writable",
                "choose another place, or ask for the right to write there",
            )
        elif error.errno == errno.EISDIR:
            found = "cannot be written: a folder lies in the place of its unfinished file"
            fix = f"move {Path(str(error.filename)).name} elsewhere"
        elif error.errno == errno.ENAMETOOLONG:
            found, fix = "cannot be written: the name is too long", "choose a shorter name"
        else:
            raise
        raise InputError(Fault(found, fix=fix, file=str(target))) from error
