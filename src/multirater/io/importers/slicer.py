"""3D Slicer's segmentations, `<rater>/<image>.seg.nrrd`: segments by name, overlapping or not.

Later segments lie above earlier ones. A file without voxels found nothing; no file is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from multirater.errors import Fault, InputError
from multirater.io.formats.labels import Grid
from multirater.io.importers.collecting import collecting
from multirater.io.importers.painting import index_of
from multirater.io.importers.rater_folders import names_with, rater_files
from multirater.io.importers.work import Export, Task, Work
from multirater.io.segmentations import ENDING, Segment, read_segments, segment_masks
from multirater.types import Classes, LabelClass, LabelMap


def read_export(sources: Sequence[Path], classes: Sequence[str] = ()) -> Export:
    """Read a folder of segmentations per rater."""
    faults: list[Fault] = []
    segments: dict[Path, list[Segment]] = {}
    files = rater_files(sources, [ENDING])
    for rater, its in files.items():
        for file in its.values():
            with collecting(faults, rater=rater, file=file):
                segments[file] = read_segments(file)
    if faults:
        raise InputError(faults)
    colours = {each.name: each.colour for several in segments.values() for each in several}
    names = list(classes) or list(colours)
    found = Classes(
        (
            LabelClass("background"),
            *(LabelClass(name, _once(colours, name)) for name in names),
        )
    )
    known = {name: index for index, name in enumerate(found.names)}
    tasks = []
    for rater, its in files.items():
        for name, file in its.items():
            try:
                indices = [index_of(each.name, known, "a segment") for each in segments[file]]
            except InputError as error:
                faults += error.at(case=name, rater=rater, file=file).faults
                continue
            work = {rater: Work(file.name, partial(_paint, file, segments[file], indices))}
            tasks.append(Task(file.name, names_with(name)[0], names_with(name)[1:], work=work))
    return Export(found, tuple(tasks), faults=tuple(faults))


def _once(colours: dict[str, str], name: str) -> str:
    """Return the colour of a class, unless another has the same: colours must be distinct."""
    colour = colours.get(name, "")
    return colour if list(colours.values()).count(colour) == 1 else ""


def _paint(file: Path, segments: Sequence[Segment], indices: Sequence[int], grid: Grid) -> LabelMap:
    label = np.zeros(grid[0], dtype=np.int16)
    for mask, index in zip(segment_masks(file, segments, grid), indices, strict=True):
        label[mask] = index
    return LabelMap(label, grid[1])
