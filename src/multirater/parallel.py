"""The same work for many cases: in this process, in several, or on a Dask cluster."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import wait
from threading import Thread
from typing import Any, Protocol, TypeVar

from multirater.errors import Fault, InputError
from multirater.extras import extra
from multirater.progress import track

T = TypeVar("T")
R = TypeVar("R")


class Apply(Protocol):
    """Applies a function that can be pickled to items; yields results in their order."""

    def __call__(self, function: Callable[[T], R], items: Sequence[T], /) -> Iterator[R]:
        """Yield `function(item)` of each item."""


_IGNORES_ALL = ("ignore", None, Warning, None, 0)
"""What `warnings.simplefilter("ignore")` adds to the filters."""

_SAFE_PATH = "PYTHONSAFEPATH"
"""Keeps the current folder off the path of a Python that is started."""

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
    _start_server()
    chunk = max(1, min(16, len(items) // (workers * 8)))
    with ProcessPoolExecutor(
        max_workers=min(workers, len(items)),
        mp_context=context,
        initializer=_start_worker,
        initargs=(_IGNORES_ALL in warnings.filters,),
    ) as pool:
        try:
            # Not by the pool's own `map`: it cancels what is left when it ends, over which the
            # pool stumbles when its workers end, too.
            parts = [items[first : first + chunk] for first in range(0, len(items), chunk)]
            left = deque(pool.submit(_each, function, part) for part in parts)
            while left:
                yield from left.popleft().result()
        except BrokenProcessPool:
            time.sleep(_SECONDS_TO_HEAR)  # whoever ended it may have told this process, too
            raise InputError(
                Fault(
                    "a process was killed, most likely for want of memory",
                    fix="use fewer --workers",
                )
            ) from None
        except BaseException:
            _end_workers(pool)
            raise


def _each(function: Callable[[T], R], items: Sequence[T]) -> list[R]:
    return [function(item) for item in items]


_SECONDS_TO_HEAR = 0.2


def _start_server() -> None:
    """Start what forks workers, with Ctrl-C kept from them: this process hears it, and ends them.

    A worker that loads its modules would answer with a traceback. Both are started as `python -c`,
    which would look for modules in the current folder first, and that may be a stranger's study;
    workers are told later where this process finds its own.
    """
    if not hasattr(signal, "pthread_sigmask"):
        return
    with _safe_path():
        resource_tracker.ensure_running()  # which lets signals through again when it starts
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            forkserver.ensure_running()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _safe_path() -> Iterator[None]:
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


def _end_workers(pool: ProcessPoolExecutor) -> None:
    """End all work at once: nobody waits for what is half done."""
    for worker in multiprocessing.active_children():
        worker.terminate()
    pool.shutdown()


def _start_worker(ignores_warnings: bool) -> None:
    """Have a new process warn as the one that started it does, and end with it."""
    if ignores_warnings:
        warnings.simplefilter("ignore")
    end_with_parent()


def end_with_parent() -> None:
    """Let this process end when the one that started it does, even if that was killed."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait([parent.sentinel])
        os._exit(1)

    Thread(target=watch, daemon=True).start()


@contextmanager
def many_times(*, threads: int = 1, scheduler: str | None = None) -> Iterator[Apply]:
    """Yield a function that applies others to many items again and again, in order.

    What it takes to connect to a cluster is spent once. A worker of the cluster that is killed
    costs what it was working on: another one does it.

    Args:
        threads: to work in; what is applied should leave Python's lock alone.
        scheduler: address of a Dask scheduler to run on instead.

    Example:
        >>> with many_times(threads=2) as apply:
        ...     list(apply(abs, [-1, 2])), list(apply(str, [3]))
        ([1, 2], ['3'])
    """
    if scheduler is not None:
        with _connected(scheduler) as client:
            yield partial(_gather, client)
        return
    pool = ThreadPoolExecutor(max_workers=max(threads, 1))
    try:
        yield pool.map
    finally:
        pool.shutdown(cancel_futures=True)


def _on_dask(function: Callable[[T], R], items: Sequence[T], scheduler: str) -> Iterator[R]:
    with _connected(scheduler) as client:
        for future in client.map(function, items, pure=False):
            yield future.result()


def _gather(client: Any, function: Callable[[T], R], items: Sequence[T]) -> Iterator[R]:
    """Fetch results as they come, so that a worker that dies takes none of them with it."""
    from distributed import as_completed

    futures = client.map(function, items, pure=False)
    place = {future.key: number for number, future in enumerate(futures)}
    found: dict[int, R] = {}
    due = 0
    for future, result in as_completed(futures, with_results=True):
        found[place[future.key]] = result
        while due in found:
            yield found.pop(due)
            due += 1


@contextmanager
def _connected(scheduler: str) -> Iterator[Any]:
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
        yield client
