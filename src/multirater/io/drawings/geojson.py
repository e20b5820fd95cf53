"""Drawings in GeoJSON, in pixels, as QuPath and many other tools export them.

The class of a feature is the first that it has of the properties `class`, `label`, QuPath's
`classification` and `name`; the width of a line its property `width`, in pixels (1 when not given).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from multirater.errors import Fault, InputError
from multirater.io.drawings.shapes import FAR, Shape, as_ring

TYPES = ("FeatureCollection", "Feature")
_NAMES = ("class", "label", "classification", "name")
"""Properties that may name the class. In QuPath `name` is that of the single annotation."""


def geojson_shapes(content: Mapping[str, Any]) -> list[Shape]:
    """Return what a GeoJSON object draws.

    Example:
        >>> line = {"type": "LineString", "coordinates": [[0, 0], [3, 3]]}
        >>> feature = {"type": "Feature", "geometry": line, "properties": {"class": "vessel"}}
        >>> geojson_shapes(feature)[0].label
        'vessel'
    """
    features = content.get("features") if content["type"] == TYPES[0] else [content]
    if not isinstance(features, list):
        raise InputError(
            Fault(f"features are {features!r:.50}", expected="a list", fix="export again")
        )
    shapes: list[Shape] = []
    faults: list[Fault] = []
    for number, each in enumerate(features, 1):
        try:
            shapes += _shapes(each, number)
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    return shapes


def _shapes(feature: Any, number: int) -> Iterator[Shape]:
    where = f"feature {number}"
    if not isinstance(feature, Mapping) or not isinstance(feature.get("geometry"), Mapping):
        raise InputError(Fault(f"{where} has no geometry", fix="mend or remove it"))
    properties = feature.get("properties") or {}
    if not isinstance(properties, Mapping):
        raise InputError(
            Fault(
                f"{where} has properties {properties!r:.50}",
                expected="names with values",
                fix="mend or remove it",
            )
        )
    label, width = _label(properties, where), _width(properties, where)
    kind, points = feature["geometry"].get("type"), feature["geometry"].get("coordinates")
    several = kind in ("MultiPolygon", "MultiLineString", "MultiPoint")
    parts = points if several and isinstance(points, list) else [points]
    for part in parts:
        if kind in ("Polygon", "MultiPolygon"):
            rings = part if isinstance(part, list) and part else [part]
            yield Shape(label, "polygon", tuple(as_ring(ring, where) for ring in rings))
        elif kind in ("LineString", "MultiLineString"):
            yield Shape(label, "line", (as_ring(part, where),), width)
        elif kind in ("Point", "MultiPoint"):
            yield Shape(label, "line", (as_ring([part], where),), width)
        else:
            raise InputError(
                Fault(
                    f"{where} is a {kind}",
                    expected="Polygon, LineString or Point, or several of one",
                )
            )


def _label(properties: Mapping[str, Any], where: str) -> str:
    classification = properties.get("classification")
    if isinstance(classification, Mapping):
        named = classification.get("names")  # of QuPath's derived classes, shown with colons
        parts = ": ".join(map(str, named)) if isinstance(named, list) and named else None
        properties = {**properties, "classification": classification.get("name", parts)}
    said = (properties.get(name) for name in _NAMES)
    found = next((each for each in said if each is not None), None)
    if not isinstance(found, str | int):
        raise InputError(
            Fault(
                f"{where} names no class",
                expected="a property `class` with the name of a class",
                fix="give every feature its class",
            )
        )
    return str(found)


def _width(properties: Mapping[str, Any], where: str) -> float:
    width = properties.get("width", 1)
    if isinstance(width, int | float) and 0 < width < FAR:
        return float(width)
    raise InputError(Fault(f"{where} has width {width!r}", expected="pixels, more than 0"))
