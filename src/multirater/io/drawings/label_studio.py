"""Drawings in a JSON export of Label Studio: polygons, rectangles, ellipses and key points.

One file holds many images: the task is found by the file name of the image, which Label Studio may
have given a prefix on upload, and by its folders where several tasks have that name. Of several
annotations of a task, the one whose annotator (number or e-mail address) is the rater counts; a
single one may also be of a rater whom the export does not know by that name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, Literal
from urllib.parse import unquote

import numpy as np

from multirater.errors import Fault, InputError
from multirater.io.drawings.export_images import closest, require_size, the_one
from multirater.io.drawings.outlines import box, ellipse
from multirater.io.drawings.shapes import Ring, Shape, as_ring
from multirater.io.formats.addresses import without_query

_NO_SHAPES = ("labels", "choices", "textarea", "rating", "taxonomy", "relation", "number")
_PREFIX = re.compile(r"(?:^|(?<=/))[0-9a-f]{8}-(?=[^/]+$)")
"""What Label Studio puts before the names of files on upload."""


def is_label_studio(content: Any) -> bool:
    """Whether this is an export in the format `JSON`."""
    return (
        isinstance(content, Sequence)
        and len(content) > 0
        and all(isinstance(task, Mapping) and "annotations" in task for task in content)
    )


def label_studio_shapes(
    tasks: Sequence[Mapping[str, Any]], image: str, rater: str, space: tuple[int, ...]
) -> list[Shape]:
    """Return what was drawn on an image.

    Args:
        tasks: the export.
        image: path of the image, or its file name alone.
        rater: who drew, in case there are several.
        space: (height, width) of the image. Positions are stated in percent, so that it may have
            another resolution than the image that was drawn on, but not other proportions.
    """
    result = _annotation(_task(tasks, image), tasks, rater).get("result") or []
    if not isinstance(result, list):
        raise InputError(Fault(f"result is {result!r:.50}", expected="a list", fix="export again"))
    drawn = (_shape(each, f"result {number}", space) for number, each in enumerate(result, 1))
    return [shape for shape in drawn if shape is not None]


def _task(tasks: Sequence[Mapping[str, Any]], image: str) -> Mapping[str, Any]:
    named = [(task, list(task_paths(task).values())) for task in tasks]
    found = closest(named, image) or closest(
        ((task, [without_prefix(path) for path in paths]) for task, paths in named), image
    )
    absent = "export the task too, or remove the row"
    return the_one(found, image, what="task", n=len(tasks), tool="Label Studio", absent=absent)


def without_prefix(path: str) -> str:
    """Return a path without what Label Studio puts before file names on upload.

    Example:
        >>> without_prefix("upload/3/0a1b2c3d-eye.png")
        'upload/3/eye.png'
    """
    return _PREFIX.sub("", path)


def task_paths(task: Mapping[str, Any]) -> dict[str, str]:
    """Return the paths and texts of a task by field; the path of a local file follows `?d=`."""
    data = task.get("data")
    found = {}
    for field, value in data.items() if isinstance(data, Mapping) else ():
        if isinstance(value, str):
            path = value.split("?d=")[-1] if "?d=" in value else without_query(value)
            found[str(field)] = unquote(path).replace("\\", "/")
    return found


def _annotation(
    task: Mapping[str, Any], tasks: Sequence[Mapping[str, Any]], rater: str
) -> Mapping[str, Any]:
    whole = [each for each in _annotations(task) if not each.get("was_cancelled")]
    kept = whole
    if len(whole) > 1 or _is_annotator(rater, tasks):
        kept = [each for each in whole if rater.lower() in _names(each)]
    if len(kept) == 1:
        return kept[0]
    raise InputError(
        Fault(
            f"{len(whole)} annotation{'' if len(whole) == 1 else 's'} of one image, "
            f"{len(kept)} of {rater}",
            expected="one annotation, or one whose annotator is the rater",
            fix="call raters by their number or e-mail address in Label Studio, or export "
            "each on their own; remove the row if the rater did not draw this image",
        )
    )


def _annotations(task: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = task.get("annotations") or []
    if isinstance(found, list) and all(isinstance(each, Mapping) for each in found):
        return found
    raise InputError(
        Fault(f"annotations are {found!r:.50}", expected="a list of them", fix="export again")
    )


def _is_annotator(rater: str, tasks: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the rater's name is one that the export would know its annotator by."""
    known = {name for task in tasks for each in _annotations(task) for name in _names(each)}
    return rater.lower() in known or ("@" in rater and any("@" in name for name in known))


def _names(annotation: Mapping[str, Any]) -> set[str]:
    """Return number and e-mail address of the annotator, as far as they are told."""
    who = annotation.get("completed_by")
    said = [who.get("id"), who.get("email")] if isinstance(who, Mapping) else [who]
    return {str(each).lower() for each in said if each is not None}


def _shape(result: Any, where: str, space: tuple[int, ...]) -> Shape | None:
    result = result if isinstance(result, Mapping) else {}
    kind, value = str(result.get("type")), result.get("value")
    if kind in _NO_SHAPES:
        return None
    labels = value.get(kind) if isinstance(value, Mapping) else None
    labels = labels if isinstance(labels, list) else []
    if kind not in _RINGS or not isinstance(value, Mapping) or not labels:
        raise InputError(
            Fault(
                f"{where} is of type {kind}" + ("" if labels else " without a label"),
                expected=f"{', '.join(_RINGS)}, each with a label",
                fix="export brush strokes as PNG and give those as label files",
            )
        )
    try:
        drawn_on = float(result["original_width"]), float(result["original_height"])
        ring = as_ring(_RINGS[kind](value), where)
        width = float(value.get("width") or 0)
    except (KeyError, TypeError, ValueError):
        drawn_on = (0.0, 0.0)
    if not 0 < min(drawn_on) <= max(drawn_on) < inf:
        raise InputError(Fault(f"{where} lacks a size or a position", fix="export again"))
    require_size(drawn_on, space, may_scale=True)
    percent = np.array(space[:-3:-1]) / 100  # of width and height
    form: Literal["polygon", "line"] = "line" if kind == "keypointlabels" else "polygon"
    return Shape(str(labels[0]), form, (ring * percent,), max(width * percent[0], 1.0))


def _polygon(value: Mapping[str, Any]) -> Any:
    return value["points"]


def _point(value: Mapping[str, Any]) -> Any:
    return [[value["x"], value["y"]]]


def _rectangle(value: Mapping[str, Any]) -> Ring:
    _require_upright(value)
    x, y, width, height = (float(value[key]) for key in ("x", "y", "width", "height"))
    return box(x, y, x + width, y + height)


def _ellipse(value: Mapping[str, Any]) -> Ring:
    _require_upright(value)
    x, y, radius_x, radius_y = (float(value[key]) for key in ("x", "y", "radiusX", "radiusY"))
    return ellipse(x, y, radius_x, radius_y)


def _require_upright(value: Mapping[str, Any]) -> None:
    if value.get("rotation"):
        raise InputError(
            Fault(f"a shape turned by {value['rotation']} degrees", fix="draw a polygon instead")
        )


_RINGS = {
    "polygonlabels": _polygon,
    "rectanglelabels": _rectangle,
    "ellipselabels": _ellipse,
    "keypointlabels": _point,
}
