"""From a tool to a fusion and back, from the command line."""

import json

import numpy as np
import pytest
from PIL import Image as Pillow
from typer.testing import CliRunner

from multirater import progress
from multirater.cli.app import app


def run(*words):
    try:
        return CliRunner().invoke(app, [str(word) for word in words])
    finally:
        progress.show_progress(False)


@pytest.fixture
def coco_files(tmp_path):
    """Three raters who drew a square each, a little apart."""
    (tmp_path / "photos").mkdir()
    Pillow.fromarray(np.zeros((20, 20), dtype=np.uint8)).save(tmp_path / "photos" / "ear.png")
    image = {"id": 1, "file_name": "ear.png", "width": 20, "height": 20}
    files = []
    for shift, rater in enumerate(("anna", "bert", "cleo")):
        low, high = 4 + shift, 12 + shift
        outline = [low, low, high, low, high, high, low, high]
        entry = {"id": 1, "image_id": 1, "category_id": 1, "segmentation": [outline]}
        categories = [{"id": 1, "name": "lesion"}]
        content = {"images": [image], "annotations": [entry], "categories": categories}
        files.append(tmp_path / f"{rater}.json")
        files[-1].write_text(json.dumps(content))
    return files


def test_import_fuse_export(coco_files, tmp_path):
    study, fused, out = (tmp_path / name for name in ("study", "fused", "out.json"))
    done = run("import", "coco", *coco_files, "--images", tmp_path / "photos", "-o", study)
    assert done.exit_code == 0, done.output
    assert "1 case, 3 raters: anna, bert and cleo" in done.output
    fuse = run("fuse", study, "--method", "majority-vote", "-o", fused, "-j", 1)
    assert fuse.exit_code == 0, fuse.output
    assert run("export", fused, "--to", "coco", "-o", out).exit_code == 0
    (entry,) = json.loads(out.read_text())["annotations"]
    assert entry["bbox"] == [5, 5, 8, 8]


def test_faults_end_with_status_2_and_nothing_written(coco_files, tmp_path):
    coco_files[1].write_text(coco_files[1].read_text().replace('"category_id": 1', '"x": 1'))
    study = tmp_path / "study"
    done = run("import", "coco", *coco_files, "--images", tmp_path / "photos", "-o", study)
    assert done.exit_code == 2
    assert "ear.png (image 1), rater bert" in done.output
    assert "annotation 1 is of category None" in done.output
    assert not study.exists()


def test_images_are_asked_for(coco_files, tmp_path):
    done = run("import", "coco", *coco_files, "-o", tmp_path / "study")
    assert done.exit_code == 2
    assert "--images" in done.output


def test_unknown_tool(coco_files, tmp_path):
    study = tmp_path / "study"
    run("import", "coco", *coco_files, "--images", tmp_path / "photos", "-o", study, "-q")
    done = run("export", study, "--to", "coko", "-o", tmp_path / "out")
    assert done.exit_code == 2
    assert "did you mean coco?" in done.output
