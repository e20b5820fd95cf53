"""What is installed, what is missing for which verb, and the machine: the facts of a bug report.

Nothing heavy is imported: versions come from the metadata of what is installed.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any

from multirater import __version__
from multirater.extras import EXTRAS, command
from multirater.free_memory import free_memory

_NAMED = ("numpy", "scipy", "pandas", "torch")
"""What results depend on most; these are in `multirater --version`."""


@dataclass(frozen=True)
class Equipment:
    """One extra: what is there of it.

    Attributes:
        extra: its name.
        versions: of the distributions it brings; None where one is not installed.
        users: verbs and names that need it.
    """

    extra: str
    versions: dict[str, str | None]
    users: str

    @property
    def missing(self) -> list[str]:
        """The distributions that are not installed."""
        return [name for name, found in self.versions.items() if found is None]


@dataclass(frozen=True)
class Diagnosis:
    """What `multirater doctor` says.

    Attributes:
        machine: system, Python, cores, memory, disk and GPU, in words.
        core: versions of the distributions that every verb needs; None where one is missing.
        extras: the same of each extra.
    """

    machine: dict[str, str]
    core: dict[str, str | None]
    extras: list[Equipment]

    @property
    def is_sound(self) -> bool:
        """Whether the core is whole; extras are a matter of need."""
        return None not in self.core.values()

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {**asdict(self), "is_sound": self.is_sound}

    def as_text(self) -> str:
        """Return everything as lines for people, ready to be pasted into a report."""
        return "\n".join(_lines(self))


def doctor() -> Diagnosis:
    """Look at the installation and the machine.

    Example:
        >>> doctor().machine["multirater"] == __version__
        True
    """
    extras = [
        Equipment(name, _versions(list(each.modules.values())), each.users)
        for name, each in EXTRAS.items()
    ]
    return Diagnosis(_machine(), _versions(_core_names()), extras)


def version_line() -> str:
    """Return the versions that matter, in one line.

    Example:
        >>> version_line().startswith(f"multirater {__version__} (Python 3.")
        True
    """
    found = _versions(_NAMED)
    parts = [f"Python {platform.python_version()}"]
    parts += [f"{name} {each}" if each else f"no {name}" for name, each in found.items()]
    return f"multirater {__version__} ({', '.join(parts)})"


def _versions(names: Sequence[str]) -> dict[str, str | None]:
    return {name: _version(name) for name in names}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _core_names() -> list[str]:
    """Return the names of what the package requires in any case, by its own metadata."""
    try:
        wanted = requires("multirater") or []
    except PackageNotFoundError:  # run from a folder that is not installed
        return ["numpy"]
    plain = [each for each in wanted if "extra ==" not in each]
    return [each.split(";")[0].split(">")[0].split("=")[0].strip() for each in plain]


def _machine() -> dict[str, str]:
    disk = shutil.disk_usage(".")
    return {
        "multirater": __version__,
        "Python": f"{platform.python_version()} ({sys.executable})",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": f"{_cores()} of {os.cpu_count() or 1}",
        "memory": f"{free_memory() / 1e9:.1f} GB free",
        "disk": f"{disk.free / 1e9:.1f} GB free here",
        "GPU": _gpu(),
    }


def _cores() -> int:
    """Return how many cores this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def _gpu() -> str:
    """Say what torch finds to train on; the one thing for which something is imported."""
    try:
        import torch
    except ImportError:
        return f"unknown without torch: {command('train')}"
    if torch.cuda.is_available():
        names = [torch.cuda.get_device_name(k) for k in range(torch.cuda.device_count())]
        return ", ".join(names)
    if torch.backends.mps.is_available():
        return "Apple (mps)"
    return "none that torch can use; networks train on the processor"


def _lines(found: Diagnosis) -> Iterator[str]:
    width = max(map(len, found.machine))
    yield from (f"{name:<{width}}  {text}" for name, text in found.machine.items())
    yield ""
    yield f"core: {_listed(found.core)}"
    if not found.is_sound:
        yield "  the core is not whole: pip install --force-reinstall multirater"
    width = max(len(each.extra) for each in found.extras)
    for each in found.extras:
        yield f"{each.extra:<{width}}  {_listed(each.versions)}"
        if each.missing:
            yield f"{'':<{width}}  missing for {each.users}: {command(each.extra)}"


def _listed(versions: dict[str, str | None]) -> str:
    return ", ".join(f"{name} {each or '-'}" for name, each in versions.items())
