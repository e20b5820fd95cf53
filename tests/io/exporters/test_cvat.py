"""CVAT files out, and back in."""

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io import read_dataset
from multirater.io.exporters.exporting import export_dataset
from multirater.io.importers.study import import_study
from multirater.rater_choice import choose_raters


def test_round_trip_keeps_every_pixel(painted_study, tmp_path, read_labels):
    data = read_dataset(painted_study)
    files = [
        export_dataset(choose_raters(data, [rater]), "cvat", tmp_path / f"{rater}.xml")
        for rater in data.raters
    ]
    import_study("cvat", files, tmp_path / "again", images=tmp_path / "photos", unseen="empty")
    before, after = read_labels(painted_study), read_labels(tmp_path / "again")
    assert before.keys() == after.keys()
    for key, label in before.items():
        np.testing.assert_array_equal(after[key], label)


def test_several_raters_are_refused(painted_study, tmp_path):
    with pytest.raises(InputError, match="choose one by --raters, such as --raters anna"):
        export_dataset(read_dataset(painted_study), "cvat", tmp_path / "out.xml")


def test_class_labels_become_tags(answers_study, tmp_path):
    anna = choose_raters(read_dataset(answers_study), ["anna"])
    out = export_dataset(anna, "cvat", tmp_path / "anna.xml")
    import_study("cvat", [out], tmp_path / "again")
    data = read_dataset(tmp_path / "again")
    assert [data.classes.names[int(case.read_label("anna").array)] for case in data] == ["cat"] * 2
