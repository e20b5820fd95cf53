"""Progress for whoever waits: a bar on a terminal, plain lines elsewhere, silence when asked.

The command line chooses how much is shown; as a library the package is silent.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from multirater.terminal import harmless

T = TypeVar("T")

_SECONDS_BETWEEN_LINES = 5.0
_shown = False
_is_command = False


def show_progress(shown: bool) -> None:
    """Switch progress on or off for the whole process, which is a command then."""
    global _shown, _is_command
    _shown, _is_command = shown, True


def say(message: str) -> None:
    """Tell the user what happens now, on standard error, unless progress is off."""
    if _shown:
        print(harmless(message), file=sys.stderr, flush=True)


def say_how_to_go_on(message: str) -> None:
    """Tell whoever runs a command what to do after an end before its time, progress or none."""
    if _is_command:
        print(harmless(message), file=sys.stderr, flush=True)


def track(items: Iterable[T], label: str, total: int) -> Iterator[T]:
    """Yield the items and show how far along they are.

    Example:
        >>> list(track([1, 2], "counting", total=2))
        [1, 2]
    """
    if not _shown:
        yield from items
    elif sys.stderr.isatty():
        yield from _bar(items, label, total)
    else:
        yield from _lines(items, label, total)


def _bar(items: Iterable[T], label: str, total: int) -> Iterator[T]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        yield from progress.track(items, total=total, description=label)


def _lines(items: Iterable[T], label: str, total: int) -> Iterator[T]:
    started = last = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        if done == 1:
            started = now  # before it, processes began and libraries were loaded
        elif now - last >= _SECONDS_BETWEEN_LINES:
            left = (now - started) / (done - 1) * (total - done)
            say(f"{label}: {done} of {total}, about {left:.0f} s left")
            last = now
