import json
from dataclasses import replace

import numpy as np
import pytest

import multirater
from multirater.errors import InputError
from multirater.fusion.fused_dataset import fuse_dataset
from multirater.io import read_dataset, survey, write_dataset, write_image
from multirater.io.drawings.reading import read_drawing
from multirater.types import Classes, Geometry, Image, LabelClass

CLASSES = Classes((LabelClass("background"), LabelClass("vessel")))
SQUARE = [[2, 1], [6, 1], [6, 4], [2, 4]]


def grid(height=8, width=10):
    return lambda: ((height, width), Geometry.default(2))


def square():
    expected = np.full((8, 10), -1)
    expected[1:4, 2:6] = 1
    return expected


def geojson(geometry, **properties):
    feature = {"type": "Feature", "geometry": geometry, "properties": properties}
    return {"type": "FeatureCollection", "features": [feature]}


def label_studio(*annotators, kind="polygonlabels", name="/data/upload/1/0a1b2c3d-p1.png"):
    value = {"points": [[10 * x, 12.5 * y] for x, y in SQUARE], kind: ["vessel"]}
    result = {"type": kind, "original_width": 10, "original_height": 8, "value": value}
    return [
        {"data": {"image": "/data/upload/1/0a1b2c3d-p2.png"}, "annotations": []},
        {
            "data": {"image": name},
            "annotations": [{"completed_by": who, "result": [result]} for who in annotators],
        },
    ]


CVAT = """<?xml version="1.0"?><annotations><version>1.1</version>
<image id="0" name="a/p2.png" width="10" height="8"/>
<image id="1" name="a/p1.png" width="10" height="8">{}</image></annotations>"""


def read(folder, content, **options):
    text = content if isinstance(content, str) else json.dumps(content)
    file = folder / ("drawing.xml" if text.startswith("<") else "drawing.json")
    file.write_text(text)
    options = {"image_name": "p1.png", "classes": CLASSES, "like": grid(), **options}
    return read_drawing(file, **options).array


@pytest.mark.parametrize(
    "content",
    [
        geojson({"type": "Polygon", "coordinates": [SQUARE]}, label="vessel"),
        geojson({"type": "MultiPolygon", "coordinates": [[SQUARE]]}, **{"class": 1}),
        geojson({"type": "Polygon", "coordinates": [SQUARE]}, classification={"name": "vessel"}),
        label_studio(1),
        label_studio(1, name="http://host/p1.png"),
        label_studio(1, name="/data/local-files/?d=set/p1.png"),
        CVAT.format('<polygon label="vessel" points="2,1;6,1;6,4;2,4" z_order="0"/>'),
        CVAT.format('<box label="vessel" xtl="2" ytl="1" xbr="6" ybr="4"/><tag label="x"/>'),
    ],
)
def test_every_tool_draws_the_same_square(tmp_path, content):
    np.testing.assert_array_equal(read(tmp_path, content), square())


def test_lines_have_the_width_they_are_given(tmp_path):
    line = {"type": "LineString", "coordinates": [[0, 4], [10, 4]]}
    assert (read(tmp_path, geojson(line, name="vessel", width=2)) == 1).sum() == 20
    drawn = read(tmp_path, CVAT.format('<polyline label="vessel" points="0,2.5;10,2.5"/>'))
    assert np.argwhere(drawn == 1)[:, 0].tolist() == [2] * 10


def test_of_several_annotations_the_raters_counts(tmp_path):
    content = label_studio(1, {"id": 7, "email": "anna@example.org"})
    content[1]["annotations"][0]["result"] = []
    np.testing.assert_array_equal(read(tmp_path, content, rater="anna@example.org"), square())
    assert (read(tmp_path, content, rater="1") == -1).all()
    with pytest.raises(InputError, match="2 annotations of one image, 0 of bert"):
        read(tmp_path, content, rater="bert")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"type": "Topology"}, "JSON of an unknown kind"),
        ("{", "cannot be read as JSON"),
        ("<annotations>", "is damaged"),
        (geojson({"type": "Polygon", "coordinates": [SQUARE]}), "names no class"),
        (geojson({"type": "Polygon", "coordinates": []}, label="vessel"), "has no points"),
        (geojson({"type": "GeometryCollection"}, label="vessel"), "is a GeometryCollection"),
        (geojson({"type": "Polygon", "coordinates": [SQUARE]}, label="vein"), "class 'vein'"),
        (
            geojson({"type": "LineString", "coordinates": SQUARE}, label="vessel", width=0),
            "width 0",
        ),
        ({"type": "FeatureCollection", "features": [{}]}, "has no geometry"),
        (label_studio(1, name="p3.png"), "no task called p1.png"),
        (label_studio(1, kind="brushlabels"), "of type brushlabels"),
        (CVAT.format('<mask label="vessel" rle="1,2"/>'), "a mask of vessel"),
        (CVAT.format('<polygon label="vessel" points=""/>'), "has no points"),
        (CVAT.replace("a/p1.png", "other.png"), "no image called p1.png"),
    ],
)
def test_what_cannot_be_drawn_is_explained(tmp_path, content, words):
    with pytest.raises(InputError, match=words) as caught:
        read(tmp_path, content)
    assert "drawing." in caught.value.faults[0].file


@pytest.mark.parametrize(
    "content",
    [
        geojson({"type": "Polygon", "coordinates": [[[90, 80], [95, 80], [95, 88]]]}, label=1),
        geojson({"type": "Point", "coordinates": [90, 80]}, label=1),
        CVAT.format('<box label="vessel" xtl="90" ytl="80" xbr="95" ybr="88"/>'),
    ],
)
def test_what_was_drawn_on_another_resolution_is_refused(tmp_path, content):
    with pytest.raises(InputError, match="outside the image: x from 90") as caught:
        read(tmp_path, content)
    assert "drawing." in caught.value.faults[0].file


def test_json_may_begin_with_a_byte_order_mark(tmp_path):
    content = "\ufeff" + json.dumps(geojson({"type": "Polygon", "coordinates": [SQUARE]}, label=1))
    np.testing.assert_array_equal(read(tmp_path, content), square())


@pytest.mark.parametrize(
    "content", [label_studio(1), CVAT.format('<box label="1" xtl="2" ytl="1" xbr="6" ybr="4"/>')]
)
def test_an_export_of_another_size_is_refused(tmp_path, content):
    with pytest.raises(InputError, match="drawn on an image of 10 x 8") as caught:
        read(tmp_path, content, like=grid(10, 8))
    assert "drawing." in caught.value.faults[0].file


def test_polygons_need_an_image(tmp_path):
    with pytest.raises(InputError, match="without an image"):
        read(tmp_path, label_studio(1), like=None)


def test_a_full_mask_is_no_drawing(tmp_path):
    np.save(tmp_path / "full.npy", np.array([[0, 255, 0]], dtype=np.uint8))
    with pytest.raises(InputError, match="leaves no pixel undrawn"):
        read_drawing(tmp_path / "full.npy")
    assert read_drawing(tmp_path / "full.npy", undrawn=0).array.tolist() == [[-1, 1, -1]]


@pytest.mark.parametrize("options", [{"undrawn": 7}, {"classes": Classes(CLASSES.items, 255)}])
def test_a_drawing_may_cover_the_image_where_the_undrawn_value_is_stated(tmp_path, options):
    np.save(tmp_path / "full.npy", np.array([[0, 1, 0]], dtype=np.uint8))
    assert read_drawing(tmp_path / "full.npy", **options).array.tolist() == [[0, 1, 0]]


def test_a_drawing_on_transparent_ground_needs_no_value(tmp_path):
    picture = np.zeros((4, 8, 10), dtype=np.uint8)
    picture[:, 1:4, 2:6] = 255
    write_image(Image(picture, Geometry.default(2)), tmp_path / "strokes.png")
    drawn = read_drawing(tmp_path / "strokes.png", classes=CLASSES).array
    np.testing.assert_array_equal(drawn, square())


@pytest.fixture
def folder(tmp_path):
    """Two cases: p1 with a mask and both drawings of anna, p2 with a negative one of bert."""
    grey = np.arange(80, dtype=np.uint8).reshape(1, 8, 10)
    for case in ("p1", "p2"):
        write_image(Image(grey, Geometry.default(2)), tmp_path / f"{case}.png")
    positive = np.zeros((1, 8, 10), dtype=np.uint8)
    positive[0, 1:3, 2:4] = 255
    write_image(Image(positive, Geometry.default(2)), tmp_path / "positive.png")
    mask = (positive > 0).astype(np.uint8)
    write_image(Image(mask, Geometry.default(2)), tmp_path / "mask.png")
    shape = geojson({"type": "Polygon", "coordinates": [SQUARE]}, label="vessel")
    (tmp_path / "negative.geojson").write_text(json.dumps(shape))
    (tmp_path / "classes.csv").write_text("index,name\n0,background\n1,vessel\n")
    (tmp_path / "manifest.csv").write_text(
        "case,image,rater,label,kind,undrawn\n"
        "p1,p1.png,anna,mask.png,,\n"
        "p1,p1.png,anna,positive.png,positive,0\n"
        "p1,p1.png,anna,negative.geojson,negative,\n"
        "p2,p2.png,bert,negative.geojson,negative,\n"
    )
    return tmp_path


def test_drawings_are_kept_apart_from_labels(folder):
    data = read_dataset(folder)
    assert data.raters == ("anna",)
    assert [(each.rater, each.kind) for each in data["p1"].drawings] == [
        ("anna", "positive"),
        ("anna", "negative"),
    ]
    assert data["p1"].read_labels().array.min() == 0
    positive, negative = (data["p1"].read_drawing(each).array for each in data["p1"].drawings)
    assert np.unique(positive).tolist() == [-1, 1]
    np.testing.assert_array_equal(negative, square())
    assert not data["p2"].labels


def test_drawings_survive_being_written(folder, tmp_path):
    data = survey(read_dataset(folder)).dataset
    again = survey(read_dataset(write_dataset(data, tmp_path / "copy"))).dataset
    assert (tmp_path / "copy/negative/bert/p2.png").is_file()
    for case, other in zip(data, again, strict=True):
        assert len(case.drawings) == len(other.drawings)
        for drawing, twin in zip(case.drawings, other.drawings, strict=True):
            assert (drawing.rater, drawing.kind) == (twin.rater, twin.kind)
            np.testing.assert_array_equal(
                case.read_drawing(drawing).array, other.read_drawing(twin).array
            )
    with pytest.raises(InputError, match="holds what is read"):
        write_dataset(again, tmp_path / "copy", overwrite=True)


def test_the_undrawn_value_of_a_row_overrides_the_classes(folder):
    classes = folder / "classes.csv"
    classes.write_text("index,name,value\n0,background,\n1,vessel,\n-1,unlabelled,255\n")
    case = read_dataset(folder)["p1"]
    drawn = case.read_drawing(case.drawings[0]).array
    assert (drawn[1:3, 2:4] == 1).all()
    assert (drawn == 1).sum() == 4
    assert (drawn == -1).sum() == 76


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("p1,p1.png,anna,positive.png,positive,0", "two positive drawings for one case and rater"),
        ("p2,p2.png,anna,mask.png,scribble,", "kind 'scribble'"),
        ("p2,p2.png,anna,mask.png,mask,0", "a mask with a value in the column `undrawn`"),
        ("p2,p2.png,anna,positive.png,positive,none", "undrawn 'none'"),
        ("p2,p2.png,anna,mask.png,positive,", "leaves no pixel undrawn"),
        ("p2,p2.png,anna,missing.json,positive,", "file does not exist"),
        ("p2,p2.png,,positive.png,positive,0", "a label without a rater"),
    ],
)
def test_faults_of_drawings_are_told(folder, row, words):
    table = folder / "manifest.csv"
    table.write_text(table.read_text() + row + "\n")
    with pytest.raises(InputError, match=words):
        survey(read_dataset(folder))


def test_a_drawing_of_another_size_is_refused(folder):
    small = np.full((1, 4, 4), 255, dtype=np.uint8)
    small[0, 0] = 0
    write_image(Image(small, Geometry.default(2)), folder / "small.png")
    table = folder / "manifest.csv"
    table.write_text(table.read_text() + "p2,p2.png,anna,small.png,positive,0\n")
    with pytest.raises(InputError, match="label has size 4 x 4"):
        survey(read_dataset(folder))


def test_agreement_and_fusion_never_take_drawings_for_masks(folder, tmp_path):
    data = read_dataset(folder)
    summary = multirater.info(data).summary
    assert summary["labels"] == 1
    assert summary["coarse drawings"] == "negative (2), positive (1)"
    with pytest.raises(InputError, match="coarse drawings do not count"):
        multirater.agreement(data)
    fused = fuse_dataset(data, tmp_path / "fused", method="majority-vote")
    assert [path.name for path in (tmp_path / "fused").rglob("*.png")] == ["p1.png"], fused
    without = replace(data, cases=data.cases[1:], raters=())
    with pytest.raises(InputError, match="no case has a label"):
        fuse_dataset(without, tmp_path / "none", method="majority-vote")
    page = multirater.write_report([folder], tmp_path / "page.html")
    assert page.is_file()
