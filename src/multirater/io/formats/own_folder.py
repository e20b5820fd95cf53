"""Files that another file names as the place of its pixels: its own folder's, and no others."""

from __future__ import annotations

from pathlib import Path

from multirater.errors import Fault, InputError


def inside(header: Path, name: str) -> Path:
    """Return a file that a header names, which must lie in the header's folder or below.

    Raises:
        InputError: it lies elsewhere, also by way of a link.
    """
    file = header.parent / name
    if file.resolve().is_relative_to(header.parent.resolve()):
        return file
    raise InputError(
        Fault(
            f"takes its pixels from {name}, outside its folder",
            expected="a data file beside the header, or below",
            fix="put the data beside the header and correct the name there",
            file=str(header),
        )
    )
