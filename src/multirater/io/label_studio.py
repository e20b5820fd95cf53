"""Drawings in a JSON export of Label Studio: polygons, rectangles, ellipses and key points.

One file holds many images: the task is found by the file name of the image, which Label Studio may
have given a prefix on upload. Of several annotations of a task, the one whose annotator (number or
e-mail address) is the rater counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Literal
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.shapes import Ring, Shape, as_ring

_NO_SHAPES = ("labels", "choices", "textarea", "rating", "taxonomy", "relation", "number")
_HASH = 8
"""Length of the prefix that Label Studio gives files on upload, before a hyphen."""


def is_label_studio(content: Any) -> bool:
    """Whether this is an export in the format `JSON`."""
    return (
        isinstance(content, Sequence)
        and len(content) > 0
        and all(isinstance(task, Mapping) and "annotations" in task for task in content)
    )


def label_studio_shapes(
    tasks: Sequence[Mapping[str, Any]], image_name: str, rater: str
) -> list[Shape]:
    """Return what was drawn on an image.

    Args:
        tasks: the export.
        image_name: file name of the image.
        rater: who drew, in case there are several.
    """
    task = next((each for each in tasks if _is_of(each, image_name)), None)
    if task is None:
        raise InputError(
            Fault(
                f"no task of the image {image_name}",
                expected=f"one of its {len(tasks)} tasks to be of this image",
                fix="export the task too, or remove the row",
            )
        )
    results = _annotation(task, rater).get("result") or []
    return [shape for number, each in enumerate(results, 1) if (shape := _shape(each, number))]


def _is_of(task: Mapping[str, Any], image_name: str) -> bool:
    data = task.get("data")
    for value in data.values() if isinstance(data, Mapping) else ():
        if not isinstance(value, str):
            continue
        name = PurePosixPath(unquote(value).split("?d=")[-1]).name
        if image_name == name or (len(name) > _HASH and image_name == name[_HASH + 1 :]):
            return True
    return False


def _annotation(task: Mapping[str, Any], rater: str) -> Mapping[str, Any]:
    kept = [each for each in task["annotations"] if not each.get("was_cancelled")]
    if len(kept) > 1:
        kept = [each for each in kept if rater in _names(each.get("completed_by"))]
    if len(kept) != 1:
        raise InputError(
            Fault(
                f"{len(task['annotations'])} annotations of one image, {len(kept)} of {rater}",
                expected="one annotation, or one whose annotator is the rater",
                fix="call raters by their number or e-mail address in Label Studio, or export "
                "each on their own",
            )
        )
    found: Mapping[str, Any] = kept[0]
    return found


def _names(annotator: Any) -> set[str]:
    if isinstance(annotator, Mapping):
        return {str(annotator[key]) for key in ("id", "email") if key in annotator}
    return {str(annotator)}


def _shape(result: Mapping[str, Any], number: int) -> Shape | None:
    where, kind, value = f"result {number}", str(result.get("type")), result.get("value")
    if kind in _NO_SHAPES:
        return None
    labels = value.get(kind) if isinstance(value, Mapping) else None
    if kind not in _RINGS or not isinstance(value, Mapping) or not labels:
        raise InputError(
            Fault(
                f"{where} is of type {kind}" + ("" if labels else " without a label"),
                expected=f"{', '.join(_RINGS)}, each with a label",
                fix="export brush strokes as PNG and give those as label files",
            )
        )
    try:
        size = np.array([result["original_width"], result["original_height"]], dtype=float) / 100
        ring = _RINGS[kind](value)
    except (KeyError, TypeError, ValueError):
        raise InputError(Fault(f"{where} lacks a size or a position", fix="export again")) from None
    form: Literal["polygon", "line"] = "line" if kind == "keypointlabels" else "polygon"
    width = float(value.get("width", 0)) * size[0] if form == "line" else 1.0
    return Shape(str(labels[0]), form, (as_ring(ring, where) * size,), max(width, 1.0))


def _polygon(value: Mapping[str, Any]) -> Any:
    return value["points"]


def _point(value: Mapping[str, Any]) -> Any:
    return [[value["x"], value["y"]]]


def _rectangle(value: Mapping[str, Any]) -> Any:
    _require_upright(value)
    x, y, width, height = (float(value[key]) for key in ("x", "y", "width", "height"))
    return [[x, y], [x + width, y], [x + width, y + height], [x, y + height]]


def _ellipse(value: Mapping[str, Any]) -> Ring:
    _require_upright(value)
    angle: NDArray[np.float64] = np.linspace(0, 2 * np.pi, 72, endpoint=False)
    return np.stack(
        [
            float(value["x"]) + float(value["radiusX"]) * np.cos(angle),
            float(value["y"]) + float(value["radiusY"]) * np.sin(angle),
        ],
        axis=1,
    )


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
