"""Drawings in an export *CVAT for images 1.1*: polygons, polylines, boxes and points.

One file holds many images: the image is found by its file name.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from multirater.errors import Fault, InputError
from multirater.io.shapes import Shape, as_ring

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_NO_SHAPES = ("tag",)
_FORMS = ("polygon", "polyline", "box", "points")


def cvat_shapes(path: Path, image_name: str) -> list[Shape]:
    """Return what was drawn on an image.

    Args:
        path: `annotations.xml`.
        image_name: file name of the image.
    """
    from xml.etree import ElementTree

    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        raise InputError(Fault(f"is damaged: {error}", fix="export again")) from None
    images = root.findall("image")
    found = [each for each in images if PurePosixPath(each.get("name", "")).name == image_name]
    if len(found) != 1:
        raise InputError(
            Fault(
                f"{len(found)} images called {image_name}",
                expected=f"one of its {len(images)} images to be called so",
                fix="export the format `CVAT for images 1.1`, or remove the row",
            )
        )
    in_order = sorted(found[0], key=lambda each: int(each.get("z_order", "0")))
    return [_shape(each) for each in in_order if each.tag not in _NO_SHAPES]


def _shape(element: Element) -> Shape:
    label, where = element.get("label", ""), f"{element.tag} of {element.get('label')}"
    if element.tag not in _FORMS:
        raise InputError(
            Fault(
                f"a {where}",
                expected=", ".join(_FORMS),
                fix="export masks as PNG and give those as label files",
            )
        )
    if element.tag == "box":
        left, top, right, bottom = (element.get(key) for key in ("xtl", "ytl", "xbr", "ybr"))
        corners = [[left, top], [right, top], [right, bottom], [left, bottom]]
        return Shape(label, "polygon", (as_ring(corners, where),))
    points = [pair.split(",") for pair in element.get("points", "").split(";")]
    return Shape(
        label, "polygon" if element.tag == "polygon" else "line", (as_ring(points, where),)
    )
