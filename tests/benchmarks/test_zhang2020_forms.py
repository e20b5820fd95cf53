from argparse import Namespace

import pytest

import zhang2020_forms
from grid import key_of
from multirater.training import TrainConfig


@pytest.mark.parametrize("sizes", [zhang2020_forms.FULL, zhang2020_forms.QUICK])
def test_every_run_is_there_once_and_its_settings_can_be_had(sizes):
    jobs = zhang2020_forms.all_jobs(sizes)
    assert len({key_of(job) for job in jobs}) == len(jobs)
    for job in jobs:
        TrainConfig(**zhang2020_forms.settings_of(job))


def test_a_run_measures_what_the_tables_show(tmp_path, monkeypatch):
    monkeypatch.setitem(zhang2020_forms.UNET, "channels", (4, 8))
    job = {"part": "forms", "name": "product, rank 2", "supply": "dense", "seed": 0}
    job |= {"strength": 1.0, "n_train": 8, "n_test": 4, "epochs": 1}
    found = zhang2020_forms.work(job)
    assert 0 <= found["Dice"] <= 1
    assert -1 <= found["consensus Pearson"] <= 1
    assert any(name.startswith("Dice, consensus ") for name in found)
    assert len(found["curve"]) == 1
    table = {**job, "part": "tables", "name": "pixel CMs"}
    records = [
        {"job": each, "result": found, "seconds": 1.0, "commit": "abc"} for each in (job, table)
    ]
    arguments = Namespace(results=tmp_path / "forms.jsonl", quick=False)
    text = zhang2020_forms.write_report(records, 2, arguments).read_text()
    for title in ("in the place of Table 6", "Tables 1 and 2", "Fig. 14 and 15"):
        assert title in text
