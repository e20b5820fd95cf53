"""Where results came from: `origin.json` beside a fusion, a run or predictions.

Paths are relative to the folder, so that data and results can be moved together.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.atomic import replacing

FILE_NAME = "origin.json"


def write_origin(folder: Path, data: Path | None, *, run: Path | None = None) -> None:
    """Note the data set, and the run, that a folder of results was made from.

    A data set that only exists in memory has no place to note.

    Args:
        folder: of the results.
        data: folder or table they were made from, if any.
        run: folder of the trained network that made them, if one did.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> write_origin(folder / "fused", folder / "study")
        >>> read_origin(folder / "fused")["data"].name
        'study'
    """
    places = {"data": data, "run": run}
    known = {name: _relative(path, folder) for name, path in places.items() if path is not None}
    if known:
        with replacing(folder / FILE_NAME, overwrite=True) as temporary:
            temporary.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")


def read_origin(folder: Path) -> dict[str, Path]:
    """Read where results came from: `data`, `run`, both or neither."""
    file = folder / FILE_NAME
    if not file.is_file():
        return {}
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
        return {str(name): folder / str(place) for name, place in stored.items()}
    except (ValueError, AttributeError, RecursionError):
        raise InputError(
            Fault("cannot be read", expected='JSON such as {"data": "../study"}', file=str(file))
        ) from None


def _relative(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
