"""From a data set, such as a fusion, to the files of a tool."""

from __future__ import annotations

from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.atomic import replacing
from multirater.io.case_files import folders_of
from multirater.io.exporters.outcome import Outcome
from multirater.io.new_folder import new_folder
from multirater.io.results.unread import require_unread, require_unread_cases
from multirater.progress import say
from multirater.tools import EXPORTS, exporter
from multirater.types import Dataset


def export_dataset(
    dataset: Dataset, tool: str, target: str | Path, *, overwrite: bool = False
) -> Path:
    """Write labels so that a tool can read them; the target appears whole or not at all.

    Args:
        dataset: a fusion, predictions, or a study with its raters.
        tool: by name, such as `coco`.
        target: file to write, or the folder for tools that read folders.
        overwrite: replace a file that is there; folders are never replaced.

    Returns:
        What was written.

    Raises:
        InputError: the tool's files cannot hold these labels, or the target exists.

    Example:
        >>> export_dataset(multirater.read_dataset("fused"), "coco",
        ...                "fused.json")  # doctest: +SKIP
        PosixPath('fused.json')
    """
    module = exporter(tool)
    outcome = Outcome.of(dataset)
    place = Path(target)
    if EXPORTS[tool] == "folder":
        if overwrite and place.exists():
            raise InputError(
                Fault("folders are not replaced", fix="choose another folder", file=str(place))
            )
        with new_folder(place, inputs=folders_of(dataset)) as temporary:
            module.write_export(outcome, temporary)
    else:
        require_unread(place, [] if dataset.folder is None else [dataset.folder])
        require_unread_cases(place, dataset)
        with replacing(place, overwrite=overwrite) as temporary:
            module.write_export(outcome, temporary)
    for note in outcome.notes:
        say(f"note: {note}")
    return place
