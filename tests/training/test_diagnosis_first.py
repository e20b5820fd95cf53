from dataclasses import replace

import numpy as np
import pytest
import torch

from multirater.errors import InputError
from multirater.io import dataset_from_arrays
from multirater.training.diagnosis_first import on_diagnosis_first
from multirater.training.methods import METHODS

RATERS = ("exact", "random", "another")
RATER = "diagnosis-first"


def study(n_cases=32, seed=0):
    """Discs that are large in the ill; two raters draw any size, one what is there."""
    rng = np.random.default_rng(seed)
    is_ill = np.arange(n_cases) % 2 == 1
    labels = np.zeros((n_cases, 3, 24, 24), dtype=int)
    row, column = np.mgrid[:24, :24] - 11.5
    for number, ill in enumerate(is_ill):
        sizes = [9 if ill else 5, *rng.choice([5, 9], 2)]
        for rater, size in enumerate(sizes):
            labels[number, rater] = np.hypot(row, column) < size
    images = rng.normal(size=(n_cases, 1, 24, 24)).astype(np.float32)
    return dataset_from_arrays(
        labels,
        images=images,
        raters=RATERS,
        truths=labels[:, 0],
        splits=["train"] * (n_cases - 8) + ["val"] * 4 + ["test"] * 4,
        diagnoses=["ill" if ill else "well" for ill in is_ill],
    )


def right(data, rater):
    """Share of the cases to train on whose fused label is the exact one."""
    return np.mean(
        [
            np.array_equal(case.read_label(rater).array, case.read_truth().array)
            for case in data
            if case.split == "train"
        ]
    )


def test_whoever_draws_what_the_diagnosis_follows_from_is_followed():
    data = study()
    before = torch.random.get_rng_state()
    found = on_diagnosis_first(data, steps=120)
    assert torch.equal(before, torch.random.get_rng_state())
    assert found.raters == (RATER,)
    vote = METHODS["masks"]["mode"].prepare(data)
    assert right(found, RATER) > max(0.9, right(vote, "majority-vote"))


def test_the_same_labels_are_fused_alike_whatever_was_drawn_before():
    data = study()
    first = on_diagnosis_first(data, steps=5)
    torch.rand(3)
    for one, other in zip(first, on_diagnosis_first(data, steps=5), strict=True):
        if one.labels:
            assert np.array_equal(one.read_label(RATER).array, other.read_label(RATER).array)


def test_cases_without_a_diagnosis_are_fused_too_and_missing_labels_stay_missing():
    data = study()
    cases = list(data.cases)
    cases[0] = replace(cases[0], diagnosis="", labels={"another": cases[0].labels["another"]})
    found = on_diagnosis_first(replace(data, cases=tuple(cases)), steps=2)
    alone = cases[0].read_label("another").array
    assert np.array_equal(found[0].read_label(RATER).array, alone)
    assert [bool(case.labels) for case in found][-5:] == [True] + [False] * 4  # val, test


def test_a_study_without_diagnoses_is_refused():
    data = study()
    without = replace(data, cases=tuple(replace(case, diagnosis="") for case in data))
    with pytest.raises(InputError, match="column `diagnosis`"):
        on_diagnosis_first(without, steps=2)
    alike = replace(data, cases=tuple(replace(case, diagnosis="ill") for case in data))
    with pytest.raises(InputError, match="all cases to train on have the diagnosis 'ill'"):
        on_diagnosis_first(alike, steps=2)
