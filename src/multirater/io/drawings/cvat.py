"""Drawings in an export *CVAT for images 1.1*: polygons, polylines, boxes, ellipses and points.

One file holds many images: the image is found by its file name, and by its folders where several
have that name. Boxes and ellipses may be turned: CVAT counts degrees clockwise, about the centre.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING

from multirater.errors import Fault, InputError
from multirater.io.drawings.export_images import closest, require_size, the_one
from multirater.io.drawings.outlines import box, ellipse, turned
from multirater.io.drawings.shapes import FAR, Shape, as_ring

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_NO_SHAPES = ("tag",)
_OUTLINES = {
    "box": (box, ("xtl", "ytl", "xbr", "ybr")),
    "ellipse": (ellipse, ("cx", "cy", "rx", "ry")),
}
_POINTS = ("polygon", "polyline", "points")


def cvat_shapes(path: Path, image: str, space: tuple[int, ...]) -> list[Shape]:
    """Return what was drawn on an image, from the bottom to the top.

    Args:
        path: `annotations.xml`.
        image: path of the image, or its file name alone.
        space: (height, width) of the image, which has to be that in the export.
    """
    found = _image(path, image)
    if "width" in found.attrib and "height" in found.attrib:
        width, height = (number_of(found, key, f"image {image}") for key in ("width", "height"))
        require_size((width, height), space)
    drawn = [(_where(each), each) for each in found if each.tag not in _NO_SHAPES]
    drawn.sort(key=lambda pair: number_of(pair[1], "z_order", pair[0], "0"))
    return [shape for where, each in drawn for shape in element_shapes(each, where)]


def _image(path: Path, image: str) -> Element:
    from xml.etree import ElementTree

    try:
        root = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise InputError(Fault(f"is damaged: {error}", fix="export again")) from None
    images = root.findall("image")
    found = closest(((each, [each.get("name", "")]) for each in images), image)
    absent = "export the format `CVAT for images 1.1`, or remove the row"
    return the_one(found, image, what="image", n=len(images), tool="CVAT", absent=absent)


def _where(element: Element) -> str:
    return f"{element.tag} of {element.get('label')}"


def element_shapes(element: Element, where: str) -> Iterator[Shape]:
    """Yield what an element draws: a polygon, box, ellipse, line, or points."""
    label = element.get("label", "")
    if element.tag in _OUTLINES:
        outline, keys = _OUTLINES[element.tag]
        ring = outline(*(number_of(element, key, where) for key in keys))
        ring = turned(ring, number_of(element, "rotation", where, "0"))
        yield Shape(label, "polygon", (as_ring(ring, where),))
    elif element.tag in _POINTS:
        ring = as_ring([pair.split(",") for pair in element.get("points", "").split(";")], where)
        if element.tag == "points":
            yield from (Shape(label, "line", (ring[i : i + 1],)) for i in range(len(ring)))
        else:
            yield Shape(label, "polygon" if element.tag == "polygon" else "line", (ring,))
    else:
        raise InputError(
            Fault(
                f"a {where}",
                expected=", ".join([*_POINTS, *_OUTLINES]),
                fix="export masks as PNG and give those as label files"
                if element.tag == "mask"
                else "draw a polygon instead, or remove it",
            )
        )


def number_of(element: Element, key: str, where: str, default: str | None = None) -> float:
    """Return the number that an attribute holds."""
    text = element.get(key, default)
    if text is None:
        raise InputError(Fault(f"{where} has no {key}", fix="export again"))
    try:
        number = float(text)
    except ValueError:
        number = nan
    if abs(number) < FAR:
        return number
    raise InputError(Fault(f"{where} has {key} {text!r}", expected="a number", fix="export again"))
