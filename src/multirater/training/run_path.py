"""Whether a path is that of a run: asked before torch is imported, which takes seconds."""

from __future__ import annotations

from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.folders import is_folder_layout
from multirater.io.results.layout import CONFIG
from multirater.io.tables.manifest import FILE_NAME as MANIFEST


def require_run(folder: Path) -> None:
    """Refuse a path without a run, and say what is there instead."""
    if (folder / CONFIG).is_file():
        return
    expected = f"a folder that `multirater train` made, with {CONFIG}"
    if not folder.exists():
        fault = Fault("does not exist", fix="check the path")
    elif folder.is_file() or (folder / MANIFEST).is_file() or is_folder_layout(folder):
        what = "a file" if folder.is_file() else "a data set"
        fix = "name a run: multirater predict RUN DATA, or multirater train DATA --resume RUN"
        fault = Fault(f"is {what}, not a run", expected=expected, fix=fix)
    else:
        fix = "name the folder that was given to `multirater train -o`"
        fault = Fault(f"is a folder without {CONFIG}, not a run", expected=expected, fix=fix)
    raise InputError(fault.at(file=folder))
