"""Processes that are killed, or run out of disk, at a chosen moment."""

import os
import resource
import signal
from hashlib import sha256
from pathlib import Path


def _in_child(act):
    """Run something in a process of its own; return how it ended, as `os.waitpid` says."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    status = 1
    try:
        act()
        status = 0
    finally:
        os._exit(status)


def killed_at_write(act, number):
    """Run something that is killed when it has flushed its file of this number, from 1 on.

    Returns whether it was killed: False when it wrote fewer files and ended by itself.
    """

    def run():
        count, flush = [0], os.fsync

        def counted(descriptor):
            flush(descriptor)
            count[0] += 1
            if count[0] == number:
                os.kill(os.getpid(), signal.SIGKILL)

        os.fsync = counted
        act()

    ended = _in_child(run)
    if os.WIFSIGNALED(ended):
        return True
    assert os.WEXITSTATUS(ended) == 0
    return False


def with_small_disk(act, n_bytes):
    """Run something on a disk that takes no file larger than this; return its exit status."""

    def run():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))
        act()

    return os.WEXITSTATUS(_in_child(run))


def digests(folder: Path) -> dict[str, str]:
    """Return what every file below a folder holds."""
    return {
        path.relative_to(folder).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
