"""Ways in which files are damaged, and what comes of each try."""

import os
import signal
from collections import Counter
from contextlib import contextmanager

import numpy as np

from multirater.errors import InputError

TRIES = int(os.environ.get("MULTIRATER_FUZZ", "12"))
"""Tries per file; `make fuzz` asks for many."""

SECONDS = 60
"""After which a try counts as hanging; shared machines are slow at times."""

COUNTS: dict[str, Counter[str]] = {}
"""Outcomes by subject, printed at the end of the session."""


class HangError(Exception):
    """A try that did not end."""


def damaged(content: bytes, random: np.random.Generator) -> bytes:
    """Return a file with one thing wrong: a bit, some bytes, its end, a part twice, an extreme."""
    kind = random.integers(6)
    data = bytearray(content)
    place = int(random.integers(max(len(data), 1)))
    if kind == 0:
        data[place] ^= 1 << int(random.integers(8))
    elif kind == 1:
        data[place : place + 4] = random.bytes(4)
    elif kind == 2:
        del data[place:]
    elif kind == 3:
        data[place:place] = data[max(place - 64, 0) : place]
    elif kind == 4:
        extreme = (b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"\xff\xff\xff\x7f", b"-1", b"1e999")
        part = extreme[int(random.integers(len(extreme)))]
        data[place : place + len(part)] = part
    else:
        del data[place : place + int(random.integers(1, 16))]
    return bytes(data)


@contextmanager
def bounded(seconds=SECONDS):
    """Raise in a block that takes too long."""

    def hang(*_):
        raise HangError(f"no end after {seconds} s")

    before = signal.signal(signal.SIGALRM, hang)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def tried(subject, act, is_unchanged):
    """Act on something damaged and count what comes of it; anything but a sentence is raised."""
    counts = COUNTS.setdefault(subject, Counter())
    counts["tries"] += 1
    try:
        with bounded():
            found = act()
    except InputError:
        counts["refused"] += 1
        return "refused"
    except HangError:
        counts["hangs"] += 1
        raise
    except Exception:
        counts["tracebacks"] += 1
        raise
    outcome = "unchanged" if is_unchanged(found) else "otherwise"
    counts[outcome] += 1
    return outcome
