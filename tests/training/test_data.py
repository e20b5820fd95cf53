import os
from dataclasses import replace

import pytest

from multirater.training.config import TrainConfig
from multirater.training.data import SampleDataset, decoded_cases, n_readers


@pytest.mark.parametrize(("asked", "started"), [(0, 0), (1, 1), (3, 3), (1024, 4)])
def test_a_run_of_somebody_else_cannot_start_thousands_of_processes(asked, started, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert n_readers(TrainConfig(workers=asked)) == started


def test_cases_of_a_patient_count_as_one_where_raters_are_weighed(data):
    patients = ["anna", "", "anna", ""]
    cases = [replace(case, patient=who) for case, who in zip(data, patients, strict=False)]
    config = TrainConfig(method="cm")
    decoded = decoded_cases(replace(data, cases=tuple(cases)), config, with_truth=False)
    assert SampleDataset(cases, decoded, config, training=True).groups == [0, 1, 0, 2]
