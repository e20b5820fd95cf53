"""The form of fusions that users call: it also warns of what puts the label in doubt."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from multirater.fuse.result import UNFINISHED, FusionResult
from multirater.fuse.user_warning import warn_user

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
