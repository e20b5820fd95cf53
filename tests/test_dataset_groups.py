"""Agreement within and between groups of raters."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from sklearn.metrics import f1_score

import multirater
from multirater.dataset_groups import group_columns

INFO = {
    "a": {"group": "expert", "id": "1"},
    "b": {"group": "expert", "id": "2"},
    "c": {"group": "crowd", "id": "3"},
    "d": {"group": "crowd", "id": "4"},
    "e": {"id": "5"},
}
RATERS = list(INFO)


@pytest.fixture
def masks(rng):
    truth = rng.random((7, 1, 12, 12)) < 0.4
    noise = np.array([0.02, 0.02, 0.2, 0.2, 0.1])[:, None, None]
    return (truth ^ (rng.random((7, 5, 12, 12)) < noise)).astype(int)


def measured(labels):
    data = replace(multirater.dataset_from_arrays(labels, raters=RATERS), rater_info=INFO)
    return multirater.agreement(data).groups.set_index(["column", "group a", "group b"])


def mean_dice(masks, pairs):
    return [np.mean([f1_score(m[a].ravel(), m[b].ravel()) for a, b in pairs]) for m in masks]


def test_masks_equal_means_of_single_pairs(masks):
    found = measured(masks)
    experts, crowd = mean_dice(masks, [(0, 1)]), mean_dice(masks, [(2, 3)])
    between = mean_dice(masks, list(product((0, 1), (2, 3))))
    assert found.loc[("group", "expert", "expert"), "Dice"] == pytest.approx(np.mean(experts))
    assert found.loc[("group", "crowd", "crowd"), "Dice"] == pytest.approx(np.mean(crowd))
    row = found.loc[("group", "crowd", "expert")]
    assert row["Dice"] == pytest.approx(np.mean(between))
    gap = np.mean(np.array(between) - (np.array(experts) + np.array(crowd)) / 2)
    assert row["gap"] == pytest.approx(gap)
    assert row["gap_low"] <= gap <= row["gap_high"]
    assert (row["pairs"], row["cases"], row["raters"]) == (4, 7, "2, 2")
    assert len(found) == 3


def test_class_labels_equal_shares_of_single_pairs(rng):
    labels = rng.integers(3, size=(40, 5))
    labels[rng.random((40, 5)) < 0.2] = -1
    found = measured(labels)["percent agreement"]
    for (one, other), name in {((0, 1), (0, 1)): "expert", ((2, 3), (2, 3)): "crowd"}.items():
        pairs = list(combinations(one, 2))
        assert one == other
        assert found["group", name, name] == pytest.approx(_share(labels, pairs))
    between = list(product((0, 1), (2, 3)))
    assert found["group", "crowd", "expert"] == pytest.approx(_share(labels, between))


def _share(labels, pairs):
    values = []
    for case in labels:
        known = [(a, b) for a, b in pairs if case[a] >= 0 and case[b] >= 0]
        if known:
            values.append(np.mean([case[a] == case[b] for a, b in known]))
    return np.mean(values)


def test_columns_that_name_everybody_or_nobody_are_no_groups():
    assert group_columns(RATERS, INFO) == ["group"]
    assert group_columns(["a", "b"], INFO) == []
    assert group_columns(RATERS, {}) == []


def test_a_study_without_groups_has_an_empty_table(masks):
    assert not len(multirater.agreement(multirater.dataset_from_arrays(masks)).groups)
