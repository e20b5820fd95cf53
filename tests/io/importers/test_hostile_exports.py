"""Exports that crashed, hung, took gigabytes or made labels up, found by an attack."""

import base64
import io
import json
import zipfile
import zlib

import numpy as np
import pytest
from PIL import Image as Pillow

from multirater.errors import InputError
from multirater.io.importers.study import import_study
from multirater.training.memory import at_most

SIZE = 20
RING = [[2, 2], [9, 2], [9, 9], [2, 9]]


@pytest.fixture
def refused(tmp_path):
    """Import a file that cannot be used, with little memory; return what is said."""
    (tmp_path / "im").mkdir()
    Pillow.fromarray(np.zeros((SIZE, SIZE), dtype=np.uint8)).save(tmp_path / "im/a.png")

    def said(tool, name, content, source=None):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            file.write_bytes(content)
        else:
            file.write_text(content if isinstance(content, str) else json.dumps(content))
        with pytest.raises(InputError) as caught, at_most(2**29):
            import_study(
                tool,
                [tmp_path / source if source else file],
                tmp_path / "o",
                images=tmp_path / "im",
                unseen="empty",
            )
        assert not (tmp_path / "o").exists()
        return str(caught.value)

    return said


def coco(outline):
    return {
        "images": [{"id": 1, "file_name": "a.png", "width": SIZE, "height": SIZE}],
        "categories": [{"id": 1, "name": "x"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "segmentation": outline}],
    }


@pytest.mark.parametrize(
    ("outline", "message"),
    [
        ([[0, 0, 9e8, 0, 9e8, 9e8, 0, 9e8]], "annotation 1: has segmentation"),
        ([[-9e8, -9e8, 9e8, 9e8, 5, 3]], "annotation 1: has segmentation"),
        ([[0, 0, 9e6, 0, 9e6, 9e6, 0, 9e6]], "has an outline of 36000000 pixels"),
        ([[0, 0, 9e6, 0, 5, 5] * 50], "has an outline of"),
    ],
)
def test_outlines_without_end(refused, outline, message):
    assert message in refused("coco", "anna.json", coco(outline))


@pytest.mark.parametrize("name", ["../out.png", "/etc/hostname", "x" * 5000])
def test_segments_are_read_from_the_export_alone(refused, tmp_path, name):
    content = coco([])
    segment = {"id": 5, "category_id": 1}
    content["annotations"] = [{"image_id": 1, "file_name": name, "segments_info": [segment]}]
    assert "a file in the folder of the export" in refused("coco", "e/anna.json", content)


def test_grey_segments(refused, tmp_path):
    Pillow.fromarray(np.zeros((SIZE, SIZE), dtype=np.uint8)).save(tmp_path / "grey.png")
    content = coco([])
    segment = {"id": 5, "category_id": 1}
    content["annotations"] = [{"image_id": 1, "file_name": "grey.png", "segments_info": [segment]}]
    assert "grey.png is grey" in refused("coco", "anna.json", content)


def test_as_many_categories_as_a_label_cannot_hold(refused):
    content = coco([[0, 0, 5, 0, 5, 5]])
    content["categories"] = [{"id": n, "name": f"c{n}"} for n in range(40_000)]
    assert "has 40001 classes" in refused("coco", "anna.json", content)


@pytest.mark.parametrize(
    "counts", ["9223372036854775807,9223372036854775807,8", "1,9223372036854775807", "9" * 5000]
)
def test_counts_of_cvat_do_not_wrap_round(refused, counts):
    mask = f'<mask label="x" rle="{counts}" left="2" top="2" width="3" height="2"/>'
    image = f'<image id="0" name="a.png" width="20" height="20">{mask}</image>'
    said = refused("cvat", "anna.xml", f"<annotations><version>1.1</version>{image}</annotations>")
    assert "mask of x" in said


def test_a_box_of_cvat_that_is_turned_inside_out(refused):
    mask = '<mask label="x" rle="6" left="2" top="2" width="-3" height="-2"/>'
    image = f'<image id="0" name="a.png" width="20" height="20">{mask}</image>'
    said = refused("cvat", "anna.xml", f"<annotations>{image}</annotations>")
    assert "has a box at 2, 2 of -3 x -2" in said


@pytest.mark.parametrize(("size", "message"), [("300000000", "has the frames"), ("x", "'x'")])
def test_frames_of_a_video(refused, size, message):
    track = '<track id="0" label="x"><box frame="0" xtl="1" ytl="1" xbr="5" ybr="6"/></track>'
    meta = f"<meta><task><size>{size}</size></task></meta>"
    assert message in refused("cvat", "anna.xml", f"<annotations>{meta}{track}</annotations>")


def test_xml_of_many_elements_in_a_small_archive(refused, monkeypatch):
    monkeypatch.setattr("multirater.io.formats.claims._SMALL", 2**26)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("annotations.xml", f"<annotations>{'<a/>' * 2_000_000}</annotations>")
    assert "claims to hold" in refused("cvat", "anna.zip", packed.getvalue())


def stored(content):
    return base64.b64encode(content).decode()


def png(mask):
    stream = io.BytesIO()
    Pillow.fromarray(mask).save(stream, "PNG")
    return stream.getvalue()


def labelme(*shapes):
    return {
        "imagePath": "a.png",
        "imageWidth": SIZE,
        "imageHeight": SIZE,
        "shapes": [{"label": "x", "points": RING, "shape_type": "polygon", **e} for e in shapes],
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (png(np.zeros((3000, 3000), dtype=np.uint8)), "it has 3000 x 3000 pixels"),
        (png(np.ones((9, 9), dtype=np.uint8))[:-20], "truncated"),
        (png(np.ones((9, 9, 3), dtype=np.uint8)), "a picture of mode RGB"),
        (b"no picture", "cannot be used"),
    ],
)
def test_masks_inside_of_json(refused, content, message):
    shape = {"shape_type": "mask", "mask": stored(content)}
    assert message in refused("labelme", "anna/a.json", labelme(shape), "anna")
    bitmap = {"data": stored(zlib.compress(content)), "origin": [0, 0]}
    thing = {"id": 1, "classTitle": "x", "geometryType": "bitmap", "bitmap": bitmap}
    told = {"size": {"width": SIZE, "height": SIZE}, "objects": [thing]}
    assert message in refused("supervisely", "bert/ann/a.png.json", told, "bert")


def test_a_packed_bitmap_that_unpacks_without_end(refused):
    data = stored(zlib.compress(bytes(2**28), 9))
    bitmap = {"data": data, "origin": [0, 0]}
    thing = {"id": 1, "classTitle": "x", "geometryType": "bitmap", "bitmap": bitmap}
    told = {"size": {"width": SIZE, "height": SIZE}, "objects": [thing]}
    assert "unpacks to more" in refused("supervisely", "anna/ann/a.png.json", told, "anna")


@pytest.mark.parametrize("label", [None, "", " ", [], {"a": 1}, True, float("nan")])
def test_what_names_no_class_is_no_class(refused, label):
    said = refused("labelme", "anna/a.json", labelme({}, {"label": label}), "anna")
    assert "shape 2 is of class" in said
    assert "expected: the name of a class" in said


@pytest.mark.parametrize("label", [[None], [{"a": 1}], [float("nan")]])
def test_what_names_no_class_in_label_studio(refused, label):
    value = {"points": RING, "polygonlabels": label}
    result = {"id": "r", "type": "polygonlabels", "value": value}
    annotation = {"id": 1, "completed_by": 1, "result": [result]}
    task = {"id": 1, "data": {"image": "a.png"}, "annotations": [annotation]}
    assert "result r is of class" in refused("label-studio", "e.json", [task])


def test_answers_that_are_nothing_or_no_text(refused, tmp_path):
    line = {"filename": "a.png", "label": [float("nan")]}
    assert "holds no answer" in refused("doccano", "anna.jsonl", json.dumps(line))
    line = {"filename": "a.png", "label": [{"a": 1}]}
    assert "an answer is of class {'a': 1}" in refused("doccano", "bert.jsonl", json.dumps(line))


def test_golden_answers_that_differ(refused):
    rows = ["INPUT:image\tOUTPUT:result\tGOLDEN:result\tASSIGNMENT:worker_id"]
    rows += ["a.png\ty\ty\tanna", "a.png\ty\tz\tbert"]
    assert "has the golden answers 'y' and 'z'" in refused("toloka", "t.tsv", "\n".join(rows))


def test_a_class_of_monailabel_beyond_all(refused, tmp_path):
    info = {"label_info": [{"name": "x", "idx": 300_000_000}]}
    store = {"objects": {"a": {"image": {"ext": ".png"}, "labels": {"final": {"info": info}}}}}
    said = refused("monailabel", "im/datastore_v2.json", store, "im")
    assert "label_info has idx 300000000" in said


@pytest.mark.parametrize(
    ("name", "version", "ending"),
    [("../outs/p1", "final", ".png"), ("a", "../../outs", ".png"), ("a", "final", "/../../x.png")],
)
def test_a_datastore_of_monailabel_names_nothing_outside(refused, name, version, ending):
    entry = {"image": {"ext": ".png"}, "labels": {version: {"ext": ending}}}
    said = refused("monailabel", "im/datastore_v2.json", {"objects": {name: entry}}, "im")
    assert "leads out of the datastore" in said


def test_numbers_too_long_to_be_positions(refused):
    said = refused("labelme", "anna/a.json", labelme({"points": [[10**400, 1], [2, 2]]}), "anna")
    assert "nowhere near an image" in said
