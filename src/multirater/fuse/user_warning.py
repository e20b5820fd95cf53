"""Warnings that point at the user's own line, however deep in the package they arise."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

from multirater.errors import MultiraterWarning


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
