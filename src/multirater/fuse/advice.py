"""Warnings that point at the user's own line, however deep in the package they arise."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import wraps
from types import FrameType
from typing import ParamSpec

from multirater.errors import MultiraterWarning
from multirater.fuse.result import UNFINISHED, FusionResult

P = ParamSpec("P")


def outspoken(method: Callable[P, FusionResult]) -> Callable[P, FusionResult]:
    """Return a fusion that also warns of what puts its label in doubt: the form users call."""

    @wraps(method)
    def speaking(*args: P.args, **options: P.kwargs) -> FusionResult:
        result = method(*args, **options)
        doubtful = any(each.level == "problem" for each in result.findings)
        for each in result.findings:
            if doubtful or each.code == UNFINISHED:
                warn_user(each.text)
        return result

    return speaking


def warn_user(message: str) -> None:
    """Warn as if the first caller outside the package had done it."""
    level = 1
    frame = sys._getframe(0)
    while frame.f_back is not None and _is_ours(frame):
        frame = frame.f_back
        level += 1
    warnings.warn(message, MultiraterWarning, stacklevel=level)


def _is_ours(frame: FrameType) -> bool:
    """Whether code of the package runs in a frame; executed text may have no module name."""
    return str(frame.f_globals.get("__name__", "")).startswith("multirater.")
