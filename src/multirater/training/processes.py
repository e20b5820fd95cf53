"""The processes of a run on several devices: the first starts the others, and they end with it.

The others run the same command. They write nothing and say nothing, so that they can be ended at
any moment; what one of them has to say when it fails, the first says for it.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import IO, Any

from lightning.pytorch.utilities import rank_zero_only

from multirater.errors import Fault, InputError

STARTED_BY = "MULTIRATER_STARTED_BY"
"""Variable that tells another process which one started it."""

_SECONDS_BETWEEN_LOOKS = 0.5
_SECONDS_TO_END = 1.0
"""What a process takes at most to be known as ended when its connections are."""


def is_first_process() -> bool:
    """Whether this process writes and speaks for all."""
    return int(getattr(rank_zero_only, "rank", 0) or 0) == 0


def is_started_by_first() -> bool:
    """Whether this process is another one of a run, which the first has started."""
    return STARTED_BY in os.environ and not is_first_process()


@dataclass(frozen=True, eq=False)
class _Other:
    number: int
    process: subprocess.Popen[bytes]
    said: IO[bytes]


_others: list[_Other] = []
"""Those that this process has started; they last as long as it does, over several runs."""


def start_others(n_devices: int, n_nodes: int = 1) -> None:
    """Start the other processes of this machine, unless they run already.

    They are told their places as Lightning reads them. A group of their own keeps Ctrl-C from
    them: the first ends them.

    Args:
        n_devices: processes on this machine, this one among them.
        n_nodes: machines.
    """
    if _others:
        return
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", str(_free_port()))
    os.environ.setdefault("NODE_RANK", os.environ.get("GROUP_RANK", "0"))
    os.environ["WORLD_SIZE"] = str(n_devices * n_nodes)
    os.environ["LOCAL_RANK"] = "0"
    own_group: dict[str, Any] = {"process_group": 0} if os.name == "posix" else {}
    for number in range(1, n_devices):
        said = tempfile.TemporaryFile()  # noqa: SIM115, open as long as the process runs
        process = subprocess.Popen(
            _this_command(),
            env={**os.environ, "LOCAL_RANK": str(number), STARTED_BY: str(os.getpid())},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            **own_group,
        )
        _others.append(_Other(number, process, said))


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("", 0))
        return int(found.getsockname()[1])


def _this_command() -> list[str]:
    """Return the command that this process runs."""
    import __main__

    if __main__.__spec__ is None:
        return [sys.executable, str(Path(sys.argv[0]).absolute()), *sys.argv[1:]]
    return [sys.executable, "-m", __main__.__spec__.name, *sys.argv[1:]]


def end_others() -> None:
    """End the others at once: one that waits for the rest in torch hears nothing else."""
    for other in _others:
        if other.process.poll() is None:
            other.process.kill()


def failed_other(*, wait: bool = False) -> InputError | None:
    """Return what is to be said of another process that failed; None where all is well.

    Args:
        wait: for one that is about to end.
    """
    until = time.monotonic() + (_SECONDS_TO_END if wait else 0)
    while True:
        failed = next((other for other in _others if other.process.poll()), None)
        if failed is not None:
            return InputError(_fault_of(failed))
        if time.monotonic() >= until:
            return None
        time.sleep(0.05)


def _fault_of(other: _Other) -> Fault:
    status = int(other.process.returncode)
    other.said.seek(0)
    lines = other.said.read().decode(errors="replace").strip().splitlines()
    errors = [number for number, line in enumerate(lines) if line.startswith("error: ")]
    # Of a traceback the last line says what went wrong.
    last = lines[errors[-1] :] if errors else lines[-1:]
    why = f"killed by signal {-status}" if status < 0 else f"with status {status}"
    said = "\n".join(["", *(f"    {line}" for line in last)]) if last and status > 0 else ""
    return Fault(
        f"process {other.number + 1} of {len(_others) + 1} ended before its time, {why}{said}",
        expected="processes that all train until the end",
        fix="" if said else "look for what ended it, such as want of memory, and go on by --resume",
    )


def end_with_first() -> None:
    """Let this process, if the first has started it, end when that ends, however it does."""
    if not is_started_by_first():
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first hears of it, and ends all
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    first = int(os.environ[STARTED_BY])

    def watch() -> None:
        while os.getppid() == first:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        os._exit(1)

    Thread(target=watch, daemon=True).start()
