from argparse import Namespace

import numpy as np
import pytest

import mrprism
from grid import key_of
from mrprism_report import write_report
from multirater.training.methods import METHODS
from multirater.training.options import checked_options

TINY = mrprism.Sizes(epochs=1, seeds=1, folds=1, digits=(8, 3))


@pytest.fixture(autouse=True)
def brain(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    masks = np.zeros((39, 7, 32, 32), dtype=bool)
    masks[:, :, 8:20, 8:20] = True
    masks[:, 1, 8:24] = True
    images = rng.normal(size=(39, 32, 32)) + masks[:, 0]
    np.savez(tmp_path / "qubiq_brain_growth_39x7.npz", images=images, masks=masks)
    monkeypatch.setenv(mrprism.DATA, str(tmp_path))


@pytest.mark.parametrize("sizes", [mrprism.FULL, mrprism.QUICK])
def test_every_run_is_there_once_and_can_be_built(sizes):
    jobs = mrprism.all_jobs(sizes)
    assert len({key_of(job) for job in jobs}) == len(jobs)
    for job in jobs:
        config = mrprism.config_of(job)
        method = METHODS["masks"][config.method]
        checked_options(method.options, config.options, config.method)


def test_folds_test_every_slice_once():
    tested = [mrprism.test_cases(f"fold {number}", 39) for number in range(5)]
    assert sorted(each for part in tested for each in part) == list(range(39))
    assert len(mrprism.test_cases("seed 1", 39)) == 5


def fake(job):
    if "fused" in job:
        return {"fusion prism, y_fuse": 0.75, "fusion prism, y_self": 0.7}
    n_steps = 4 if job["method"].startswith("prism") else 1
    found = {
        "soft Dice": 0.8,
        "steps": [0.8] * n_steps,
        "raters": [[0.7] * n_steps] * 7,
        "nll": 0.1,
        "epoch": 1,
    }
    if job["data"] == "digits":
        found |= {"skill": [0.1, 0.5, 0.9], "confidence": [0.2, 0.3, 0.8]}
    if job["method"] in mrprism.FUSIONS:
        found[f"fusion {job['method']}"] = 0.85
    if "scored" in job:
        found["last"] = 0.9
    return found


def test_the_report_has_all_tables(tmp_path):
    jobs = mrprism.all_jobs(mrprism.FULL)
    records = [{"job": job, "result": fake(job), "seconds": 1.0, "commit": "abc"} for job in jobs]
    path = write_report(
        records, len(jobs), Namespace(results=tmp_path / "mrprism.jsonl", quick=False)
    )
    text = path.read_text()
    for title in ("Table 1", "Table 2", "Table 3", "Table 4", "Fig. 4", "Simulated raters"):
        assert title in text
    assert "| prism, as printed | 80.00 ± 0.00 | 90.00 ± 0.00 | 3 | 89.58 |" in text
    assert "| prism, y_fuse | 75.00 ± 0.00 | - | 75.00 ± 0.00 | 89.70 |" in text
    assert "| prism, recurrence 3 | 80.00 ± 0.00 | 80.00 ± 0.00 | 85.52 |" in text
    assert "| prism | 80.00 ± 0.00 | 80.00, 80.00, 80.00, 80.00 | 1.00 ± 0.00 |" in text


def test_a_run_measures_what_the_tables_show():
    job = {"data": "brain", "method": "prism", "split": "seed 0", "epochs": 1}
    found = mrprism.work(job)
    assert len(found["steps"]) == 4
    assert np.shape(found["raters"]) == (7, 4)
    assert 0 <= found["fusion prism"] <= 1


def test_an_ablation_is_scored_at_the_best_epoch_and_at_the_last():
    name = "prism, as printed, confidences learn from shuffling"
    job = {"data": "brain", "method": name, "split": "seed 0", "epochs": 2, "scored": mrprism.BOTH}
    assert mrprism.config_of(job).options["shuffled"] == "learning"
    assert 0 <= mrprism.work(job)["last"] <= 1


def test_equations_of_fusion_take_no_prior_and_y_self_no_labels():
    job = {"data": "brain", "method": "prism", "split": "seed 0", "epochs": 1, "fused": "eq. 4, 5"}
    found = mrprism.work(job)
    assert set(found) == {"fusion prism, y_fuse", "fusion prism, y_self"}
    assert found["fusion prism, y_fuse"] > found["fusion prism, y_self"]
