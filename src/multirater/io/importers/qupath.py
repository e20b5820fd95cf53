"""QuPath's GeoJSON as masks, `<rater>/<image>.geojson`: the class of each annotation, in pixels.

Positions count from the upper left corner of the whole slide at full resolution, which has to be
the image. A file without annotations found nothing; no file is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.drawings.geojson import TYPES, geojson_shapes
from multirater.io.drawings.shapes import Shape
from multirater.io.importers.collecting import collecting
from multirater.io.importers.json_files import read_json
from multirater.io.importers.painting import Thing, index_of, named_classes, paint, shape_mask
from multirater.io.importers.rater_folders import names_with, rater_files
from multirater.io.importers.work import Export, Task, Work
from multirater.words import counted

_WHAT = "GeoJSON that QuPath exported"


def read_export(sources: Sequence[Path], classes: Sequence[str] = ()) -> Export:
    """Read a folder of GeoJSON files per rater."""
    faults: list[Fault] = []
    drawn: list[tuple[str, str, Path, list[Shape]]] = []
    for rater, files in rater_files(sources, [".geojson", ".json"]).items():
        for name, file in files.items():
            with collecting(faults, case=name, rater=rater, file=file):
                drawn.append((rater, name, file, _shapes(file)))
    if faults:
        raise InputError(faults)
    found = named_classes((s.label for *_, shapes in drawn for s in shapes), classes)
    known = {name: index for index, name in enumerate(found.names)}
    tasks = []
    for rater, name, file, shapes in drawn:
        layers = []
        for number, shape in enumerate(shapes, 1):
            with collecting(faults, case=name, rater=rater, file=file):
                index = index_of(shape.label, known, f"feature {number}")
                if shape.form == "polygon":
                    layers.append(Thing(f"feature {number}", index, shape_mask(shape)))
        work = {rater: Work(file.name, partial(paint, layers))}
        tasks.append(Task(file.name, name, names_with(name), work=work))
    n_lines = sum(shape.form == "line" for *_, shapes in drawn for shape in shapes)
    notes = (f"{counted(n_lines, 'line or point', 'lines and points')} passed by: no area",)
    told = notes if n_lines else ()
    return Export(found, tuple(tasks), notes=told, faults=tuple(faults))


def _shapes(file: Path) -> list[Shape]:
    content = read_json(file, _WHAT)
    if isinstance(content, list):  # as QuPath exports where FeatureCollection is not ticked
        content = {"type": TYPES[0], "features": content}
    if not isinstance(content, Mapping) or content.get("type") not in TYPES:
        raise InputError(Fault("is no GeoJSON", expected=_WHAT, fix="export again"))
    return geojson_shapes(content)
