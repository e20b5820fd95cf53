"""How a run ends when it is told to: within seconds, whatever it is doing.

Python hears of a signal between two of its own steps, not while torch waits for another process. So
a thread hears of it, too: it ends the other processes, and this one if it does not come to its end.
Checkpoints are whole at every moment, so that nothing is lost.
"""

from __future__ import annotations

import os
import select
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread, current_thread, main_thread
from typing import NoReturn

import lightning
from lightning.pytorch.callbacks import Callback
from torch.distributed import DistError

from multirater.errors import Fault, InputError
from multirater.io.formats.guard import reason
from multirater.training.processes import end_others, failed_other

PATIENCE = 3.0
"""Seconds that a run has to come to its end by itself."""

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class ToldToEndError(SystemExit):
    """A signal told this process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number


def _raise(number: int, _: object) -> NoReturn:
    for each in _SIGNALS:  # once is enough: the way out is not to be cut off
        signal.signal(each, signal.SIG_IGN)
    raise ToldToEndError(number)


class HearSignals(Callback):
    """Puts the handlers of `ends_when_told` back, where Lightning has put its own.

    Its own talks to the other processes, in the midst of what they are talking about.
    """

    def on_fit_start(self, trainer: lightning.Trainer, module: lightning.LightningModule) -> None:
        """Listen, before the first step."""
        for watch in _watches:
            watch.listen()


_watches: list[_Watch] = []
"""Of the run that this process is in."""


@contextmanager
def ends_when_told(last_words: Callable[[], None]) -> Iterator[None]:
    """End within seconds of SIGTERM or Ctrl-C, and when another process of the run fails.

    A signal that is ignored already, as by `nohup` or for what a script starts behind itself, stays
    so.

    Args:
        last_words: what is left to do when this process has to be cut off.

    Raises:
        KeyboardInterrupt: Ctrl-C.
        SystemExit: SIGTERM, with status 143.
        InputError: another process failed.
    """
    if current_thread() is not main_thread() or _watches:
        yield  # whoever is outside listens
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    watch = _Watch(last_words)
    _watches.append(watch)
    watch.listen()
    watch.start()
    try:
        yield
    except BaseException as error:
        _say_why(watch, error)
        raise
    finally:
        watch.close()
        _watches.clear()
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _say_why(watch: _Watch, error: BaseException) -> None:
    """Raise what a run really ends for: what is left of it fails in many ways."""
    number = watch.told or (error.number if isinstance(error, ToldToEndError) else 0)
    failed = None if number or isinstance(error, InputError) else failed_other(wait=True)
    number = number or watch.told  # both may have been told, the other sooner
    end_others()
    if number == signal.SIGINT:
        raise KeyboardInterrupt from None
    if number:
        raise SystemExit(128 + number) from None
    if failed is not None:
        raise failed from None
    if isinstance(error, DistError):
        raise InputError(
            Fault(
                f"the processes of the run have lost each other: {reason(error)}",
                expected="all of them, on all --nodes, until the end",
                fix="start them again, on every machine",
            )
        ) from error


def _forget() -> None:
    """Let a forked process, such as one that reads data, not speak for the one it came from."""
    if not _watches:
        return
    _watches.clear()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


class _Watch(Thread):
    """Hears of signals, and of processes that fail, also while torch waits."""

    def __init__(self, last_words: Callable[[], None]) -> None:
        super().__init__(daemon=True, name="told to end")
        self.last_words = last_words
        self.told = 0
        self.signals = [n for n in _SIGNALS if signal.getsignal(n) is not signal.SIG_IGN]
        self.ended = Event()
        self.hears, self.wakes = socket.socketpair()
        self.wakes.setblocking(False)
        self.before = signal.set_wakeup_fd(self.wakes.fileno(), warn_on_full_buffer=False)

    def listen(self) -> None:
        """Have the main thread hear of signals, too."""
        for number in self.signals:
            signal.signal(number, _raise)

    def run(self) -> None:
        """Wait for a reason to end."""
        while not self.ended.is_set():
            if select.select([self.hears], [], [], 0.5)[0]:
                heard = [each for each in self.hears.recv(64) if each in _SIGNALS]
                if heard and not self.ended.is_set():
                    self.told = heard[0]
                    self._end(128 + self.told)
                    return
            elif (failed := failed_other()) is not None:
                self._end(2, f"error: {failed}")
                return

    def _end(self, status: int, said: str = "") -> None:
        end_others()
        if self.ended.wait(PATIENCE):
            return
        try:
            if said:
                os.write(2, f"{said}\n".encode(errors="replace"))
            self.last_words()
        finally:
            os._exit(status)

    def close(self) -> None:
        """Hear no more."""
        signal.set_wakeup_fd(self.before, warn_on_full_buffer=False)
        self.ended.set()
        with self.wakes:
            self.wakes.send(b"\0")
        self.join(PATIENCE + 1)
        self.hears.close()
