"""Commands of the pages, run in their order on small data that is made for them.

Not run are commands that train or need a network (README and tutorials show and run the same
verbs), those that serve a page, and what is not ours (`NOT_RUN`): of these, every line that begins
with `multirater` is read by the real command line in `test_commands.py`.
"""

import json
import shlex
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from test_commands import PAGES, ROOT, fences

import multirater

RATERS = ["anna", "bert", "cleo"]
NOT_RUN = {"train", "predict", "view", "--run", "predicted/", "run/", "run/predictions"}
NOT_RUN |= {"--install-completion", "--version"}
RUN_ELSEWHERE = ("README.md", "docs/tutorials/", "docs/recipes.md")
"""In `test_docs.py` and `test_tutorials.py`; recipes are of data that cannot be had here."""

SQUARE = [[4, 4], [12, 4], [12, 12], [4, 12]]
MTURK = """HITId,WorkerId,AssignmentStatus,Input.image_url,Answer.label
1,anna,Approved,https://x.org/ear.png,well
1,bert,Approved,https://x.org/ear.png,sick
2,anna,Approved,https://x.org/eye.png,sick
"""
TOLOKA = """INPUT:image\tOUTPUT:result\tASSIGNMENT:assignment_id\tASSIGNMENT:worker_id
/ear.png\twell\tA1\tanna
/ear.png\tsick\tA2\tbert
"""


def lines_of(page):
    """Return the commands of a page that are run here."""
    lines = "\n".join(fences(page, "sh", "console")).replace("\\\n", " ").splitlines()
    words = [shlex.split(line, comments=True) for line in lines]
    return [each[1:] for each in words if each[:1] == ["multirater"] and not NOT_RUN & set(each)]


def pages():
    for page in PAGES:
        name = page.relative_to(ROOT).as_posix()
        if not name.startswith(RUN_ELSEWHERE) and lines_of(page):
            yield pytest.param(page, id=name)


@pytest.fixture
def study():
    """Four discs, each drawn by three raters."""
    y, x = np.ogrid[:24, :24]
    discs = [[(y - 12 + k) ** 2 + (x - 12) ** 2 < r**2 for r in (6, 7, 8)] for k in range(4)]
    masks = np.array(discs).astype(int)
    images = (masks.mean(1) * 200).astype(np.uint8)
    data = multirater.dataset_from_arrays(masks, images=images, raters=RATERS, truths=masks[:, 1])
    multirater.write_dataset(data, "study")


def test_every_page_is_run_or_said_not_to_be():
    named = {page.values[0] for page in pages()}
    others = {p for p in PAGES if fences(p, "sh", "console")} - named
    left = {p.relative_to(ROOT).as_posix() for p in others}
    trains = {f"docs/{name}.md" for name in ("classification", "prism", "training")}
    others = {each for each in left if not each.startswith(RUN_ELSEWHERE)}
    assert others == trains | {"docs/report-figures.md"}


@pytest.mark.filterwarnings("ignore::multirater.errors.MultiraterWarning")
@pytest.mark.parametrize("page", list(pages()))
def test_commands_run(page, study, tmp_path, monkeypatch, run):
    monkeypatch.setattr("multirater.parallel._FEW", 1_000)
    prepare(page.stem, run)
    for words in lines_of(page):
        target = Path(words[words.index("-o") + 1]) if "-o" in words else None
        if target is not None and target.is_dir():
            shutil.rmtree(target)
        if words[:2] == ["import", "supervisely"]:  # other files in folders of the same names
            words = [f"drawn/{each}" if each in ("anna/", "bert/") else each for each in words]
        status, output, errors = run(*words)
        assert status == 0, f"{' '.join(words)}\n{errors[-1500:]}"
        assert target.exists() if target is not None else output


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def prepare(page, run):
    """Make the files that a page names; those of tools by our own exports, where there are any."""
    prepared = {
        "agreement": _fusions,
        "report": _fusions,
        "adjudication": lambda run: run("fuse", "study", "-o", "gold"),
        "next": lambda run: _answers().to_csv("answers.csv", index=False),
        "coarse": lambda run: Path("digits").symlink_to("study"),
        "data-format": lambda run: _chase(),
        "class-labels": lambda run: _class_labels(),
        "coco": _coco,
        "cvat": _cvat,
        "label-studio": _label_studio,
        "polygons": lambda run: _polygons(),
        "qupath": _by_rater("qupath", "slides"),
        "itk-snap": _by_rater("itk-snap", "scans", suffix="nii.gz"),
        "slicer": _by_rater("slicer", "scans", suffix="nii.gz"),
        "monailabel": _export("monailabel", "datastore"),
        "nnunet": _export("nnunet", "nnUNet_raw/Dataset001_Liver"),
    }
    prepared.get(page, lambda run: None)(run)


def _fusions(run):
    for name, method in (("vote", "majority-vote"), ("staple", "staple"), ("fused", "staple")):
        assert run("fuse", "study", "--method", method, "-o", name)[0] == 0


def _answers():
    said = [(k, rater, "no" if k % (2 + n) else "yes") for k in range(9) for n, rater in ENOUGH]
    return pd.DataFrame(said, columns=["task", "worker", "label"])


ENOUGH = list(enumerate(RATERS))


def _chase():
    Path("chase_db1").mkdir()
    for image in Path("study/images").iterdir():
        shutil.copy(image, f"chase_db1/{image.stem}.jpg")
        for number, rater in (("1st", "anna"), ("2nd", "bert")):
            mask = f"study/raters/{rater}/{image.name}"
            shutil.copy(mask, f"chase_db1/{image.stem}_{number}HO.png")


def _class_labels():
    Path("batch.csv").write_text(MTURK)
    Path("assignments.tsv").write_text(TOLOKA)
    said = {"_input_hash": 1, "accept": ["well"], "answer": "accept", "meta": {"id": "ear"}}
    lines = [{**said, "_annotator_id": rater} for rater in RATERS]
    Path("db.jsonl").write_text("\n".join(map(json.dumps, lines)))
    for number, rater in enumerate(RATERS[:2]):
        line = {"id": 1, "text": "ear", "label": [["well"], ["sick"]][number]}
        Path(f"{rater}.jsonl").write_text(json.dumps(line))


def _coco(run):
    shutil.copytree("study/images", "photos")
    for rater in RATERS[:2]:
        words = ("export", "study", "--raters", rater, "--to", "coco", "-o", f"{rater}.json")
        assert run(*words)[0] == 0


def _cvat(run):
    shutil.copytree("study/images", "photos")
    for rater in RATERS[:2]:
        file = Path("annotations.xml")
        file.unlink(missing_ok=True)
        assert run("export", "study", "--raters", rater, "--to", "cvat", "-o", file)[0] == 0
        with zipfile.ZipFile(f"{rater}.zip", "w") as archive:
            archive.write(file)


def _label_studio(run):
    shutil.copytree("study/images", "photos")
    assert run("export", "study", "--to", "label-studio", "-o", "told.json")[0] == 0
    tasks = json.loads(Path("told.json").read_text())
    for number, task in enumerate(tasks, 1):
        drawn = task.pop("predictions")
        task["id"] = number
        task["annotations"] = [
            {"id": 10 * number + k, "completed_by": k, "result": each["result"]}
            for k, each in enumerate(drawn)
        ]
    Path("export.json").write_text(json.dumps(tasks))


def _polygons():
    shutil.copytree("study/images", "photos")
    for rater in RATERS[:2]:
        Path(rater).mkdir()
        size = {"imagePath": "0.png", "imageWidth": 24, "imageHeight": 24}
        drawn = {"label": "lesion", "points": SQUARE, "shape_type": "polygon"}
        Path(rater, "0.json").write_text(json.dumps({"shapes": [drawn], **size}))
        points = {"exterior": SQUARE, "interior": []}
        drawn = {"classTitle": "lesion", "geometryType": "polygon", "points": points}
        told = {"size": {"height": 24, "width": 24}, "objects": [drawn], "tags": []}
        Path("drawn", rater).mkdir(parents=True)
        Path("drawn", rater, "0.png.json").write_text(json.dumps(told))
        x, y = zip(*SQUARE, strict=True)
        region = {"name": "polygon", "all_points_x": x, "all_points_y": y}
        told = {"shape_attributes": region, "region_attributes": {"class": "lesion"}}
        image = {"0.png1": {"filename": "0.png", "size": 1, "regions": [told]}}
        Path(f"{rater}.json").write_text(json.dumps(image))


def _by_rater(tool, images, suffix="png"):
    def made(run):
        assert run("convert", "study", "-o", "made", "--format", suffix)[0] == 0
        shutil.copytree("made/images", images)
        assert run("export", "made", "--to", tool, "-o", "told")[0] == 0
        for each in Path("told").iterdir():
            if each.name in (*RATERS, "labels.txt"):
                each.rename(each.name)

    return made


def _export(tool, name):
    def made(run):
        Path(name).parent.mkdir(exist_ok=True)
        assert run("export", "study", "--to", tool, "-o", name)[0] == 0

    return made
