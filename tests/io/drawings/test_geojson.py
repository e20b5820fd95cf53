"""GeoJSON: which class a feature has, and what its geometry draws."""

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io.drawings.geojson import geojson_shapes
from multirater.io.drawings.shapes import rasterise

DOT = {"type": "Point", "coordinates": [1.5, 0.5]}


def feature(geometry=DOT, properties=None):
    return {"type": "Feature", "geometry": geometry, "properties": properties or {"class": 1}}


def drawn(kind, coordinates):
    shapes = geojson_shapes(feature({"type": kind, "coordinates": coordinates}))
    return np.argwhere(rasterise(shapes, (4, 6), None) == 1).tolist()


def test_several_lines_are_not_joined():
    lines = [[[0.5, 0.5], [2.5, 0.5]], [[3.5, 2.5], [4.5, 2.5]]]
    assert drawn("MultiLineString", lines) == [[0, 0], [0, 1], [0, 2], [2, 3], [2, 4]]


def test_several_points_are_dots():
    assert drawn("MultiPoint", [[0.5, 0.5], [4.5, 2.5]]) == [[0, 0], [2, 4]]


@pytest.mark.parametrize(
    "properties",
    [
        {"name": "Region 1", "classification": {"name": "vessel"}},
        {"name": None, "classification": {"name": "vessel"}},
        {"class": None, "label": "vessel", "classification": {"name": "vein"}},
        {"class": "vessel", "label": "vein", "name": "vein"},
        {"classification": {"name": None}, "name": "vessel"},
        {"classification": "vessel"},
    ],
)
def test_the_class_comes_before_the_name(properties):
    (shape,) = geojson_shapes(feature(properties=properties))
    assert shape.label == "vessel"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"type": "FeatureCollection", "features": None}, "features are None"),
        ({"type": "FeatureCollection"}, "features are None"),
        ({**feature(), "properties": ["vessel"]}, "feature 1 has properties"),
        (feature(properties={"class": {"id": 1}}), "feature 1 names no class"),
        (feature(properties={"name": None}), "feature 1 names no class"),
    ],
)
def test_broken_features_are_explained(content, words):
    with pytest.raises(InputError, match=words):
        geojson_shapes(content)


def test_parts_of_a_derived_class_come_before_the_name():
    square = {"type": "Polygon", "coordinates": [[[0, 0], [4, 0], [4, 4]]]}
    properties = {"name": "Region 1", "classification": {"names": ["Tumor", "Positive"]}}
    feature = {"type": "Feature", "geometry": square, "properties": properties}
    assert [shape.label for shape in geojson_shapes(feature)] == ["Tumor: Positive"]


def test_all_broken_features_are_told_at_once():
    square = {"type": "Polygon", "coordinates": [[[0, 0], [4, 0], [4, 4]]]}
    features = [{"type": "Feature"}, {"type": "Feature", "geometry": square, "properties": {}}]
    with pytest.raises(InputError) as caught:
        geojson_shapes({"type": "FeatureCollection", "features": features})
    said = [fault.found for fault in caught.value.faults]
    assert said == ["feature 1 has no geometry", "feature 2 names no class"]
