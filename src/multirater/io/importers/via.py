"""VGG Image Annotator's JSON: polygons, rectangles, circles and ellipses; one file per rater.

Projects and annotations alike. VIA cannot tell an image on which there is nothing from one that
nobody has looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from multirater.errors import Fault, InputError
from multirater.io.drawings.outlines import box, ellipse, turned
from multirater.io.drawings.shapes import Ring, Shape, as_ring
from multirater.io.importers.collecting import collecting
from multirater.io.importers.json_files import Record, read_json
from multirater.io.importers.painting import Thing, index_of, named_classes, paint, shape_mask
from multirater.io.importers.rater_names import same_names
from multirater.io.importers.work import Export, Task, Work
from multirater.words import counted

_WHAT = "annotations of VIA 2 as JSON, or its project"
_NAMES = ("class", "label", "type", "name")


def read_export(sources: Sequence[Path], classes: Sequence[str] = ()) -> Export:
    """Read one file per rater, who is named after it."""
    faults = [*same_names({path: path.stem for path in sources})]
    read: dict[str, Mapping[str, Record]] = {}
    for path in sources:
        with collecting(faults, file=path):
            read[path.stem] = _images(path)
    if faults:
        raise InputError(faults)
    regions = [
        each for images in read.values() for image in images.values() for each in _regions(image)
    ]
    areas = [region for region in regions if _kind(region) in _RINGS]
    named: list[str] = []
    for rater, images in read.items():
        for key, image in images.items():
            with collecting(faults, case=f"{image.get('filename')} ({key})", rater=rater):
                named += [_label(each) for each in _regions(image) if _kind(each) in _RINGS]
    if faults:
        raise InputError(faults)
    found = named_classes(named, classes)
    known = {name: index for index, name in enumerate(found.names)}
    tasks = []
    for rater, images in read.items():
        for key, image in images.items():
            with collecting(faults, case=f"{image.get('filename')} ({key})", rater=rater):
                tasks.append(_task(rater, key, image, known))
    n_other = len(regions) - len(areas)
    notes = (f"{counted(n_other, 'line or point', 'lines and points')} passed by: no area",)
    told = notes if n_other else ()
    return Export(found, tuple(tasks), notes=told, faults=tuple(faults))


def _images(path: Path) -> Mapping[str, Record]:
    content = read_json(path, _WHAT)
    if isinstance(content, Mapping):
        content = content.get("_via_img_metadata", content)
    told = isinstance(content, Mapping) and content.values()
    if not told or not all(isinstance(e, Mapping) and "filename" in e for e in told):
        raise InputError(Fault("is no file of VIA", expected=_WHAT, fix="export again"))
    return {str(key): image for key, image in content.items()}


def _regions(image: Record) -> list[Record]:
    """Return the regions, which version 1 keeps by number and version 2 in a list."""
    found = image.get("regions") or []
    listed = list(found.values()) if isinstance(found, Mapping) else found
    return [each for each in listed if isinstance(each, Mapping)]


def _kind(region: Record) -> str:
    return str((region.get("shape_attributes") or {}).get("name"))


def _label(region: Record) -> str:
    told = region.get("region_attributes") or {}
    given = {name: value for name, value in told.items() if value}
    preferred = next((name for name in _NAMES if name in given), "")
    if len(given) > 1 and not preferred:
        raise InputError(
            Fault(
                f"a region has the attributes {', '.join(map(str, given))}",
                expected=f"its class in one called {', '.join(_NAMES)}, or one alone",
                fix="rename the attribute that is the class",
            )
        )
    found = given[preferred] if preferred else next(iter(given.values()), "region")
    if not isinstance(found, Mapping):
        return str(found)
    ticked = [str(name) for name, is_on in found.items() if is_on]  # of a tick box
    if len(ticked) > 1:
        raise InputError(
            Fault(
                f"a region has {len(ticked)} labels: {', '.join(ticked)}",
                expected="one class per region",
                fix="keep one of them",
            )
        )
    return next(iter(ticked), "region")


def _task(rater: str, key: str, image: Record, known: Mapping[str, int]) -> Task:
    layers = []
    for number, region in enumerate(_regions(image), 1):
        where = f"region {number}"
        if _kind(region) in _RINGS:
            index = index_of(_label(region), known, where)
            try:
                with np.errstate(all="ignore"):  # numbers too large are refused as a ring
                    ring = as_ring(_RINGS[_kind(region)](region["shape_attributes"]), where)
            except (KeyError, TypeError, ValueError):
                raise InputError(Fault(f"{where} lacks a position", fix="export again")) from None
            layers.append(Thing(where, index, shape_mask(Shape("", "polygon", (ring,)))))
    work = {rater: Work(key, partial(paint, layers))} if layers else {}
    blank = frozenset() if layers else frozenset({rater})
    return Task(key, str(image["filename"]), work=work, blank=blank)


def _polygon(told: Mapping[str, Any]) -> Ring:
    return np.array([told["all_points_x"], told["all_points_y"]], dtype=np.float64).T


def _rectangle(told: Mapping[str, Any]) -> Ring:
    x, y, width, height = (float(told[key]) for key in ("x", "y", "width", "height"))
    return box(x, y, x + width, y + height)


def _circle(told: Mapping[str, Any]) -> Ring:
    return ellipse(float(told["cx"]), float(told["cy"]), float(told["r"]), float(told["r"]))


def _ellipse(told: Mapping[str, Any]) -> Ring:
    x, y, across, down = (float(told[key]) for key in ("cx", "cy", "rx", "ry"))
    return turned(ellipse(x, y, across, down), float(np.rad2deg(float(told.get("theta", 0)))))


_RINGS = {"polygon": _polygon, "rect": _rectangle, "circle": _circle, "ellipse": _ellipse}
