from argparse import Namespace

import numpy as np

import adjudication
from multirater import dataset_from_arrays


def test_the_most_disputed_cases_are_decided():
    labels = np.zeros((20, 2, 6, 6), dtype=np.int16)
    labels[:, :, 1:4, 1:4] = 1
    labels[7, 1] = 1
    data = dataset_from_arrays(labels, truths=labels[:, 0])
    found = adjudication.with_disputed_decided(data, 0.05)
    assert [number for number, case in enumerate(found) if case.gold is not None] == [7]
    assert np.array_equal(adjudication._fused(found)[7], labels[7, 0])


def test_the_report_counts_where_it_is_level(tmp_path, monkeypatch):
    monkeypatch.setattr(adjudication, "RESULTS", tmp_path)
    values = dict.fromkeys(adjudication.COLUMNS, 0.5)
    records = [
        {"job": job, "result": {**values, adjudication.GOLD: 0.6}, "seconds": 1.0, "commit": "c"}
        for job in adjudication.all_jobs([1])
    ]
    records[0]["result"][adjudication.GOLD] = 0.4
    path = adjudication.write_report(records, len(records), Namespace(quick=False))
    text = path.read_text()
    assert "not below zero in 11 of 12 regimes" in text
    assert "not below zero in 6 of 6 regimes" in text
