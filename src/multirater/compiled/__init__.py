"""Loops that numpy has no words for, compiled by numba where it is installed (`multirater[fast]`).

Whoever calls them has a form in numpy too, and takes it where numba is not there or loading it
would cost more than it saves. Loading takes a third of a second, some seconds more the first time.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

WORTH_LOADING = 1 << 26
"""Labels that a process has handled from which on compiled look-ups are loaded: a second's work."""


@cache
def is_there() -> bool:
    """Whether numba is installed and compiles (`NUMBA_DISABLE_JIT` has it interpret instead)."""
    if find_spec("numba") is None:
        return False
    from os import environ

    return environ.get("NUMBA_DISABLE_JIT", "0") == "0"


def compile_loop(function: Any) -> Any:
    """Compile a function when it is first called, and keep the code for later processes."""
    from numba import njit

    try:
        return njit(cache=True, error_model="numpy", nogil=True)(function)
    except RuntimeError:  # no folder to keep it in
        return njit(error_model="numpy", nogil=True)(function)


class Tally:
    """Work done so far in this process, to tell when loading what is compiled pays.

    Only for loops whose results are the same to the last bit: what a process did before must not
    show in its results.

    Example:
        >>> tally = Tally(worth=100)
        >>> tally.pays(60)
        False
    """

    def __init__(self, worth: int) -> None:
        self._left = worth

    def pays(self, work: int) -> bool:
        """Whether compiled loops are to be used from now on; `work` is what has to be done."""
        self._left -= work
        return self._left <= 0 and is_there()
