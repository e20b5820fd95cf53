from argparse import Namespace

import numpy as np
import pytest

import zhang2020
from grid import key_of
from zhang2020_report import write_report

TINY = zhang2020.Sizes(8, 4, 1, 1, 2, (2.0,), 1)


def fake_result(job):
    if "head" in job:
        return {"values": 0.0, "parameters": 1.0, "flops": 2.0, "bytes": 3.0}
    return {
        "Dice": 0.5 + 0.1 * job["seed"],
        "CM RMSE": 0.2,
        "energy distance (Dice)": 0.3,
        "energy distance (IoU)": 0.4,
        "true positives": 0.9 if job["seed"] else 0.05,
        "false positives": 0.01,
        "rater Dice": 0.6,
    }


def fake_records(jobs):
    return [
        {"job": dict(job), "result": fake_result(job), "seconds": 60.0, "commit": "abc1234"}
        for job in jobs
    ]


@pytest.mark.parametrize("sizes", [zhang2020.FULL, zhang2020.QUICK])
def test_every_run_is_there_once(sizes):
    jobs = zhang2020.all_jobs(sizes)
    assert len({key_of(job) for job in jobs}) == len(jobs)
    dense = {job["method"] for job in jobs if job.get("supply") == "dense"}
    assert dense == set(zhang2020.METHODS)
    of_cm = [job for job in jobs if job.get("method") == "pixel CMs" and job["strength"] == 1.0]
    of_cm = [job for job in of_cm if job["data"] == "digit" and job["supply"] == "one"]
    assert len(of_cm) == sizes.many_seeds


@pytest.mark.parametrize(
    ("method", "supply", "data"),
    [
        ("pixel CMs", "one", "digit"),
        ("mode labels", "dense", "digit"),
        ("pixel CMs", "dense", "bands"),
    ],
)
def test_a_run_measures_what_the_tables_show(method, supply, data):
    found = zhang2020.work(zhang2020.training_job(TINY, method, supply, 0, data=data))
    assert {"Dice", "CM RMSE", "energy distance (Dice)", "true positives"} <= set(found)
    assert all(np.isfinite(value) for value in found.values())


def test_one_label_per_training_digit_and_all_for_testing():
    data = zhang2020.simulated("digit", 6, 3, "one", 1.0, 0)
    assert [len(case.labels) for case in data] == [1] * 6 + [5] * 3
    label = next(iter(data[0].labels.values()))
    assert label.read() is label.read()


def test_bands_cover_the_digit_from_top_to_bottom():
    mask = np.zeros((8, 4), dtype=int)
    mask[1:7, 1:3] = 1
    found = zhang2020.banded(mask)
    assert found[:, 1].tolist() == [0, 1, 1, 2, 2, 3, 3, 0]
    assert ((found > 0) == (mask > 0)).all()


def test_low_rank_matrices_grow_slower():
    small, large = (
        {head: zhang2020.growth(head, n) for head in ("pixel", "low-rank")} for n in (8, 32)
    )
    for measure in ("values", "parameters", "flops", "bytes"):
        growth = {head: large[head][measure] / small[head][measure] for head in small}
        assert growth["low-rank"] < 5  # linear: 4
        assert growth["pixel"] < 5 if measure == "bytes" else growth["pixel"] > 10  # quadratic: 16


def test_the_report_shows_all_tables(tmp_path):
    jobs = zhang2020.all_jobs(TINY)
    arguments = Namespace(results=tmp_path / "zhang2020.jsonl", quick=False)
    text = write_report(fake_records(jobs), len(jobs), arguments).read_text(encoding="utf-8")
    for title in ("Tables 1 and 2", "Table 3", "Fig. 4", "Table 6", "Fig. 16", "Seeds"):
        assert f"## {title}" in text
    assert "abc1234" in text
    assert "| pixel CMs | 50.0 | 82.92 | 0.200 | 0.0893 | 60 |" in text
    assert "| dense | 2 | 55.0 ± 7.1 | 50.0 | 60.0 | 1 | 0 |" in text


def test_the_report_of_an_unfinished_benchmark(tmp_path):
    jobs = zhang2020.all_jobs(TINY)
    arguments = Namespace(results=tmp_path / "zhang2020.jsonl", quick=True)
    text = write_report(fake_records(jobs[:3]), len(jobs), arguments).read_text(encoding="utf-8")
    assert f"3 of {len(jobs)} runs, " in text
