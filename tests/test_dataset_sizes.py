"""Areas and volumes of raters."""

import numpy as np
import pytest

import multirater
from multirater.io import survey
from multirater.metrics import bland_altman


def test_areas_of_pairs_and_of_rater_and_truth(rng):
    masks = (rng.random((6, 2, 10, 10)) < rng.random((6, 2, 1, 1))).astype(int)
    truth = (rng.random((6, 10, 10)) < 0.5).astype(int)
    data = multirater.dataset_from_arrays(masks, truths=truth, raters=["a", "b"], spacing=(2, 0.5))
    found = multirater.agreement(data).sizes.set_index(["rater a", "rater b"])
    assert list(found.index) == [("a", "b"), ("a", "(truth)"), ("b", "(truth)")]
    areas = masks.sum((2, 3)) * 1.0  # 2 mm x 0.5 mm
    row = found.loc[("b", "(truth)")]
    expected = bland_altman(areas[:, 1], truth.sum((1, 2)))
    assert row["bias"] == pytest.approx(expected.bias)
    assert (row["lower"], row["upper"]) == pytest.approx((expected.lower, expected.upper))
    assert (row["unit"], row["cases"]) == ("mm²", 6)
    assert found.loc[("a", "b"), "mean a"] == pytest.approx(areas[:, 0].mean())


def test_volumes_by_class_in_cubic_millimetres(rng):
    labels = rng.integers(3, size=(3, 2, 4, 5, 6))
    labels[2, 1] = -1  # missing is no size
    data = multirater.dataset_from_arrays(labels, spacing=(3.0, 1.0, 0.5))
    found = multirater.agreement(data).sizes.set_index("class")
    both = labels[:2]
    bias = np.mean([(c[0] == 2).sum() - (c[1] == 2).sum() for c in both]) * 1.5
    assert found.loc["class 2", "bias"] == pytest.approx(bias)
    assert found.loc["class 2", "unit"] == "mm³"
    assert found["cases"].tolist() == [2, 2, 2]


def test_pixels_where_files_tell_no_millimetres(rng):
    data = multirater.dataset_from_arrays((rng.random((3, 2, 8, 8)) < 0.5).astype(int))
    assert set(multirater.agreement(survey(data)).sizes["unit"]) == {"px"}


def test_class_labels_have_no_size(rng):
    data = multirater.dataset_from_arrays(rng.integers(2, size=(20, 3)))
    assert not len(multirater.agreement(data).sizes)


def test_pixels_that_one_of_two_did_not_label_are_no_background(rng):
    labels = rng.integers(3, size=(5, 2, 8, 10))
    labels[:3, 1, :, 5:] = -1  # b looked at a half of three images, and at another half of one
    labels[3, 0, :4], labels[3, 1, 4:] = -1, -1  # of which a looked at the rest
    truth = rng.integers(3, size=(5, 8, 10))
    data = multirater.dataset_from_arrays(labels, truths=truth, raters=["a", "b"], spacing=(2, 3))
    found = multirater.agreement(data).sizes.set_index(["rater a", "rater b", "class"])
    row = found.loc[("a", "b", "class 2")]
    both = [(a[(a >= 0) & (b >= 0)], b[(a >= 0) & (b >= 0)]) for a, b in labels[[0, 1, 2, 4]]]
    assert row["cases"] == 4
    assert row["mean a"] == pytest.approx(6 * np.mean([(a == 2).sum() for a, _ in both]))
    assert row["mean b"] == pytest.approx(6 * np.mean([(b == 2).sum() for _, b in both]))
    assert found.loc[("b", "(truth)", "all"), "cases"] == 1
    assert found.loc[("a", "(truth)", "all"), "cases"] == 4
