"""What a run may use: memory and time, as people write them, and what this machine has."""

from __future__ import annotations

import re

from multirater.errors import Fault, InputError
from multirater.free_memory import free_memory

__all__ = ["amount", "free_memory", "memory_bytes", "seconds", "usual_budget"]

GB = 2**30
USUAL_MEMORY = 7 * GB
"""Taken when nothing is said and more is free: the same plan on most machines."""

_RESERVE = 0.2
"""Share of the free memory that is left to others."""

_UNITS = {"": 1, "B": 1, "KB": 2**10, "MB": 2**20, "GB": GB, "TB": 2**40}
_LARGEST = 1e18
"""Number of an amount or a time, of whatever unit."""

_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600}


def memory_bytes(text: str | int) -> int:
    """Read an amount of memory.

    Example:
        >>> memory_bytes("1.5GB"), memory_bytes("500 MB")
        (1610612736, 524288000)
    """
    found = re.fullmatch(r"([0-9]*\.?[0-9]+)\s*([KMGT]?)I?(B?)", str(text).strip().upper())
    if found is None or not 0 < float(found[1]) < _LARGEST:
        raise InputError(
            Fault(
                f"memory {str(text)[:60]!r}", expected="an amount such as 6GB or 500MB, more than 0"
            )
        )
    return int(float(found[1]) * _UNITS[f"{found[2]}B" if found[2] else ""])


def seconds(text: str | float) -> float:
    """Read a time.

    Example:
        >>> seconds("20m"), seconds("1.5h"), seconds("90s")
        (1200.0, 5400.0, 90.0)
    """
    found = re.fullmatch(r"([0-9]*\.?[0-9]+)\s*(s|m|min|h|)", str(text).strip().lower())
    if found is None or not 0 < float(found[1]) < _LARGEST:
        raise InputError(
            Fault(
                f"time {str(text)[:60]!r}", expected="a time such as 20m, 90s or 1.5h, more than 0"
            )
        )
    return float(found[1]) * _SECONDS[found[2] or "s"]


def amount(n_bytes: float) -> str:
    """Say an amount of memory in words.

    Example:
        >>> amount(6 * 2**30), amount(300 * 2**20)
        ('6.0 GB', '300 MB')
    """
    return f"{n_bytes / GB:.1f} GB" if n_bytes >= GB else f"{n_bytes / 2**20:.0f} MB"


def usual_budget() -> int:
    """Return what a run may take when nobody says: what is free less a reserve, in whole GB."""
    free = free_memory() * (1 - _RESERVE)
    return int(min(USUAL_MEMORY, max(free // GB * GB, GB)))
