from argparse import Namespace

import numpy as np
import pytest

import zhang2020_studies
from grid import key_of


@pytest.fixture(autouse=True)
def brain(monkeypatch):
    """A bright ball in the place of the template."""
    rows, columns = np.mgrid[-1:1:40j, -1:1:40j]
    plane = (np.hypot(rows, columns) < 0.9).astype(np.float32) * 0.7
    monkeypatch.setattr(zhang2020_studies, "template", lambda: np.repeat(plane[None], 9, axis=0))
    zhang2020_studies.study_of.cache_clear()


def test_every_run_is_there_once():
    jobs = zhang2020_studies.all_jobs(zhang2020_studies.FULL)
    assert len({key_of(job) for job in jobs}) == len(jobs)
    assert not any(job["method"] == "oracle" for job in jobs if job["study"] == "QUBIQ")


@pytest.mark.parametrize(
    ("kind", "classes"), [("MS stand-in", {0, 1}), ("BraTS stand-in", {0, 1, 2, 3})]
)
def test_stand_ins_have_lesions_that_raters_draw_in_their_way(kind, classes):
    data = zhang2020_studies.lesion_study(kind, 3, 2, 0)
    assert {int(k) for case in data for k in np.unique(case.read_truth().array)} == classes
    assert len(data.split("test")) == 2
    truth = data[0].read_truth().array
    assert (data[0].read_label("over").array > 0).sum() > (truth > 0).sum() * 0.9


def test_a_run_is_measured_and_reported(tmp_path, monkeypatch):
    monkeypatch.setitem(zhang2020_studies.NETWORK, "channels", (4, 8))
    job = {"study": "MS stand-in", "method": "pixel CMs", "seed": 0}
    job |= {"epochs": 1, "n_train": 4, "n_test": 2}
    found = zhang2020_studies.work(job)
    assert 0 <= found["Dice with raters"] <= 1
    assert "energy distance (Dice)" in found
    records = [{"job": job, "result": found, "seconds": 1.0, "commit": "abc"}]
    arguments = Namespace(results=tmp_path / "studies.jsonl", quick=True)
    assert "| pixel CMs |" in zhang2020_studies.write_report(records, 1, arguments).read_text()
