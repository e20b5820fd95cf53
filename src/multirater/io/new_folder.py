"""A folder appears whole or not at all: how every verb writes one.

While it is written it is called `.<name>.part`, beside its target, and takes the target's place
when it is complete. What was there before stays until then, and is removed only as far as this
program wrote it. A killed process leaves its `.part`, which the next one takes up or removes: one
that holds no list of this program's files is somebody else's, and stays.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from shutil import rmtree

from multirater.errors import Fault, InputError
from multirater.io.atomic import disk_faults, flush_to_disk, part_name, remove_left_overs
from multirater.io.one_writer import one_writer, require_name
from multirater.io.own_files import (
    begin_own_files,
    files_of_others,
    is_listed,
    is_unfinished,
    remove_own_files,
    write_own_files,
)

STUDY_FOLDERS = ("images", "raters", "truth")
"""Folders of a study without a table."""

_FEW = 16
"""Files up to which each is written to the disk by itself."""


def _nothing(_: Path) -> bool:
    return False


@contextmanager
def new_folder(
    target: str | Path,
    *,
    overwrite: bool = False,
    inputs: Iterable[Path] = (),
    resume: bool = False,
    keep: Callable[[Path], bool] = _nothing,
) -> Iterator[Path]:
    """Yield a folder beside the target that takes its place when all went well.

    Whatever happens before leaves the target as it was. Only a folder that this program wrote is
    replaced, never one that holds anything else.

    Args:
        target: the folder to make.
        overwrite: whether a folder of this program that is there may be replaced.
        inputs: what is read; none of it may lie in a folder that would be replaced.
        resume: go on with what an earlier process left unfinished, if any.
        keep: says of an unfinished folder whether it is worth going on with; else it is removed.

    Raises:
        InputError: the target exists, or cannot be written, or another process writes it.
    """
    place = Path(os.path.abspath(target))  # noqa: PTH100, a link stays a link
    require_name(place)
    temporary = part_of(place)
    done = False
    inputs = tuple(inputs)
    try:
        require_no_part(Path(target), inputs)
        place.parent.mkdir(parents=True, exist_ok=True)
        with one_writer(place):
            _require_free(place, Path(target), overwrite)
            if overwrite:
                _require_outside(place, Path(target), inputs)
            if temporary.is_symlink():
                temporary.unlink()  # what it leads to is not ours
            _require_own(temporary, Path(target))
            if resume and is_unfinished(temporary):
                remove_left_overs(temporary)
            else:
                _remove(temporary)
                _require_own(temporary, Path(target))
                temporary.mkdir(exist_ok=True)
                begin_own_files(temporary)
            try:
                yield temporary
                write_own_files(temporary)
                _flush(temporary)
                _move(temporary, place, Path(target), overwrite)
                done = True
            finally:
                if not done and not keep(temporary):
                    _remove(temporary)
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


def _flush(folder: Path) -> None:
    """Have the system write all files of a folder before it takes its place.

    To wait for ten thousand files one by one takes minutes; for all at once, a moment.
    """
    paths = [Path(place, name) for place, _, names in os.walk(folder) for name in names]
    if len(paths) > _FEW and _flush_file_system(folder):
        return
    for path in paths:
        if not path.is_symlink():
            with disk_faults(path):
                flush_to_disk(path)


def _flush_file_system(folder: Path) -> bool:
    """Write everything that the file system of a folder has not yet written, where that can be."""
    try:
        flush = ctypes.CDLL(None, use_errno=True).syncfs
    except (OSError, AttributeError):
        return False
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        return bool(flush(descriptor) == 0)
    finally:
        os.close(descriptor)


def part_of(target: str | Path) -> Path:
    """Return what a folder is called while it is written."""
    place = Path(os.path.abspath(target))  # noqa: PTH100
    return place.with_name(part_name(place.name))


def _require_own(temporary: Path, target: Path) -> None:
    """Refuse a folder that is called like a left-over of this program, and is none."""
    if os.path.lexists(temporary) and not is_listed(temporary):
        if temporary.is_dir() and not any(temporary.iterdir()):
            return  # killed before it had written anything
        raise InputError(
            Fault(
                f"{temporary.name} lies beside it, where this program would write, and is not its "
                "own",
                fix=f"move {temporary.name} elsewhere, or choose another folder",
                file=str(target),
            )
        )


def _remove(temporary: Path) -> None:
    """Remove what is unfinished as a whole; of a result that was replaced, only what is listed."""
    if is_listed(temporary) and not is_unfinished(temporary):
        remove_own_files(temporary)
    elif temporary.is_dir():
        rmtree(temporary, ignore_errors=True)


def _require_free(place: Path, target: Path, overwrite: bool) -> None:
    if place.is_symlink():
        raise InputError(
            Fault(
                f"is a link to {place.readlink()}, and links are not replaced",
                expected="a folder",
                fix="name the folder that it leads to",
                file=str(target),
            )
        )
    if not os.path.lexists(place) or (place.is_dir() and not any(place.iterdir())):
        return
    if not overwrite:
        raise InputError(
            Fault("already exists", fix="choose another folder or --overwrite", file=str(target))
        )
    if not place.is_dir() or not is_listed(place):
        raise InputError(
            Fault(
                "exists and was not written by this program, so it is not replaced",
                fix="choose another folder",
                file=str(target),
            )
        )
    others = files_of_others(place)
    if others:
        raise InputError(
            Fault(
                f"holds more than this program wrote ({', '.join(others[:5])}), so it is not "
                "replaced",
                fix="move these files elsewhere, or choose another folder",
                file=str(target),
            )
        )


def _require_outside(place: Path, target: Path, inputs: Iterable[Path]) -> None:
    """Refuse to replace what is read."""
    whole = place.resolve()
    inside = next((path for path in inputs if path.resolve().is_relative_to(whole)), None)
    if inside is not None:
        raise InputError(
            Fault(
                f"holds what is read ({inside}), so it is not replaced",
                fix="choose another folder",
                file=str(target),
            )
        )


def require_no_part(target: Path, inputs: Iterable[Path]) -> None:
    """Refuse a place where a result would be taken for a part of the study that is read.

    Args:
        target: file or folder to be written.
        inputs: folders that are read.
    """
    whole = target.resolve()
    for study, part in product(inputs, STUDY_FOLDERS):
        if whole.is_relative_to(study.resolve() / part):
            raise InputError(
                Fault(
                    f"lies in {study / part}, where it would be taken for a part of the study",
                    fix="choose another folder",
                    file=str(target),
                )
            )


def _move(temporary: Path, place: Path, target: Path, overwrite: bool) -> None:
    """Put the new folder into its place; one that appeared meanwhile is not replaced unasked."""
    _require_free(place, target, overwrite)
    if not os.path.lexists(place) or (place.is_dir() and not any(place.iterdir())):
        # Only a free place or an empty folder can be taken like this, whoever made it when.
        temporary.replace(place)
        return
    if not _exchange(temporary, place):
        _exchange_in_steps(temporary, place)
    if temporary.is_symlink():
        temporary.unlink()
    else:
        remove_own_files(temporary)


def _exchange(one: Path, other: Path) -> bool:
    """Let two folders swap their names in one step, where the system can."""
    try:
        swap = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(swap(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0)


def _exchange_in_steps(new: Path, place: Path) -> None:
    old = place.with_name(f".{place.name}.old")
    place.replace(old)
    try:
        new.replace(place)
    except BaseException:
        old.replace(place)
        raise
    old.replace(new)
