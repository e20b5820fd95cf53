from argparse import Namespace

import numpy as np

import mrprism_fundus
from grid import key_of
from mrprism_fundus_data import GLAUCOMA, RATERS, fundus
from multirater.training.methods import METHODS
from multirater.training.options import checked_options


def test_every_run_is_there_once_and_can_be_built():
    jobs = mrprism_fundus.all_jobs(quick=False)
    assert len({key_of(job) for job in jobs}) == len(jobs)
    for job in jobs:
        config = mrprism_fundus.config_of(job)
        checked_options(METHODS["masks"][config.method].options, config.options, config.method)


def test_the_diagnosis_follows_from_the_true_cup_and_raters_differ_about_it():
    data = fundus(12, 4, seed=0)
    assert [case.name.split("-")[0] for case in data.split("test")] == ["same", "other"] * 2
    for case in data:
        truth = case.read_truth().array
        height = [(truth >= part).any(1).sum() for part in (2, 1)]
        ratio = height[0] / height[1]
        if abs(ratio - GLAUCOMA) > 0.1:
            assert case.diagnosis == ("glaucoma" if ratio > GLAUCOMA else "healthy")
    cups = {
        rater: np.mean([(case.read_label(rater).array == 2).sum() for case in data])
        for rater in RATERS
    }
    assert cups["narrow"] < 0.8 * cups["careful"] < cups["careful"] < 0.8 * cups["wide"]


def test_the_report_has_every_method(tmp_path):
    jobs = mrprism_fundus.all_jobs(quick=False)
    columns = [
        f"{part}, {camera} camera" for part in ("disc", "cup") for camera in ("same", "other")
    ]
    result = dict.fromkeys(columns, 0.8)
    records = [{"job": job, "result": result, "seconds": 1.0, "commit": "abc"} for job in jobs]
    told = Namespace(results=tmp_path / "mrprism_fundus.jsonl", quick=False)
    text = mrprism_fundus.write_report(records, len(jobs), told).read_text()
    assert "| beal | 80.0 ± 0.0 | 80.0 ± 0.0 | 80.0 ± 0.0 | 80.0 ± 0.0 | 3 | 94.84, 84.92 |" in text
    assert all(f"| {name} |" in text for name in mrprism_fundus.METHODS)
