"""The clock that runs are planned by: of the wall, unless somebody measures by the processor's."""

import time
from collections.abc import Callable

CLOCK: Callable[[], float] = time.perf_counter
"""Seconds; `time.process_time` where others use the processor too and comparisons must be fair."""


def now() -> float:
    """Return the seconds of the clock."""
    return CLOCK()
