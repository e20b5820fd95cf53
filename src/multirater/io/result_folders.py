"""The folders results are written into: what lies where, and how it is read and written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from multirater.errors import Fault, InputError
from multirater.io.atomic import replacing
from multirater.trust import Trust, trust_from_json

TRUST = "trust.json"


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write an object as JSON, in one move."""
    with replacing(path, overwrite=True) as temporary:
        temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """Read an object from JSON.

    Raises:
        InputError: the file holds something else.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(Fault(f"is no JSON: {error}", file=str(path))) from None
    if not isinstance(content, dict):
        raise InputError(Fault("is no JSON object", file=str(path)))
    return content


def write_trust(folder: Path, trust: Trust) -> None:
    """Write the trust statement of a run."""
    write_json(folder / TRUST, asdict(trust))


def read_trust(folder: Path) -> Trust | None:
    """Read the trust statement of a run; None where it has none."""
    path = folder / TRUST
    return trust_from_json(read_json(path)) if path.is_file() else None
