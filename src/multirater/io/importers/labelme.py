"""labelme's JSON, `<rater>/<image>.json`: polygons, rectangles, turned or not, circles, masks.

A file without shapes found nothing; no file is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path, PurePosixPath

import numpy as np

from multirater.errors import Fault, InputError
from multirater.io.drawings.outlines import box, ellipse
from multirater.io.drawings.shapes import Shape, as_ring
from multirater.io.importers.collecting import collecting
from multirater.io.importers.json_files import Record, name_in, read_json, records
from multirater.io.importers.painting import (
    Mask,
    Thing,
    index_of,
    named_classes,
    paint,
    pasted,
    shape_mask,
)
from multirater.io.importers.rater_folders import rater_files
from multirater.io.importers.stored_png import stored_mask
from multirater.io.importers.work import Export, Task, Work
from multirater.words import counted

_WHAT = "a file of labelme, with imagePath, imageHeight, imageWidth and shapes"
_AREAS = ("polygon", "rectangle", "oriented_rectangle", "circle", "mask")


def read_export(sources: Sequence[Path], classes: Sequence[str] = ()) -> Export:
    """Read a folder of labelme files per rater."""
    faults: list[Fault] = []
    read: list[tuple[str, Path, Record]] = []
    for rater, files in rater_files(sources, [".json"]).items():
        for name, file in files.items():
            with collecting(faults, case=name, rater=rater, file=file):
                content = read_json(file, _WHAT)
                records(content, "shapes", _WHAT)
                read.append((rater, file, content))
    if faults:
        raise InputError(faults)
    shapes = [shape for _, _, content in read for shape in content["shapes"]]
    areas = [shape for shape in shapes if shape.get("shape_type", "polygon") in _AREAS]
    found = named_classes(_labels(areas), classes)
    known = {name: index for index, name in enumerate(found.names)}
    tasks = []
    for rater, file, content in read:
        with collecting(faults, case=str(content.get("imagePath")), rater=rater, file=file):
            tasks.append(_task(rater, file, content, known))
    others = (str(shape.get("shape_type", "polygon")) for shape in shapes)
    passed_by = Counter(kind for kind in others if kind not in _AREAS)
    notes = tuple(f"{counted(n, kind)} passed by: no area" for kind, n in passed_by.items())
    return Export(found, tuple(tasks), notes=notes, faults=tuple(faults))


def _labels(areas: Sequence[Record]) -> list[str]:
    """Return the names of classes; shapes without are faults of their files."""
    return [str(each["label"]) for each in areas if each.get("label") is not None]


def _task(rater: str, file: Path, content: Record, known: dict[str, int]) -> Task:
    layers = []
    for number, shape in enumerate(content["shapes"], 1):
        where = f"shape {number}"
        if shape.get("shape_type", "polygon") in _AREAS:
            index = index_of(name_in(shape.get("label"), where), known, where)
            layers.append(Thing(where, index, _mask(shape, where)))
    width, height = content.get("imageWidth"), content.get("imageHeight")
    stated = None
    if isinstance(width, int) and isinstance(height, int):
        stated = (float(width), float(height))
    name = PurePosixPath(str(content.get("imagePath", "")).replace("\\", "/")).name
    return Task(
        file.name,
        name,
        size=stated,
        work={rater: Work(file.name, partial(paint, layers))},
    )


def _mask(shape: Record, where: str) -> Mask:
    points = as_ring(shape.get("points"), where)
    kind = shape.get("shape_type", "polygon")
    if kind == "mask":
        left, top = np.rint(points[0]).astype(int).tolist()
        return lambda space: pasted(stored_mask(shape.get("mask"), space), left, top, space)
    if kind == "rectangle" and len(points) == 2:
        (left, top), (right, bottom) = points.min(0), points.max(0)
        points = box(left, top, right, bottom)
    elif kind == "circle":
        if len(points) != 2:
            raise InputError(Fault(f"{where} is a circle of {len(points)} points", expected="two"))
        radius = float(np.hypot(*(points[1] - points[0])))
        points = ellipse(float(points[0, 0]), float(points[0, 1]), radius, radius)
    return shape_mask(Shape("", "polygon", (points,)))
