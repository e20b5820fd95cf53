"""Processes that are killed, or run out of disk, at a chosen moment."""

import os
import resource
import signal
from functools import partial
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
    """Run something that is killed when it has written its file of this number, from 1 on.

    A file is written when it is flushed to the disk or, in a folder that is flushed as a whole,
    about to take its name.

    Returns whether it was killed: False when it wrote fewer files and ended by itself.
    """

    def run():
        count, flushed = [0], [False]

        def written():
            count[0] += 1
            if count[0] == number:
                os.kill(os.getpid(), signal.SIGKILL)

        def flushing(flush, descriptor):
            flush(descriptor)
            flushed[0] = True
            written()

        def moving(move, *places, **options):
            if not flushed[0]:
                written()
            flushed[0] = False
            return move(*places, **options)

        os.fsync = partial(flushing, os.fsync)
        os.link, os.replace = partial(moving, os.link), partial(moving, os.replace)
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
