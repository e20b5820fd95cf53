"""Faults of an export are collected, so that a user mends all of them at once.

The files of tools are edited by hand and by scripts: a field may be of any kind, or not there.
Code that reads them says what it expects where it can; what it stumbles over is a fault as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.formats.guard import reason

_OF_FIELDS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_STUMBLES = (*_OF_FIELDS, OSError, RecursionError)
"""What code raises that meets a field of another kind than it should be, or a name of a file that
cannot be one."""


@contextmanager
def understood(file: str | Path = "") -> Iterator[None]:
    """Turn what code stumbles over into an `InputError`.

    Example:
        >>> with understood("anna.json"):
        ...     {}["id"]
        Traceback (most recent call last):
        multirater.errors.InputError: file anna.json: cannot be understood: 'id' is missing
          expected: fields as the tool writes them
          to do: export again, or mend the field
    """
    try:
        yield
    except _STUMBLES as error:
        is_missing = type(error) is KeyError and error.args
        told = f"{error.args[0]!r} is missing" if is_missing else reason(error)
        raise InputError(
            Fault(
                f"cannot be understood: {told}",
                expected="fields as the tool writes them",
                fix="export again, or mend the field",
                file=str(file),
            )
        ) from error


@contextmanager
def collecting(
    faults: list[Fault],
    *,
    file: str | Path | None = None,
    case: str | None = None,
    rater: str | None = None,
    thing: str = "",
) -> Iterator[None]:
    """Add what is wrong inside to the faults, and go on after it.

    Args:
        faults: gets them.
        file: in which they are.
        case: of which they are.
        rater: whose they are.
        thing: the tool's own number of what is read, said before each.

    Example:
        >>> faults = []
        >>> with collecting(faults, case="p07", thing="annotation 3"):
        ...     float("wide")
        >>> print(faults[0].headline)
        case p07: annotation 3: cannot be understood: could not convert string to float: 'wide'
    """
    try:
        with understood():
            yield
    except InputError as error:
        found = error.at(file=file, case=case, rater=rater).faults
        faults += [replace(f, found=f"{thing}: {f.found}") if thing else f for f in found]
