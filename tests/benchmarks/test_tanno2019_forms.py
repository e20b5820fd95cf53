from argparse import Namespace

import pytest

import tanno2019_forms
from grid import key_of
from multirater import RaterClassifier
from multirater.simulate import cifar10_raters_cm
from multirater.training.methods import METHODS
from multirater.training.options import checked_options
from tanno2019 import FULL, QUICK


@pytest.mark.parametrize("sizes", [FULL, QUICK])
def test_every_run_is_there_once_and_its_options_are_known(sizes):
    jobs = tanno2019_forms.all_jobs(sizes)
    assert len({key_of(job) for job in jobs}) == len(jobs)
    for job in jobs:
        settings = tanno2019_forms.settings_of(job)
        RaterClassifier(**settings)
        method = METHODS["classes"][settings["method"]]
        options = settings["settings"].get("options", {})
        checked_options(method.options, options, settings["method"])


def test_the_report_has_every_table_and_the_figure(tmp_path):
    jobs = tanno2019_forms.all_jobs(QUICK)
    result = {"accuracy": 0.5, "rater accuracy": 0.45, "CM error": 0.1}
    records = [
        {
            "job": job,
            "result": {**result, "matrices": cifar10_raters_cm().tolist()}
            if job["part"] == "2"
            else result,
            "seconds": 1.0,
            "commit": "abc",
        }
        for job in jobs
    ]
    arguments = Namespace(results=tmp_path / "forms.jsonl", quick=True)
    text = tanno2019_forms.write_report(records, len(jobs), arguments).read_text()
    for title in ("Fig. 3", "Fig. 5: weight", "Fig. 5: rounds", "Fig. 2", "Table 1"):
        assert title in text
    assert "| annotators | 45.0" in text
    assert "| trace | 50.0 | 10.00 | 1 | 1 | 77.65 | 1.22 |" in text
    assert (tmp_path / "tanno2019-cifar10-raters.png").exists()
