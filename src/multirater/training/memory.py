"""Memory of this process: how much it takes, and a limit that fails with a word.

A process that takes more than there is gets killed without one. Within a limit of its own, the
allocation that goes beyond fails, and can be answered.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.training.budget import amount, free_memory

_STATUS = Path("/proc/self/status")


def resident() -> int:
    """Return the bytes that this process holds now; 0 where the system does not tell."""
    return _status("VmRSS")


def peak_resident() -> int:
    """Return the most bytes that it held since `forget_peak`, or since it began."""
    peak = _status("VmHWM")
    if peak:
        return peak
    try:
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    except ImportError:
        return 0


def forget_peak() -> None:
    """Begin to count the peak anew, where the system allows it."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _status(name: str) -> int:
    try:
        lines = _STATUS.read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    found = next((line for line in lines if line.startswith(f"{name}:")), "")
    return int(found.split()[1]) * 1024 if found else 0


@contextmanager
def at_most(more: int) -> Iterator[None]:
    """Let this process take so many more bytes; what asks for more fails with an error.

    Args:
        more: bytes beyond what it has now.
    """
    reserved = _status("VmData")
    if not reserved:
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = reserved + max(more, 0)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


@contextmanager
def within_what_is_free(fix: str, folder: Path) -> Iterator[None]:
    """Take no more memory than is free; where it runs out, say so instead of being killed.

    Args:
        fix: what can be done about it.
        folder: that was being written.

    Raises:
        InputError: memory ran out.
    """
    try:
        with at_most(free_memory()):
            yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        said = (str(error).splitlines() or ["no more could be had"])[0]
        raise InputError(
            Fault(
                f"memory ran out: {said[:120]}",
                expected=f"no more than the {amount(free_memory())} that are free now",
                fix=fix,
                file=str(folder),
            )
        ) from error


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory could not be had."""
    if isinstance(error, MemoryError):
        return True
    text = str(error).lower()
    words = ("can't allocate memory", "out of memory", "could not create a", "bad_alloc")
    return isinstance(error, RuntimeError) and (
        any(word in text for word in words) or "could not execute a primitive" in text
    )
