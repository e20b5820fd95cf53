from dataclasses import replace

import numpy as np
import pytest

import multirater
from multirater.io import write_image
from multirater.types import Classes, Geometry, Image, LabelClass


@pytest.fixture
def labels():
    """Two cases, three raters, three classes; the third rater saw only the first case."""
    first = np.array([[0, 1, 1, 2], [0, 1, 2, 2], [0, 1, 1, -1]])
    second = np.array([[0, 0, 0, 1], [0, 0, 0, 1], [-1, -1, -1, -1]])
    return np.stack([first, second])[:, :, None, :]


def test_summary_counts_cases_raters_and_labels(labels):
    found = multirater.info(multirater.dataset_from_arrays(labels))
    assert found.summary["cases"] == 2
    assert found.summary["raters"] == 3
    assert found.summary["labels"] == 5
    assert found.summary["classes"] == "background, class 1, class 2"


def test_raters_have_class_shares_of_what_they_labelled(labels):
    found = multirater.info(multirater.dataset_from_arrays(labels))
    assert found.raters["cases"].tolist() == [2, 2, 1]
    assert found.raters.loc["rater 3", "class 1"] == pytest.approx(2 / 3)
    shares = found.raters[["background", "class 1", "class 2"]]
    assert shares.sum(axis=1).tolist() == pytest.approx([1, 1, 1])


def test_raters_have_quality_and_what_the_study_says_of_them(labels):
    data = multirater.dataset_from_arrays(labels, raters=["a", "b", "c"])
    data = replace(data, rater_info={"a": {"group": "expert"}, "b": {}})
    raters = multirater.info(data).raters
    first = ["group", "cases", "quality", "quality_low", "quality_high", "rank"]
    assert list(raters.columns[:6]) == first
    assert raters["group"].tolist() == ["expert", "", ""]
    assert raters["quality"].between(0, 1).all()
    assert "quality" not in multirater.info(multirater.choose_raters(data, ["a"])).raters


def test_disagreement_is_one_minus_the_mean_dice_of_pairs(labels):
    found = multirater.info(multirater.dataset_from_arrays(labels))
    # Pairs of the first case have Dice 2/3, 1 (of what both labelled) and 1/3.
    assert found.cases["disagreement"].tolist() == pytest.approx([1 / 3, 0.0])


def test_one_rater_has_no_disagreement(labels):
    found = multirater.info(multirater.dataset_from_arrays(labels[:, :1]))
    assert found.cases["disagreement"].isna().all()


def test_unlabelled_cases_are_counted(labels):
    labels[1] = -1
    found = multirater.info(multirater.dataset_from_arrays(labels))
    assert found.summary["cases without label"] == 1


def test_spacing_is_in_pixels_where_no_millimetres_are_known(labels, tmp_path):
    found = multirater.info(multirater.dataset_from_arrays(labels))
    assert found.summary["spacing"] == "1 x 1 px (2)"
    place = Geometry((0.5, 2.0), (0.0, 0.0), Geometry.default(2).direction)
    for rater in ("anna", "bert"):
        target = tmp_path / "raters" / rater / "p1.nrrd"
        target.parent.mkdir(parents=True)
        write_image(Image(np.eye(4, dtype=np.uint8)[None], place), target)
    found = multirater.info(multirater.read_dataset(tmp_path))
    assert found.summary["spacing"] == "0.5 x 2 mm (1)"


@pytest.mark.parametrize("name", ["quality", "rank", "cases", "rater", "quality_low"])
def test_classes_and_columns_called_as_those_of_the_table(name):
    said = np.array([[0, 1, 1], [1, 1, 1], [0, 0, 1], [1, 0, 1]])
    classes = Classes((LabelClass(name), LabelClass("other")))
    data = multirater.dataset_from_arrays(said, raters=["a", "b", "c"], classes=classes)
    data = replace(data, rater_info={"a": {name: "1", "group": "x"}})
    raters = multirater.info(data).raters
    assert raters.columns.is_unique
    assert raters[f'"{name}"'].tolist() == pytest.approx([0.5, 0.5, 0.0])
    assert raters["cases"].tolist() == [4, 4, 4]
