from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import multirater
from multirater import dataset_from_arrays
from multirater.errors import InputError
from multirater.fusion.fused_dataset import fuse_dataset
from multirater.report.contents import gather_subject
from multirater.report.figures.choice import figures_of
from multirater.report.subject import Result, Subject, read_subject


def _drawn(paths, cases=1):
    subject = paths if isinstance(paths, Subject) else read_subject(paths)
    return dict(figures_of(gather_subject(subject), cases))


def _alone(data):
    return Subject("alone", ("data set",), data)


def test_a_data_set(study):
    figures = _drawn([study])
    assert list(figures) == [
        "agreement",
        "confusion-matrices",
        "quality",
        "drawings",
        "uncertainty",
    ]
    assert figures["quality"].get_supxlabel() == "against the truth"


def test_cases_with_most_disagreement_come_first(study):
    figure = _drawn([study], cases=2)["drawings"]
    assert [axes.get_ylabel() for axes in figure.axes if axes.get_ylabel()] == ["c3", "c2"]


def test_cases_by_name(study):
    figure = _drawn([study], cases=["c1"])["drawings"]
    assert [axes.get_ylabel() for axes in figure.axes if axes.get_ylabel()] == ["c1"]
    with pytest.raises(InputError, match="no case 'nobody'"):
        _drawn([study], cases=["nobody"])


def test_predictions_with_everything(study, predict):
    figures = _drawn(predict(multirater.read_dataset(study)))
    assert list(figures) == [
        "agreement",
        "confusion-matrices",
        "quality",
        "drawings",
        "uncertainty",
        "confusion-maps-c3",
        "consensus-network",
        "consensus-groups",
    ]
    titles = [axes.get_title() for axes in figures["drawings"].axes]
    assert titles == ["image", "all raters", "anna", "bert", "cleo", "network", "truth"]


def test_predictions_alone(study, predict, tmp_path):
    predict(multirater.read_dataset(study))
    figures = _drawn([tmp_path / "predicted"])
    assert list(figures) == ["drawings", "uncertainty", "confusion-maps-c1"]


def test_a_fusion_knows_its_data_set(study, tmp_path):
    fuse_dataset(multirater.read_dataset(study), tmp_path / "fused", method="majority-vote")
    figures = _drawn([tmp_path / "fused"])
    assert {"quality", "quality-majority-vote", "consensus-groups"} <= set(figures)
    table = pd.read_csv(tmp_path / "fused" / "raters.csv").sort_values("quality")
    dots = [
        line for line in figures["quality-majority-vote"].axes[0].lines if line.get_marker() == "o"
    ]
    np.testing.assert_allclose([dot.get_xdata()[0] for dot in dots], table["quality"])


def test_a_run(study, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"method": "cm"}))
    (tmp_path / "data.json").write_text("{}")
    (tmp_path / "origin.json").write_text(json.dumps({"data": str(study)}))
    table = pd.DataFrame({"epoch": [0, 1], "train_nll": [0.5, 0.4], "val_nll": [0.6, 0.5]})
    table.to_csv(tmp_path / "curves.csv", index=False)
    assert "curves-network cm" in _drawn([tmp_path])


def test_class_labels(tmp_path):
    rng = np.random.default_rng(0)
    rows = [(t, w, f"c{t % 3}" if rng.random() < 0.8 else "c0") for t in range(30) for w in "xyz"]
    table = tmp_path / "answers.csv"
    pd.DataFrame(rows, columns=["task", "worker", "label"]).to_csv(table, index=False)
    figures = _drawn([table])
    assert list(figures) == ["agreement", "confusion-matrices", "quality"]
    assert "majority" in figures["quality"].get_supxlabel()


def test_a_volume_shows_its_busiest_slice():
    labels = np.zeros((1, 2, 9, 24, 24), dtype=np.int16)
    labels[0, 0, 5, 2:8, 2:8] = 1
    figure = _drawn(_alone(dataset_from_arrays(labels)))["drawings"]
    assert figure.get_supxlabel() == "slice 6 of 9"


def test_a_single_rater_without_truth():
    labels = np.ones((2, 1, 24, 24), dtype=np.int16)
    assert list(_drawn(_alone(dataset_from_arrays(labels)))) == ["drawings"]


def test_results_are_compared_on_the_cases_all_of_them_cover(study):
    data = multirater.read_dataset(study)
    whole, part = (
        dataset_from_arrays(np.ones((n, 1, 24, 24), int), raters=["network"], cases=names)
        for n, names in ((3, ["c1", "c2", "c3"]), (1, ["c2"]))
    )
    results = (Result("all", "predictions", whole), Result("one", "predictions", part))
    figures = _drawn(Subject("x", ("data set",), data, results))
    labels = [text.get_text() for text in figures["consensus-groups"].axes[0].get_xticklabels()]
    assert [text.split("\n")[-1] for text in labels] == ["n = 1"]
    shown = [axes.get_ylabel() for axes in figures["drawings"].axes if axes.get_ylabel()]
    assert shown == ["c2"]


def test_a_result_of_another_size_is_named(study):
    data = multirater.read_dataset(study)
    names = ["c1", "c2", "c3"]
    small = dataset_from_arrays(np.zeros((3, 1, 10, 10), int), raters=["network"], cases=names)
    subject = Subject("x", ("data set",), data, (Result("net", "predictions", small),))
    with pytest.raises(InputError, match="label has size 24 x 24"):
        _drawn(subject)
