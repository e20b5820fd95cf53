"""COCO files out, read by pycocotools and back in."""

import contextlib
import io
import json

import numpy as np
import pytest
from PIL import Image as Pillow
from pycocotools.coco import COCO

from multirater.errors import InputError
from multirater.fusion.fused_dataset import fuse_dataset
from multirater.io import dataset_from_arrays, read_dataset
from multirater.io.exporters.exporting import export_dataset
from multirater.io.importers.study import import_study


def test_round_trip_keeps_every_pixel_and_who_looked(painted_study, tmp_path, read_labels):
    out = export_dataset(read_dataset(painted_study), "coco", tmp_path / "all.json")
    import_study("coco", [out], tmp_path / "again", images=tmp_path / "photos")
    before, after = read_labels(painted_study), read_labels(tmp_path / "again")
    assert before.keys() == after.keys()
    for key, label in before.items():
        np.testing.assert_array_equal(after[key], label)


def test_a_fusion_with_its_confidence_for_pycocotools(painted_study, tmp_path, read_labels):
    fused = tmp_path / "fused"
    fuse_dataset(read_dataset(painted_study), fused, method="mean", probability=True)
    out = export_dataset(read_dataset(fused), "coco", tmp_path / "fused.json")
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO(out)
    label = np.zeros((24, 32), dtype=int)
    for entry in coco.imgToAnns[1]:
        label[coco.annToMask(entry) == 1] = entry["category_id"]
        assert entry["area"] == coco.annToMask(entry).sum()
    np.testing.assert_array_equal(label, next(iter(read_labels(fused).values())))
    assert "annotator" not in json.loads(out.read_text())["annotations"][0]
    assert {0.5, 1.0} >= {entry["score"] for entry in coco.anns.values()}


def test_volumes_are_refused_and_nothing_is_written(tmp_path):
    data = dataset_from_arrays(np.ones((1, 2, 3, 4, 5), dtype=int))
    with pytest.raises(InputError, match="a volume, which COCO files cannot hold"):
        export_dataset(data, "coco", tmp_path / "out.json")
    assert not list(tmp_path.iterdir())


def test_images_of_one_name_in_two_folders_are_told_apart(tmp_path):
    for folder in ("p1", "p2"):
        (tmp_path / "in" / folder).mkdir(parents=True)
        for name in ("image", "mask"):
            Pillow.fromarray(np.eye(4, dtype=np.uint8)).save(tmp_path / f"in/{folder}/{name}.png")
    rows = [f"{p},{p}/image.png,a,{p}/mask.png" for p in ("p1", "p2")]
    (tmp_path / "in/manifest.csv").write_text("\n".join(["case,image,rater,label", *rows]))
    export_dataset(read_dataset(tmp_path / "in"), "coco", tmp_path / "out.json")
    images = json.loads((tmp_path / "out.json").read_text())["images"]
    assert [each["file_name"] for each in images] == ["p1/image.png", "p2/image.png"]
    import_study("coco", [tmp_path / "out.json"], tmp_path / "again", images=tmp_path / "in")
    assert {case.name for case in read_dataset(tmp_path / "again")} == {"p1/image", "p2/image"}
