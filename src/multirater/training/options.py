"""Options of single methods: `TrainConfig.options`, and `--set name=value` on the command line.

A method that has options declares them as a frozen dataclass of plain fields: whole numbers,
numbers, `bool`, `str` or a `Literal` of words. What a user gives is checked against it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from multirater.errors import Fault, InputError
from multirater.words import listed

Options = TypeVar("Options")


@dataclass(frozen=True)
class NoOptions:
    """Of a method that has none."""


def given_options(pairs: Sequence[str]) -> dict[str, str]:
    """Read `name=value` pairs.

    Example:
        >>> given_options(["recurrences=2", "integration=attention"])
        {'recurrences': '2', 'integration': 'attention'}
    """
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise InputError(Fault(f"--set {pair}", expected="a name and a value: name=value"))
        found[name.strip().replace("-", "_")] = value.strip()
    return found


def checked_options(kind: type[Options], given: Mapping[str, Any], method: str) -> Options:
    """Return a method's options with what was given, as values of the declared types.

    Args:
        kind: the dataclass that declares them.
        given: values, or words that stand for them.
        method: its name, for the message.
    """
    types = get_type_hints(kind)
    unknown = [name for name in given if name not in types]
    if unknown:
        known = [each.name for each in fields(kind)]  # type: ignore[arg-type]
        raise InputError(
            Fault(
                f"method {method} has no option {unknown[0]!r}",
                expected=f"one of {listed(known)}" if known else "none: it has no options",
            )
        )
    return kind(**{name: _value(name, value, types[name]) for name, value in given.items()})


def _value(name: str, value: Any, wanted: Any) -> Any:
    """Return a value of the declared type."""
    if get_origin(wanted) is Literal:
        if value in get_args(wanted):
            return value
        raise _wrong(name, value, f"one of {listed(list(get_args(wanted)))}")
    if wanted is bool:
        return _flag(name, value)
    if wanted is float and not math.isfinite(_number(name, value)):
        raise _wrong(name, value, "a finite number")
    try:
        # A fraction is no whole number, not one to be cut off.
        return wanted(value if not isinstance(value, float) or wanted is not int else str(value))
    except (TypeError, ValueError):
        kind = {int: "a whole number", float: "a number"}.get(wanted, "text")
        raise _wrong(name, value, kind) from None


def _number(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise _wrong(name, value, "a number") from None


def _flag(name: str, value: Any) -> bool:
    words = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if str(value).lower() not in words:
        raise _wrong(name, value, "true or false")
    return words[str(value).lower()]


def _wrong(name: str, value: Any, expected: str) -> InputError:
    return InputError(Fault(f"option {name} = {value}", expected=expected))
