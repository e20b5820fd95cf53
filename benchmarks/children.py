"""Programs that a benchmark starts: they end with it, and what they took is counted.

A benchmark that is killed must leave nothing running: the next one would measure beside it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG


@dataclass(frozen=True)
class Use:
    """What a process took.

    Attributes:
        cpu: seconds of all its threads, user and system.
        peak: memory in megabytes.
        wall: seconds by the clock that were waited for it.
    """

    cpu: float
    peak: float
    wall: float


def end_with_parent() -> None:
    """Have the system kill this process when its parent ends, however it ends (Linux)."""
    library = ctypes.CDLL(None)
    if hasattr(library, "prctl"):
        library.prctl(_DEATH_SIGNAL, signal.SIGKILL)


def start(command: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
    """Start a program that ends with this process."""
    return subprocess.Popen(command, preexec_fn=end_with_parent, **options)


def run(command: Sequence[str], **options: Any) -> subprocess.CompletedProcess[Any]:
    """Run a program that ends with this process."""
    return subprocess.run(command, preexec_fn=end_with_parent, check=True, **options)


def measured(command: Sequence[str], output: Path, **options: Any) -> Use:
    """Run a program, with what it says in a file; raise if it fails.

    The memory counted is that of the process itself, without processes that it starts.
    """
    with output.open("w", encoding="utf-8") as stream:
        process = start(command, stdout=stream, stderr=stream, **options)
        return waited_for(process, output)


def waited_for(process: subprocess.Popen[Any], output: Path) -> Use:
    """Wait for a program; raise with what it said if it fails."""
    started = time.perf_counter()
    _, status, used = os.wait4(process.pid, 0)
    waited = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        said = output.read_text(encoding="utf-8", errors="replace")
        raise SystemExit(f"{process.args} ended with {process.returncode}: {said[-2000:]}")
    return Use(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, waited)
