"""Class labels out as CSV and JSONL, with consensus and confidence."""

import csv
import json

import pytest

from multirater.errors import InputError
from multirater.fusion.fused_dataset import fuse_dataset
from multirater.io import read_dataset
from multirater.io.exporters.exporting import export_dataset


@pytest.fixture
def fused(answers_study, tmp_path):
    fuse_dataset(read_dataset(answers_study), tmp_path / "fused", method="mean")
    return read_dataset(tmp_path / "fused")


def test_jsonl(fused, tmp_path):
    out = export_dataset(fused, "jsonl", tmp_path / "out.jsonl")
    a, b = (json.loads(line) for line in out.read_text().splitlines())
    assert a == {"case": "a", "label": "cat", "confidence": 1.0, "rater": "mean"}
    assert (b["case"], b["confidence"]) == ("b", 0.5)


def test_csv(fused, tmp_path):
    out = export_dataset(fused, "csv", tmp_path / "out.csv")
    with out.open() as stream:
        a, b = csv.DictReader(stream)
    assert (a["label"], a["confidence"], b["confidence"]) == ("cat", "1.0", "0.5")
    assert read_dataset(out).raters == ("mean",)


def test_masks_are_refused(painted_study, tmp_path):
    with pytest.raises(InputError, match="CSV files hold classes"):
        export_dataset(read_dataset(painted_study), "csv", tmp_path / "out.csv")


def test_names_that_look_like_formulas_are_not_run_by_a_spreadsheet(tmp_path):
    lines = ["case,rater,label", "=1+1,@anna,-x", "b,@anna,cat"]
    (tmp_path / "answers.csv").write_text("\n".join(lines) + "\n")
    data = read_dataset(tmp_path / "answers.csv")
    out = export_dataset(data, "csv", tmp_path / "out.csv")
    with out.open() as stream:
        cells = [cell for line in csv.reader(stream) for cell in line]
    assert not [cell for cell in cells if cell.startswith(("=", "@", "-"))]
    again = read_dataset(out)
    assert (again.raters, again.cases[0].name, again.classes) == (
        data.raters,
        data.cases[0].name,
        data.classes,
    )
