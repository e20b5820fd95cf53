import pytest

import coarse
from coarse_report import write_report
from grid import as_table
from multirater.simulate import COARSE_RATIOS

TINY = coarse.Sizes(8, 4, 3, 1, 2, (1.0, 0.01), 1, 1)


def test_jobs_are_distinct_and_cover_the_tables():
    jobs = coarse.all_jobs(coarse.FULL, with_chase=True)
    assert len({tuple(job.values()) for job in jobs}) == len(jobs)
    digits = [job for job in jobs if job["data"] == "digits" and job["seed"] == 2]
    for method in coarse.METHODS:
        assert {job["ratio"] for job in digits if job["method"] == method} == set(COARSE_RATIOS)
    assert sum(job["masks"] == 400 and job["drawn"] == 200 for job in digits) == 1
    assert {job["method"] for job in jobs if job["data"] == "CHASE_DB1"} >= {"truth", "coarse"}


def test_digits_have_masks_or_drawings_and_seeds_differ():
    data = coarse.digits(0.3, 1.0, 4, 6, 5, 1)
    train, test = data.split("train"), data.split("test")
    assert [bool(case.labels) for case in train] == [True] * 4 + [False] * 6
    assert [len(case.drawings) for case in train] == [0] * 4 + [2] * 6
    assert len(test) == 5
    other = coarse.digits(0.3, 1.0, 4, 6, 5, 2)
    names = {case.name for case in train}
    assert not names & {case.name for case in other.split("train")}


@pytest.mark.parametrize("method", ["coarse", "truth"])
def test_a_run_gives_a_score(method):
    job = coarse.digit_job(TINY, method, 0)
    assert 0 <= coarse.work(job)["mIoU"] <= 1


def test_the_report_has_every_table(tmp_path):
    from grid import grid_arguments

    jobs = coarse.all_jobs(TINY, with_chase=True)
    records = []
    for number, job in enumerate(jobs):
        names = (
            ["mIoU"] if job["data"] == "digits" else ["mIoU, 1st observer", "mIoU, 2nd observer"]
        )
        result = dict.fromkeys(names, 0.5 + 0.001 * number)
        records.append({"job": job, "result": result, "seconds": 1.0, "commit": "abc"})
    arguments = grid_arguments("", "coarse", ["--results", str(tmp_path / "coarse.jsonl")])
    text = write_report(records, len(jobs), arguments).read_text()
    for title in ("Tables 1 and 2", "Table 3", "Sweep", "CHASE_DB1"):
        assert title in text
    table = as_table(records)
    masks = table[(table["data"] == "digits") & (table["method"] == "truth")]["mIoU"].mean()
    assert f"| masks | 8 | 0 | {100 * masks:.2f}" in text
    assert write_report([], len(jobs), arguments).read_text().startswith("# Coarse")
