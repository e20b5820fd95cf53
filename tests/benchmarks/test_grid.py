import importlib
import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pandas as pd
import pytest

import grid
from grid import as_table, grid_arguments, markdown, mean_std, read_records, run_grid

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
JOBS = [{"method": "cm", "seed": seed} for seed in range(4)]

WORKER = """
    import os
    from pathlib import Path

    def work(job):
        here = Path(__file__).parent
        with (here / "runs.txt").open("a") as stream:
            stream.write(f"{job['seed']}\\n")
        if job["seed"] == 1 and (here / "fails").exists():
            raise ValueError("seed one fails")
        if job["seed"] == 2 and (here / "dies").exists():
            os._exit(9)
        return {"Dice": job["seed"] / 10, "threads": os.environ["OMP_NUM_THREADS"]}
"""


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A worker in a module that the processes can import."""
    name = f"grid_worker_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(textwrap.dedent(WORKER))
    monkeypatch.syspath_prepend(tmp_path)
    return __import__(name).work


def runs(tmp_path):
    return sorted(map(int, (tmp_path / "runs.txt").read_text().split()))


def test_results_come_in_the_order_of_the_jobs(work, tmp_path):
    records = run_grid(work, JOBS, tmp_path / "new" / "results.jsonl")
    assert [record["job"] for record in records] == JOBS
    assert as_table(records)["Dice"].tolist() == [0.0, 0.1, 0.2, 0.3]
    assert {record["result"]["threads"] for record in records} == {"1"}


def test_jobs_with_a_result_are_not_run_again(work, tmp_path):
    run_grid(work, JOBS[:2], tmp_path / "results.jsonl", processes=1)
    with (tmp_path / "results.jsonl").open("a") as stream:
        stream.write('{"job": {"method": "cm", "seed": 3}, "resu')  # the plug was pulled
    turned = [dict(reversed(job.items())) for job in JOBS]
    assert len(run_grid(work, turned, tmp_path / "results.jsonl", processes=1)) == 4
    assert runs(tmp_path) == [0, 1, 2, 3]


@pytest.mark.parametrize("how", ["fails", "dies"])
def test_a_failing_job_does_not_lose_the_others(work, tmp_path, how, capsys):
    (tmp_path / how).touch()
    records = run_grid(work, JOBS, tmp_path / "results.jsonl", processes=1)
    lost = {"fails": 1, "dies": 2}[how]
    assert [record["job"]["seed"] for record in records] == sorted({0, 1, 2, 3} - {lost})
    lines = (tmp_path / "results.jsonl").read_text().splitlines()
    errors = [json.loads(line) for line in lines if "error" in json.loads(line)]
    assert [error["job"]["seed"] for error in errors] == [lost]
    assert "File" not in errors[0]["error"]
    assert "failed" in capsys.readouterr().err
    (tmp_path / how).unlink()
    assert len(run_grid(work, JOBS, tmp_path / "results.jsonl", processes=1)) == 4


def test_no_file_holds_no_record(tmp_path):
    assert read_records(tmp_path / "none.jsonl") == []


def test_tables_are_mean_and_deviation_over_seeds():
    table = pd.DataFrame(
        {
            "method": ["mode", "mode", "cm", "cm", "cm"],
            "supply": ["one", "one", "one", "dense", "dense"],
            "Dice": [0.1, 0.3, 0.5, 0.8, None],
        }
    )
    found = mean_std(table, "method", "supply", "Dice", digits=1, scale=100)
    assert markdown(found).splitlines() == [
        "| method | one | dense |",
        "| --- | --- | --- |",
        "| mode | 20.0 ± 14.1 | - |",
        "| cm | 50.0 | 80.0 |",
    ]


def test_the_quick_form_has_results_of_its_own():
    quick, full = (grid_arguments("", "name", each) for each in (["--quick"], []))
    assert quick.results != full.results
    assert full.jobs == 2


@pytest.mark.parametrize(
    "name", [path.stem for path in BENCHMARKS.glob("*.py") if "\nif __name__" in path.read_text()]
)
def test_every_benchmark_says_what_it_takes(name, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [f"{name}.py", "--help"])
    with pytest.raises(SystemExit) as end:
        importlib.import_module(name).main()
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: {name}.py")


def test_the_commit_of_a_run_is_marked_by_changed_code_and_not_by_results(tmp_path, monkeypatch):
    (tmp_path / "results").mkdir()
    for name in ("grid.py", "results/table.md"):
        (tmp_path / name).write_text("as committed")
    monkeypatch.setattr(grid, "__file__", str(tmp_path / "grid.py"))
    monkeypatch.setattr(grid, "RESULTS", tmp_path / "results")
    assert grid.current_commit() == "unknown"
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True)
    commit = grid.current_commit()
    (tmp_path / "results" / "table.md").write_text("another table")
    assert grid.current_commit() == commit
    assert not commit.endswith("+")
    (tmp_path / "grid.py").write_text("other code")
    assert grid.current_commit() == commit + "+"
