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


def test_options_of_an_image_come_together_and_apart_again(tmp_path, read_labels):
    def chosen(*names):
        return {"type": "choices", "from_name": "signs", "value": {"choices": list(names)}}

    def annotation(number, who, *results):
        return {"id": number, "completed_by": who, "result": list(results)}

    both, none = annotation(1, 7, chosen("red", "wet")), annotation(2, 8)
    tasks = [
        {"id": 1, "data": {"image": "ear.png"}, "annotations": [both, none]},
        {"id": 2, "data": {"image": "eye.png"}, "annotations": [annotation(3, 7, chosen("wet"))]},
    ]
    (tmp_path / "export.json").write_text(json.dumps(tasks))
    import_study("label-studio", [tmp_path / "export.json"], tmp_path / "study")
    out = export_dataset(read_dataset(tmp_path / "study"), "label-studio", tmp_path / "back.json")
    ear = json.loads(out.read_text())[0]
    said = [p["result"][0]["value"]["choices"] for p in ear["predictions"]]
    assert (ear["data"]["case"], said) == ("ear", [["red", "wet"], []])
    import_study("label-studio", [out], tmp_path / "again")
    before, after = read_labels(tmp_path / "study"), read_labels(tmp_path / "again")
    assert before == after
    assert before["ear [red]", "8"] == 0


def test_several_questions_keep_their_names(tmp_path):
    lines = ["case,rater,label", "ear [side],anna,left", "ear [state],anna,sick"]
    (tmp_path / "manifest.csv").write_text("\n".join(lines))
    out = export_dataset(read_dataset(tmp_path), "label-studio", tmp_path / "tasks.json")
    (task,) = json.loads(out.read_text())
    results = task["predictions"][0]["result"]
    assert {r["from_name"]: r["value"]["choices"] for r in results} == {
        "side": ["left"],
        "state": ["sick"],
    }
    assert len({r["id"] for r in results}) == 2
    import_study("label-studio", [out], tmp_path / "again")
    assert [case.name for case in read_dataset(tmp_path / "again")] == ["ear [side]", "ear [state]"]


def test_names_that_end_like_questions_are_images_of_their_own(tmp_path, photos):
    photos(tmp_path / "photos")
    lines = ["case,rater,label", "IMG [1],anna,cat", "IMG [2],anna,dog"]
    (tmp_path / "manifest.csv").write_text("\n".join(lines))
    out = export_dataset(read_dataset(tmp_path), "label-studio", tmp_path / "tasks.json")
    tasks = json.loads(out.read_text())
    assert {task["data"]["case"] for task in tasks} == {"IMG [1]", "IMG [2]"}
    lines = ["case,rater,label,image", "IMG [a],anna,cat,photos/ear.png"]
    lines.append("IMG [b],anna,dog,photos/eye.png")
    (tmp_path / "manifest.csv").write_text("\n".join(lines))
    out = export_dataset(read_dataset(tmp_path), "label-studio", tmp_path / "others.json")
    images = {task["data"]["image"].split("?d=")[-1] for task in json.loads(out.read_text())}
    assert images == {"ear.png", "eye.png"}
