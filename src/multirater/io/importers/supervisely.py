"""Supervisely's JSON, `<rater>/.../ann/<image file>.json`: polygons, rectangles and bitmaps.

Every image of a project has a file, so that one without objects may be empty or not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.drawings.outlines import box
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

_WHAT = "an annotation file of Supervisely, with size and objects"
_AREAS = ("polygon", "rectangle", "bitmap")
_OTHERS = ("meta", "obj_class_to_machine_color", "key_id_map")
"""Files of a project that are no annotations."""


def read_export(sources: Sequence[Path], classes: Sequence[str] = ()) -> Export:
    """Read a project per rater, in a folder that is named after them."""
    faults: list[Fault] = []
    read: list[tuple[str, str, Path, Record]] = []
    for rater, files in rater_files(sources, [".json"], is_deep=True).items():
        for name, file in files.items():
            if name in _OTHERS:
                continue
            with collecting(faults, case=name, rater=rater, file=file):
                content = read_json(file, _WHAT)
                records(content, "objects", _WHAT)
                read.append((rater, name, file, content))
    if faults:
        raise InputError(faults)
    objects = [each for *_, content in read for each in content["objects"]]
    areas = [each for each in objects if each.get("geometryType") in _AREAS]
    named = [str(each["classTitle"]) for each in areas if each.get("classTitle") is not None]
    found = named_classes(named, classes)
    known = {name: index for index, name in enumerate(found.names)}
    tasks = []
    for rater, name, file, content in read:
        with collecting(faults, case=name, rater=rater, file=file):
            tasks.append(_task(rater, name, content, known))
    n_other = len(objects) - len(areas)
    notes = (f"{counted(n_other, 'line or point', 'lines and points')} passed by: no area",)
    told = notes if n_other else ()
    return Export(found, tuple(tasks), notes=told, faults=tuple(faults))


def _task(rater: str, name: str, content: Record, known: Mapping[str, int]) -> Task:
    layers = []
    for each in content["objects"]:
        where = f"object {each.get('id', '?')}"
        if each.get("geometryType") in _AREAS:
            index = index_of(name_in(each.get("classTitle"), where), known, where)
            layers.append(Thing(where, index, _mask(each, where)))
    size = content.get("size") or {}
    width, height = size.get("width"), size.get("height")
    stated = None
    if isinstance(width, int) and isinstance(height, int):
        stated = (float(width), float(height))
    work = {rater: Work(f"{name}.json", partial(paint, layers))} if layers else {}
    return Task(
        f"{name}.json",
        name,
        size=stated,
        work=work,
        blank=frozenset() if layers else frozenset({rater}),
    )


def _mask(told: Record, where: str) -> Mask:
    if told["geometryType"] == "bitmap":
        bitmap = told.get("bitmap") or {}
        left, top = (int(each) for each in bitmap.get("origin", (0, 0)))
        data = bitmap.get("data")
        return lambda space: pasted(stored_mask(data, space, is_packed=True), left, top, space)
    points = told.get("points") or {}
    outline = as_ring(points.get("exterior"), where)
    if told["geometryType"] == "rectangle":
        (left, top), (right, bottom) = outline.min(0).tolist(), outline.max(0).tolist()
        outline = box(left, top, right, bottom)
    holes = tuple(as_ring(ring, where) for ring in points.get("interior") or ())
    return shape_mask(Shape("", "polygon", (outline, *holes)))
