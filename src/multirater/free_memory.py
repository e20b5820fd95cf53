"""How much memory there is to take."""

from __future__ import annotations

import os
from pathlib import Path


def free_memory() -> int:
    """Return the memory in bytes that this process may still take, also within a container."""
    return min(_free_on_machine(), _free_in_group())


def _free_on_machine() -> int:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        known = dict(line.split(":", 1) for line in lines)
        return int(known["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def _free_in_group() -> int:
    """Return what the limits of a container leave, versions 2 and 1."""
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        (
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        ),
    ):
        try:
            most, taken = (int(Path(each).read_text(encoding="ascii")) for each in (limit, used))
            return max(most - taken, 0)
        except (OSError, ValueError):
            continue
    return 2**62
