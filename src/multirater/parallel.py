"""The same work for many cases: in this process, in several, or on a Dask cluster."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from threading import Thread
from typing import TypeVar

from multirater.errors import Fault, InputError
from multirater.extras import extra
from multirater.progress import track

T = TypeVar("T")
R = TypeVar("R")

_FEW = 4
"""Below this many items starting processes costs more than it saves."""


def map_parallel(
    function: Callable[[T], R],
    items: Sequence[T],
    *,
    label: str,
    workers: int = 1,
    scheduler: str | None = None,
) -> Iterator[R]:
    """Yield `function(item)` in the order of the items, with progress.

    Args:
        function: a function that can be pickled (top level, or a partial of one).
        items: what to apply it to.
        label: what to call the work while it runs.
        workers: number of processes; 1 works in this one.
        scheduler: address of a Dask scheduler to run on instead.

    Example:
        >>> list(map_parallel(abs, [-1, 2], label="absolute values"))
        [1, 2]
    """
    if scheduler is not None:
        results = _on_dask(function, items, scheduler)
    elif workers <= 1 or len(items) < _FEW:
        results = map(function, items)
    else:
        results = _in_processes(function, items, workers)
    yield from track(results, label, len(items))


def _in_processes(function: Callable[[T], R], items: Sequence[T], workers: int) -> Iterator[R]:
    # Forking a process that has started threads can deadlock; a fork server cannot.
    context = multiprocessing.get_context("forkserver")
    chunk = max(1, min(16, len(items) // (workers * 8)))
    with ProcessPoolExecutor(
        max_workers=workers, mp_context=context, initializer=_end_with_parent
    ) as pool:
        try:
            yield from pool.map(function, items, chunksize=chunk)
        except BrokenProcessPool:
            raise InputError(
                Fault(
                    "a process was killed, most likely for want of memory",
                    fix="use fewer --workers",
                )
            ) from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _end_with_parent() -> None:
    """Let this process end when the one that started it does, even if that was killed."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def _on_dask(function: Callable[[T], R], items: Sequence[T], scheduler: str) -> Iterator[R]:
    with extra():
        from distributed import Client
    try:
        client = Client(scheduler, timeout="10s")
    except (OSError, ValueError) as error:
        raise InputError(
            Fault(
                f"no Dask scheduler answers at {scheduler} ({error})",
                fix="start one with `dask scheduler`, or leave --scheduler out",
            )
        ) from None
    with client:
        for future in client.map(function, items, pure=False):
            yield future.result()
