import ast
import json
from pathlib import Path

import pytest

import multirater
from multirater.io.results import layout

NAMES = {
    layout.FUSION,
    layout.RATERS,
    layout.CASES,
    layout.CURVES,
    layout.CONFIG,
    layout.DATA,
    layout.PLAN,
    layout.TRUST,
}
SOURCES = Path(multirater.__file__).parent
HOMES = {SOURCES / "io/results/layout.py", SOURCES / "io/tables/rater_info.py"}
"""Of a study, too, `raters.csv` is what is known of its raters."""


def strings_of(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}


def test_nobody_else_knows_the_names_of_files():
    others = [path for path in SOURCES.rglob("*.py") if path not in HOMES]
    knowing = {path.name: strings_of(path) & NAMES for path in others}
    assert {name: found for name, found in knowing.items() if found} == {}


def manifest(folder, rater):
    folder.mkdir()
    (folder / "manifest.csv").write_text(f"case,rater,label\np1,{rater},1\n")
    return folder


def test_what_a_folder_holds(tmp_path):
    study = manifest(tmp_path / "study", "anna")
    assert layout.kind_at(study) == "data set"
    assert layout.kind_at(manifest(tmp_path / "predicted", "network")) == "predictions"
    by_origin = manifest(tmp_path / "named", "best")
    (by_origin / "origin.json").write_text(json.dumps({"run": "../run"}))
    assert layout.kind_at(by_origin) == "predictions"
    (tmp_path / "run").mkdir()
    for name in (layout.CONFIG, layout.DATA):
        (tmp_path / "run" / name).write_text("{}")
    assert layout.kind_at(tmp_path / "run") == "run"
    (study / layout.FUSION).write_text("{}")
    assert layout.kind_at(study) == "fusion"


@pytest.mark.parametrize(
    ("suffix", "maps"), [(".png", ".tif"), (".nii.gz", ".nii.gz"), (".dcm", ".nii.gz")]
)
def test_what_is_written_is_found(tmp_path, suffix, maps):
    cells = [
        layout.probability_cell("p1", suffix),
        layout.confusion_cell("dr_a", "p1", suffix),
        layout.rater_cell("dr_a", "p1", suffix),
        *(layout.recurrence_cell(number, "p1", suffix) for number in (0, 1)),
    ]
    for cell in cells:
        (tmp_path / cell).parent.mkdir(parents=True)
        (tmp_path / cell).touch()
    assert layout.probability_files(tmp_path) == {"p1": tmp_path / f"probability/p1{maps}"}
    assert layout.confusion_files(tmp_path, ["dr/a"])["dr/a"].keys() == {"p1"}
    assert layout.drawn_files(tmp_path, ["dr/a"])["dr/a"]["p1"] == tmp_path / cells[2]
    assert [set(each) for each in layout.recurrence_files(tmp_path)] == [{"p1"}, {"p1"}]
    assert layout.label_cell("predictions", "p1", suffix) == f"truth/p1{suffix}"
    assert layout.probability_files(tmp_path / "nowhere") == {}
