"""JSON as tools export it: read whole, or said to be cut off; fields of the kind they should be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from multirater.errors import Fault, InputError

Record = Mapping[str, Any]


def read_json(path: Path, what: str) -> Any:
    """Read a JSON file.

    Args:
        path: the file.
        what: it should be, in words.

    Raises:
        InputError: it is cut off, or no JSON.
    """
    try:
        return parsed(path.read_text(encoding="utf-8-sig"))
    except (ValueError, OSError, RecursionError) as error:
        raise InputError(
            Fault(
                f"cannot be read as JSON: {error}",
                expected=f"{what}, whole",
                fix="export again",
                file=str(path),
            )
        ) from None


def parsed(text: str) -> Any:
    """Return what JSON says; NaN and infinities, which are not JSON, are nothing.

    Example:
        >>> parsed('{"label": NaN, "x": -Infinity}')
        {'label': None, 'x': None}
    """
    return json.loads(text, parse_constant=lambda _: None)


def name_in(value: Any, where: str) -> str:
    """Return a name as text: a text that is not empty, or a number.

    Raises:
        InputError: it is nothing, or something that names nothing.
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number or (isinstance(value, str) and value.strip()):
        return str(value)
    raise InputError(
        Fault(
            f"{where} is of class {value!r:.40}",
            expected="the name of a class",
            fix="name its class, or remove it",
        )
    )


def records(content: Any, key: str, what: str) -> list[Record]:
    """Return the list of objects that a JSON object holds under a key."""
    found = content.get(key) if isinstance(content, Mapping) else None
    if isinstance(found, list) and all(isinstance(each, Mapping) for each in found):
        return found
    told = "no" if found is None else "something else as"
    raise InputError(
        Fault(f"has {told} list {key!r}", expected=what, fix="export again in this format")
    )
