"""From a tool to a fusion and back, from the command line."""

import json

import numpy as np
import pytest
from PIL import Image as Pillow
from typer.testing import CliRunner

from multirater import progress
from multirater.cli.app import app
from multirater.io import read_dataset


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


def write_masks(folder, *, on, off, truth_on, truth_off, stray=None):
    """Masks of three raters and the truth, in values of their own."""
    square = np.zeros((20, 20), dtype=bool)
    square[5:13, 6:15] = True
    for name in ("anna", "bert", "cleo", "truth"):
        is_truth = name == "truth"
        values = (truth_on, truth_off) if is_truth else (on, off)
        array = np.where(square, *values).astype(np.uint8)
        if stray is not None and not is_truth:
            array[8, 9] = stray
        (folder / name).mkdir(parents=True)
        Pillow.fromarray(array).save(folder / name / "ear.png")
    (folder / "photo").mkdir()
    Pillow.fromarray(np.zeros((20, 20), dtype=np.uint8)).save(folder / "photo" / "ear.png")


def import_masks(folder, study, *more):
    patterns = ["--image", "photo/{case}.png", "--label", "{rater}/{case}.png"]
    return run(
        "import", "files", folder, *patterns, "--truth", "truth/{case}.png", "-o", study, *more
    )


@pytest.mark.parametrize(
    ("values", "table"),
    [
        ((255, 0, 1, 0), None),
        ((255, 0, 0, 1), "index,name,value,truth_value\n0,back,0,1\n1,front,255,0\n"),
        ((0, 255, 1, 0), "index,name,value,truth_value\n0,back,255,0\n1,front,0,1\n"),
        ((0, 255, 1, 0), "index,name,value,truth_value\n0,back,255 254,0\n1,front,0 7,1\n"),
    ],
)
def test_labels_and_truth_may_hold_values_of_their_own(tmp_path, values, table):
    on, off, truth_on, truth_off = values
    masks, study, fused = (tmp_path / name for name in ("masks", "study", "fused"))
    write_masks(masks, on=on, off=off, truth_on=truth_on, truth_off=truth_off)
    assert import_masks(masks, study).exit_code == 0
    if table:
        (study / "classes.csv").write_text(table)
    assert run("fuse", study, "--method", "majority-vote", "-o", fused, "-j", 1).exit_code == 0
    done = run("evaluate", fused, "--json")
    assert done.exit_code == 0, done.output
    dice = json.loads(done.output[done.output.index("{") :])["scores"][0]
    assert (dice["measure"], dice["value"]) == ("Dice", 1.0)


def test_a_stray_is_refused_with_its_place_and_read_as_told(tmp_path):
    masks = tmp_path / "masks"
    write_masks(masks, on=255, off=0, truth_on=1, truth_off=0, stray=250)
    refused = tmp_path / "refused"
    assert import_masks(masks, refused).exit_code == 0
    done = run("info", refused)
    assert done.exit_code == 2
    assert "1 pixel of 400, at row 8, column 9" in done.output
    assert "--stray" in done.output
    for stray, expected in (("nearest", 1), ("missing", -1)):
        study = tmp_path / stray
        assert import_masks(masks, study, "--stray", stray).exit_code == 0
        assert run("info", study).exit_code == 0
        label = read_dataset(study)["ear"].read_label("anna").array
        assert label[8, 9] == expected
        assert (label == 1).sum() == 72 - (expected == -1)
