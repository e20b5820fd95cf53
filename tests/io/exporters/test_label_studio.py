"""Predictions for Label Studio, read back."""

import json

import numpy as np

from multirater.fusion.fused_dataset import fuse_dataset
from multirater.io import read_dataset, write_dataset
from multirater.io.exporters.exporting import export_dataset
from multirater.io.importers.study import import_study


def test_round_trip_keeps_every_pixel(painted_study, tmp_path, read_labels):
    out = export_dataset(read_dataset(painted_study), "label-studio", tmp_path / "tasks.json")
    import_study("label-studio", [out], tmp_path / "again", images=tmp_path / "photos")
    before, after = read_labels(painted_study), read_labels(tmp_path / "again")
    assert before.keys() == after.keys()
    for key, label in before.items():
        np.testing.assert_array_equal(after[key], label)


def test_the_least_sure_come_first(painted_study, tmp_path):
    fuse_dataset(read_dataset(painted_study), tmp_path / "f", method="mean", probability=True)
    out = export_dataset(read_dataset(tmp_path / "f"), "label-studio", tmp_path / "tasks.json")
    ear, eye = json.loads(out.read_text())
    assert (ear["data"]["case"], eye["data"]["case"]) == ("ear", "eye")
    assert ear["data"]["confidence"] < eye["data"]["confidence"] == 1.0
    assert ear["predictions"][0]["model_version"] == "mean"
    names = {(r["from_name"], r["to_name"], r["type"]) for r in eye["predictions"][0]["result"]}
    assert names == {("label", "image", "brushlabels")}


def test_class_labels_become_choices_with_their_probability(tmp_path, answers_study):
    fuse_dataset(read_dataset(answers_study), tmp_path / "f", method="mean")
    out = export_dataset(read_dataset(tmp_path / "f"), "label-studio", tmp_path / "tasks.json")
    first = json.loads(out.read_text())[0]
    assert first["data"]["case"] == "b"
    (chosen,) = first["predictions"][0]["result"]
    assert (chosen["type"], chosen["score"]) == ("choices", 0.5)
    import_study("label-studio", [out], tmp_path / "again")
    assert {case.name for case in read_dataset(tmp_path / "again")} == {"a", "b"}
    write_dataset(read_dataset(tmp_path / "again"), tmp_path / "copy")
