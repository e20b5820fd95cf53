"""One process writes at a place; a second one is told so.

The lock is a file beside the place that the system unlocks when its process ends, however it ends.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from multirater.errors import Fault, InputError

_locks: Any = import_module("fcntl") if find_spec("fcntl") else None
"""None on a system that has no such locks."""

_HELD = {errno.EACCES, errno.EAGAIN}


@contextmanager
def one_writer(place: str | Path, lock: Path | None = None) -> Iterator[None]:
    """Hold the right to write at a place until the block ends.

    Args:
        place: file or folder to write, which need not exist; its parent folder must.
        lock: file of the lock; `.<name>.lock` beside the place when not given.

    Raises:
        InputError: another process holds it.

    Example:
        >>> import tempfile
        >>> place = Path(tempfile.mkdtemp()) / "out"
        >>> with one_writer(place):
        ...     print([path.name for path in place.parent.iterdir()])
        ['.out.lock']
        >>> list(place.parent.iterdir())
        []
    """
    target = Path(place)
    require_name(target)
    lock = lock or target.with_name(f".{target.name}.lock")
    descriptor = _locked(lock, target)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)  # while it is held: nobody else has it open and locked
        os.close(descriptor)


def require_name(place: Path) -> None:
    """Refuse the root of the file system, beside which nothing can be written."""
    if not place.name:
        raise InputError(
            Fault(
                "is no place to write at",
                expected="a file or folder with a name",
                fix="choose another place",
                file=str(place),
            )
        )


def _locked(lock: Path, target: Path) -> int:
    while True:
        descriptor = _opened(lock, target)
        try:
            _take(descriptor, target)
            if _is_at(descriptor, lock):
                _require_own(descriptor, lock, target)
                os.ftruncate(descriptor, 0)
                os.write(descriptor, f"{os.getpid()}\n".encode())
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # its owner removed it between opening and locking: once more


def _opened(lock: Path, target: Path) -> int:
    """Open the lock; never what a link in its place leads to, which would be emptied."""
    try:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
        return os.open(lock, flags, 0o666)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise InputError(
            Fault(
                f"a link lies where the lock goes ({lock.name})",
                fix="remove the link, or choose another folder",
                file=str(target),
            )
        ) from None


def _take(descriptor: int, target: Path) -> None:
    if _locks is None:
        return
    try:
        _locks.flock(descriptor, _locks.LOCK_EX | _locks.LOCK_NB)
    except OSError as error:
        if error.errno not in _HELD:
            return  # a file system without locks: better to write than not to
        owner = os.read(descriptor, 20).decode(errors="replace").strip()
        raise InputError(
            Fault(
                "another process writes here" + (f" (process {owner})" if owner else ""),
                expected="one process at a time",
                fix="wait for it to end, or choose another folder",
                file=str(target),
            )
        ) from None


def _require_own(descriptor: int, lock: Path, target: Path) -> None:
    """Refuse a file of somebody else, which would be emptied and removed."""
    content = b""
    is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)  # to read a pipe would wait for ever
    if is_file:
        content = os.read(descriptor, 40)
        os.lseek(descriptor, 0, os.SEEK_SET)
    if not is_file or not re.fullmatch(rb"([0-9]+\n)?", content):
        raise InputError(
            Fault(
                f"a file that is no lock of this program lies where it goes ({lock.name})",
                fix=f"move {lock.name} elsewhere, or choose another folder",
                file=str(target),
            )
        )


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
