from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from multirater.io import dataset_from_arrays, survey
from multirater.sanity import study_findings
from multirater.training.fingerprint import fingerprint


def with_splits(*names):
    drawn = np.zeros((len(names), 2, 8, 8), dtype=int)
    drawn[:, 0, 2:5, 2:6] = drawn[:, 1, 2:6, 2:6] = 1
    data = dataset_from_arrays(drawn, images=np.ones((len(names), 1, 8, 8)))
    cases = [replace(case, split=name) for case, name in zip(data, names, strict=True)]
    return survey(replace(data, cases=tuple(cases)))


def codes(found):
    return {
        each.code: each.numbers["cases"] for each in study_findings(found) if "split" in each.code
    }


@pytest.mark.parametrize("name", ["Train", "training", "Validation", "TEST", "Val"])
def test_names_that_nearly_are_those_of_training(name):
    assert codes(with_splits("train", name, name)) == {"split-name": 2}


@pytest.mark.parametrize(
    "names", [("train", "val", "test"), ("train", "validation", "fold 1"), ("", ""), ("", "test")]
)
def test_usual_names_and_names_of_ones_own_are_nothing_odd(names):
    assert codes(with_splits(*names)) == {}


def test_cases_without_a_split_beside_train_are_told_and_not_counted():
    found = with_splits("train", "", "", "val")
    assert codes(found) == {"without-split": 2}
    assert fingerprint(found).n_cases == 2
