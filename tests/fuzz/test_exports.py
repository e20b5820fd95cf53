"""Exports of labelling tools in which a field is of another kind, missing, huge or hostile."""

import base64
import io
import json
import shutil
import zlib
from xml.etree import ElementTree

import numpy as np
import pytest
from damage import TRIES, tried
from hostile_json import hostile
from PIL import Image as Pillow

from multirater.io.brush_rle import encode_brush
from multirater.io.formats.labels import write_label
from multirater.io.importers.study import import_study
from multirater.training.memory import at_most
from multirater.types import Geometry, LabelMap

SIZE = 20
RING = [[2, 2], [9, 2], [9, 9], [2, 9]]
FLAT = [number for point in RING for number in point]
MASK = np.zeros((SIZE, SIZE), dtype=bool)
MASK[3:9, 4:12] = True


def png(mask):
    stream = io.BytesIO()
    Pillow.fromarray(mask).save(stream, "PNG")
    return stream.getvalue()


def coco():
    images = [{"id": 1, "file_name": "a.png", "width": SIZE, "height": SIZE, "annotators": ["x"]}]
    drawn = {"image_id": 1, "category_id": 1, "annotator": "x"}
    rle = {"size": [SIZE, SIZE], "counts": [40, 60, 300]}
    outlines = enumerate([[FLAT], [FLAT, FLAT], rle], 1)
    annotations = [{"id": n, "segmentation": each, **drawn} for n, each in outlines]
    categories = [{"id": 1, "name": "x"}, {"id": 2, "name": "y"}]
    return {"images": images, "annotations": annotations, "categories": categories}


def label_studio():
    told = {"original_width": SIZE, "original_height": SIZE, "from_name": "label"}
    box = {"x": 10, "y": 10, "width": 40, "height": 30, "rotation": 5}
    oval = {"x": 50, "y": 50, "radiusX": 20, "radiusY": 10, "rotation": 0}
    values = {
        "polygon": {"points": RING},
        "rectangle": box,
        "ellipse": oval,
        "brush": {"format": "rle", "rle": encode_brush(MASK)},
    }
    results = [
        {"id": form, "type": f"{form}labels", "value": {f"{form}labels": ["x"], **value}, **told}
        for form, value in values.items()
    ]
    annotation = {"id": 3, "completed_by": {"email": "a@b.c"}, "result": results}
    return [{"id": 7, "data": {"image": "/data/a.png"}, "annotations": [annotation]}]


def choices():
    value = {"type": "choices", "from_name": "kind", "value": {"choices": ["x"]}}
    several = [{"id": n, "completed_by": n, "result": [value]} for n in (1, 2)]
    return [{"id": 7, "data": {"image": "/data/a.png"}, "annotations": several}]


def labelme():
    shapes = [
        {"label": "x", "points": RING, "shape_type": "polygon"},
        {"label": "x", "points": [[1, 1], [5, 5]], "shape_type": "rectangle"},
        {"label": "y", "points": [[5, 5], [5, 8]], "shape_type": "circle"},
        {
            "label": "y",
            "points": [[1, 1], [5, 5]],
            "shape_type": "mask",
            "mask": base64.b64encode(png(MASK)).decode(),
        },
    ]
    return {"imagePath": "a.png", "imageWidth": SIZE, "imageHeight": SIZE, "shapes": shapes}


def via():
    forms = [
        {"name": "polygon", "all_points_x": [2, 9, 9], "all_points_y": [2, 2, 9]},
        {"name": "rect", "x": 1, "y": 1, "width": 5, "height": 5},
        {"name": "circle", "cx": 5, "cy": 5, "r": 3},
        {"name": "ellipse", "cx": 5, "cy": 5, "rx": 3, "ry": 2, "theta": 0.5},
    ]
    regions = [{"shape_attributes": each, "region_attributes": {"class": "x"}} for each in forms]
    return {"a.png1": {"filename": "a.png", "size": 1, "regions": regions}}


def supervisely():
    data = base64.b64encode(zlib.compress(png(MASK))).decode()
    objects = [
        {
            "id": 1,
            "classTitle": "x",
            "geometryType": "polygon",
            "points": {"exterior": RING, "interior": [[[3, 3], [4, 3], [4, 4]]]},
        },
        {
            "id": 2,
            "classTitle": "x",
            "geometryType": "bitmap",
            "bitmap": {"origin": [1, 2], "data": data},
        },
    ]
    return {"size": {"width": SIZE, "height": SIZE}, "objects": objects}


def qupath():
    def feature(kind, points):
        properties = {"classification": {"name": "x"}, "width": 2}
        geometry = {"type": kind, "coordinates": points}
        return {"type": "Feature", "geometry": geometry, "properties": properties}

    parts = [("Polygon", [RING]), ("MultiPolygon", [[RING]]), ("LineString", RING)]
    return {"type": "FeatureCollection", "features": [feature(*part) for part in parts]}


def monailabel():
    info = {"label_info": [{"name": "x", "idx": 1}]}
    labels = {"final": {"ext": ".npy", "info": info}}
    return {"objects": {"a": {"image": {"ext": ".png", "info": {}}, "labels": labels}}}


def prodigy():
    return {"path": "a.png", "answer": "accept", "label": "x", "_annotator_id": "a", "meta": {}}


def doccano():
    return {"id": 3, "filename": "a.png", "label": ["x"]}


JSON = {
    "coco": (coco, "anna.json"),
    "label-studio": (label_studio, "export.json"),
    "label-studio choices": (choices, "export.json"),
    "labelme": (labelme, "anna/a.json"),
    "via": (via, "anna.json"),
    "supervisely": (supervisely, "anna/ds/ann/a.png.json"),
    "qupath": (qupath, "anna/a.geojson"),
    "monailabel": (monailabel, "store/datastore_v2.json"),
    "prodigy": (prodigy, "anna.jsonl"),
    "doccano": (doccano, "anna.jsonl"),
}


def cvat_image():
    counts = "43, 8, 349"
    return f"""<annotations><version>1.1</version><image id="0" name="a.png" width="20" height="20">
<mask label="x" rle="{counts}" left="0" top="0" width="20" height="20" z_order="0"/>
<polygon label="x" points="2,2;9,2;9,9" z_order="1"/><box label="y" xtl="1" ytl="1" xbr="5" ybr="6"
rotation="3"/><ellipse label="y" cx="5" cy="5" rx="2" ry="3"/></image></annotations>"""


def cvat_video():
    return """<annotations><version>1.1</version><meta><task><size>1</size><segments><segment>
<start>0</start><stop>0</stop></segment></segments><original_size><width>20</width>
<height>20</height></original_size></task></meta><track id="0" label="x"><box frame="0" outside="0"
xtl="1" ytl="1" xbr="5" ybr="6" z_order="0"/></track></annotations>"""


ODD_TEXTS = ["", "x", "-3", "nan", "inf", "1e308", "9" * 400, "9223372036854775807", "\x1b[2J", "0"]
ODD_TEXTS += ["1,2", "9223372036854775807,9223372036854775807,8", "-1,401", "1e9,1e9;0,1e9;5,5"]


def hostile_xml(text, random):
    """Return XML with one attribute or text that is another, or not there."""
    root = ElementTree.fromstring(text)
    elements = list(root.iter())
    places = [(each, key) for each in elements for key in each.attrib]
    places += [(each, None) for each in elements if (each.text or "").strip()]
    element, key = places[int(random.integers(len(places)))]
    odd = ODD_TEXTS[int(random.integers(len(ODD_TEXTS)))].replace("\x1b", "?")
    if key is None:
        element.text = odd
    elif random.integers(8) == 0:
        del element.attrib[key]
    else:
        element.set(key, odd)
    return ElementTree.tostring(root, encoding="unicode")


@pytest.fixture
def folder(tmp_path):
    """A folder with an image, and a label of it where MONAI Label has them."""
    for place in ("images", "store"):
        (tmp_path / place).mkdir()
        Pillow.fromarray(np.zeros((SIZE, SIZE), dtype=np.uint8)).save(tmp_path / place / "a.png")
    label = LabelMap(MASK.astype(np.int16), Geometry.default(2))
    write_label(label, tmp_path / "store/labels/final/a.npy")
    write_label(label, tmp_path / "anna/frame_000000.npy")
    shutil.copy(tmp_path / "images/a.png", tmp_path / "images/frame_000000.png")
    return tmp_path


def imported(tool, source, folder):
    """Import what may be hostile, with no more than half a gigabyte."""
    out = folder / "study"
    shutil.rmtree(out, ignore_errors=True)
    try:
        with at_most(2**29):
            return import_study(tool, [source], out, images=folder / "images", unseen="empty")
    finally:
        assert out.exists() == (out / "manifest.csv").exists()


@pytest.mark.parametrize("name", JSON)
def test_the_samples_themselves_are_read(name, folder):
    make, file = JSON[name]
    source = folder / file
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(json.dumps(make()))
    given = {"labelme": 1, "qupath": 1, "monailabel": 1, "supervisely": 3}.get(name, 0)
    imported(name.split()[0], source if not given else source.parents[given - 1], folder)


@pytest.mark.parametrize("name", JSON)
def test_hostile_fields_of_json(name, folder):
    make, file = JSON[name]
    source = folder / file
    source.parent.mkdir(parents=True, exist_ok=True)
    given = {"labelme": 1, "qupath": 1, "monailabel": 1, "supervisely": 3}.get(name, 0)
    random = np.random.default_rng(len(name))
    for _ in range(3 * TRIES):
        source.write_text(hostile(json.dumps(make()), random))
        place = source if not given else source.parents[given - 1]
        tried(f"export of {name}", lambda: imported(name.split()[0], place, folder), bool)  # noqa: B023


@pytest.mark.parametrize("make", [cvat_image, cvat_video])
def test_hostile_fields_of_cvat(make, folder):
    source = folder / "anna.xml"
    source.write_text(make())
    imported("cvat", source, folder)
    random = np.random.default_rng(0)
    for _ in range(6 * TRIES):
        source.write_text(hostile_xml(make(), random))
        tried(f"export of {make.__name__}", lambda: imported("cvat", source, folder), bool)
