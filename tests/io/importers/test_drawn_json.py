"""labelme, VIA and Supervisely: the same square and hole from each."""

import base64
import io
import json
import zlib

import numpy as np
import pytest
from PIL import Image as Pillow

from multirater.errors import InputError
from multirater.io.importers.study import import_study

SQUARE = [[4, 4], [12, 4], [12, 12], [4, 12]]


def png(mask):
    stream = io.BytesIO()
    Pillow.fromarray(mask).save(stream, "PNG")
    return stream.getvalue()


@pytest.fixture
def write(tmp_path, photos):
    photos(tmp_path / "photos")

    def written(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
        return path

    return written


@pytest.fixture
def run(tmp_path, read_labels):
    def imported(tool, *sources, **options):
        import_study(tool, sources, tmp_path / "study", images=tmp_path / "photos", **options)
        return read_labels(tmp_path / "study")

    return imported


def labelme(*shapes, size=(32, 24)):
    told = {"imagePath": "..\\photos\\ear.png", "imageWidth": size[0], "imageHeight": size[1]}
    return {"version": "5.5.0", "flags": {}, "shapes": list(shapes), **told}


def shape(label, points, kind="polygon", **more):
    return {"label": label, "points": points, "shape_type": kind, **more}


def test_labelme(tmp_path, write, run):
    part = np.array([[True, False], [True, True]])
    stored = base64.b64encode(png(part)).decode()
    mask = shape("vessel", [[6, 7], [7, 8]], "mask", mask=stored)
    write("anna/ear.json", labelme(shape("lesion", SQUARE), mask))
    write("bert/ear.json", labelme(shape("lesion", [[12, 12], [4, 4]], "rectangle")))
    write("cleo/ear.json", labelme(shape("lesion", [[1, 1]], "point")))
    labels = run("labelme", *(tmp_path / rater for rater in ("anna", "bert", "cleo")))
    expected = np.zeros((24, 32), dtype=int)
    expected[4:12, 4:12] = 1
    np.testing.assert_array_equal(labels["ear", "bert"], expected)
    expected[7:9, 6:8][part] = 2
    np.testing.assert_array_equal(labels["ear", "anna"], expected)
    assert not labels["ear", "cleo"].any()


def test_labelme_turned_rectangle_is_its_four_corners(tmp_path, write, run):
    corners = [[12, 4], [20, 12], [12, 20], [4, 12]]
    write("anna/ear.json", labelme(shape("lesion", corners, "oriented_rectangle")))
    write("bert/ear.json", labelme(shape("lesion", corners)))
    labels = run("labelme", tmp_path / "anna", tmp_path / "bert")
    assert labels["ear", "anna"].sum() > 100
    np.testing.assert_array_equal(labels["ear", "anna"], labels["ear", "bert"])


def test_labelme_faults_by_file_and_shape(tmp_path, write, run):
    write("anna/ear.json", labelme(shape("lesion", SQUARE), size=(30, 24)))
    with pytest.raises(InputError, match="drawn on an image of 30 x 24"):
        run("labelme", tmp_path / "anna")
    write("anna/ear.json", labelme(shape("lesion", [], "polygon")))
    with pytest.raises(InputError, match=r"rater anna.*ear\.json: shape 1 has no points"):
        run("labelme", tmp_path / "anna")
    assert not (tmp_path / "study").exists()


def region(**told):
    return {"shape_attributes": told, "region_attributes": {"class": "lesion"}}


def test_via(tmp_path, write, run):
    x, y = zip(*SQUARE, strict=True)
    drawn = region(name="polygon", all_points_x=x, all_points_y=y)
    box = region(name="rect", x=4, y=4, width=8, height=8)
    one = {"ear.png123": {"filename": "ear.png", "size": 123, "regions": [drawn]}}
    two = {"ear.png123": {"filename": "ear.png", "size": 123, "regions": {"0": box}}}
    empty = {"eye.png9": {"filename": "eye.png", "size": 9, "regions": []}}
    anna = write("anna.json", one | empty)
    bert = write("bert.json", {"_via_settings": {}, "_via_img_metadata": two})
    with pytest.raises(InputError, match=r"eye \(eye.png9\), rater anna: nothing is marked"):
        run("via", anna, bert)
    labels = run("via", anna, bert, unseen="missing")
    assert set(labels) == {("ear", "anna"), ("ear", "bert")}
    expected = np.zeros((24, 32), dtype=int)
    expected[4:12, 4:12] = 1
    for label in labels.values():
        np.testing.assert_array_equal(label, expected)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"class": {"cat": True, "dog": True}}, "2 labels: cat, dog"),
        ({"difficulty": "hard", "organ": "dog"}, "attributes difficulty, organ"),
    ],
)
def test_via_regions_of_several_classes_are_refused(write, run, told, said):
    box = region(name="rect", x=4, y=4, width=8, height=8) | {"region_attributes": told}
    anna = write("anna.json", {"ear": {"filename": "ear.png", "size": 1, "regions": [box]}})
    with pytest.raises(InputError, match=rf"ear.png \(ear\), rater anna: a region has.*{said}"):
        run("via", anna)


def test_supervisely(tmp_path, write, run):
    hole = [[6, 6], [8, 6], [8, 8], [6, 8]]
    polygon = {
        "id": 5,
        "classTitle": "lesion",
        "geometryType": "polygon",
        "points": {"exterior": SQUARE, "interior": [hole]},
    }
    part = np.ones((8, 8), dtype=bool)
    part[2:4, 2:4] = False
    data = base64.b64encode(zlib.compress(png(part))).decode()
    bitmap = {"data": data, "origin": [4, 4]}
    painted = {"id": 6, "classTitle": "lesion", "geometryType": "bitmap", "bitmap": bitmap}
    size = {"height": 24, "width": 32}
    write("anna/meta.json", {"classes": []})
    write("anna/ds/ann/ear.png.json", {"size": size, "tags": [], "objects": [polygon]})
    write("bert/ds/ann/ear.png.json", {"size": size, "tags": [], "objects": [painted]})
    labels = run("supervisely", tmp_path / "anna", tmp_path / "bert")
    expected = np.zeros((24, 32), dtype=int)
    expected[4:12, 4:12] = part
    for label in labels.values():
        np.testing.assert_array_equal(label, expected)
