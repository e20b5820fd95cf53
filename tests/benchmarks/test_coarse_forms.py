from argparse import Namespace

import pytest

import coarse_forms
from grid import key_of
from multirater.training.methods import METHODS
from multirater.training.options import checked_options

TINY = coarse_forms.Sizes(6, 3, 1, 1, (0.0, 4.0), ("textures", "four classes"), 1)


@pytest.mark.parametrize("sizes", [coarse_forms.FULL, coarse_forms.QUICK])
def test_every_run_is_there_once_and_can_be_built(sizes):
    jobs = coarse_forms.all_jobs(sizes, with_chase=True)
    assert len({key_of(job) for job in jobs}) == len(jobs)
    for form in coarse_forms.FORMS.values():
        method = METHODS["masks"][form["method"]]
        checked_options(method.options, form.get("options", {}), form["method"])


@pytest.mark.parametrize(
    "form", ["coarse, as printed", "coarse, as printed, positive drawings alone"]
)
def test_a_run_gives_a_score(form):
    job = {"data": "four classes", "form": form, "noise": 1.0, "ratio": 1.0, "seed": 0}
    found = coarse_forms.work({**job, "n_train": 6, "n_test": 3, "epochs": 1})
    assert 0 <= found["mIoU"] <= 1


def test_the_report_has_every_table(tmp_path):
    jobs = coarse_forms.all_jobs(TINY, with_chase=True)
    records = [
        {
            "job": job,
            "result": {"mIoU, 1st observer" if job["data"] == "CHASE_DB1" else "mIoU": 0.5},
            "seconds": 1.0,
            "commit": "abc",
        }
        for job in jobs
    ]
    arguments = Namespace(results=tmp_path / "forms.jsonl", quick=False)
    text = coarse_forms.write_report(records, len(jobs), arguments).read_text()
    for title in ("Forms, each", "Noise of the drawings", "CHASE_DB1"):
        assert title in text
    assert "| coarse, transition=learned | 50.0 | 50.0 |" in text
    assert coarse_forms.write_report([], 1, arguments).read_text().startswith("# The Coarse")
