"""Benchmarks that are a grid of independent runs: run them side by side, keep every result.

A job is a plain dictionary, such as {"method": "cm", "seed": 0}, which is also its name. A worker
function turns a job into a dictionary of numbers. Results are appended to a JSON-lines file as they
come; jobs that are there already are not run again, so that an interrupted benchmark goes on where
it stopped. A job that fails is noted and tried again next time.

    def work(job): return {"Dice": ...}

    if __name__ == "__main__":
        arguments = grid_arguments("What this compares.", "name")
        records = run_grid(work, jobs, arguments.results, processes=arguments.jobs)
        print(markdown(mean_std(as_table(records), "method", "supply", "Dice")))
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd

from multirater.parallel import end_with_parent

Job: TypeAlias = Mapping[str, Any]
"""What to run: keys and plain values, which JSON can hold."""

Record: TypeAlias = dict[str, Any]
"""A line of the file: `job`, then `result` or `error`, `seconds` and `commit`."""

RESULTS = Path(__file__).parent / "results"


def grid_arguments(
    description: str,
    name: str,
    arguments: Sequence[str] | None = None,
) -> argparse.Namespace:
    """Read the options that all grids share.

    Args:
        description: what the benchmark compares.
        name: of its results file; the quick form has a file of its own.
        arguments: instead of those of the command line.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--jobs", type=int, default=2, help="processes, each with one thread")
    parser.add_argument("--quick", action="store_true", help="fewer runs, in minutes")
    parser.add_argument("--report", action="store_true", help="run nothing: tables of what is done")
    parser.add_argument("--data", type=Path, help="folder of real data, where any is used")
    parser.add_argument("--results", type=Path, help="JSON-lines file to keep results in")
    read = parser.parse_args(arguments)
    suffix = "-quick" if read.quick else ""
    read.results = read.results or RESULTS / f"{name}{suffix}.jsonl"
    return read


def run_grid(
    worker: Callable[[Job], Mapping[str, Any]],
    jobs: Sequence[Job],
    results: Path,
    *,
    processes: int = 2,
) -> list[Record]:
    """Run the jobs that have no result yet; return the records of all, in the order of the jobs.

    Args:
        worker: a function at the top level of a module, run in processes of one thread each.
        jobs: each distinct.
        results: JSON-lines file that lines are appended to.
        processes: that run at the same time.
    """
    done = {key_of(record["job"]) for record in read_records(results)}
    left = [job for job in jobs if key_of(job) not in done]
    results.parent.mkdir(parents=True, exist_ok=True)
    started, commit = time.monotonic(), current_commit()
    for number, record in enumerate(_finished(worker, left, processes), start=1):
        _append({**record, "commit": commit}, results)
        seconds = (time.monotonic() - started) / number * (len(left) - number)
        how = f"failed: {record['error'].splitlines()[-1]}" if "error" in record else "done"
        print(
            f"{number} of {len(left)}, about {seconds / 60:.0f} min left: "
            f"{key_of(record['job'])} {how} in {record['seconds']:.0f} s",
            file=sys.stderr,
            flush=True,
        )
    return records_of(jobs, results)


def run_and_report(
    worker: Callable[[Job], Mapping[str, Any]],
    jobs: Sequence[Job],
    arguments: argparse.Namespace,
    write_report: Callable[[Sequence[Record], int, argparse.Namespace], Path],
) -> None:
    """Run what is missing, unless only a report is asked for; write and print the tables."""
    if not arguments.report:
        run_grid(worker, jobs, arguments.results, processes=arguments.jobs)
    path = write_report(records_of(jobs, arguments.results), len(jobs), arguments)
    print(path.read_text(encoding="utf-8"))


def records_of(jobs: Sequence[Job], results: Path) -> list[Record]:
    """Return the records of those jobs that have a result, in the order of the jobs."""
    known = {key_of(record["job"]): record for record in read_records(results)}
    return [known[key_of(job)] for job in jobs if key_of(job) in known]


def read_records(results: Path) -> list[Record]:
    """Read what succeeded; a line that was cut off by a crash is left out."""
    if not results.exists():
        return []
    records = []
    for line in results.read_text(encoding="utf-8").splitlines():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        if "result" in record:
            records.append(record)
    return records


def _append(record: Record, results: Path) -> None:
    """Add a line; one that was cut off before is ended first."""
    with results.open("a+b") as stream:
        stream.seek(max(stream.tell() - 1, 0))
        is_cut_off = stream.read(1) not in (b"\n", b"")
        stream.write(b"\n" * is_cut_off + json.dumps(record).encode() + b"\n")


def key_of(job: Job) -> str:
    """Return the name of a job, the same for any order of its keys."""
    return json.dumps(dict(job), sort_keys=True)


def current_commit() -> str:
    """Return the short commit of the code that runs, with `+` when files differ from it.

    Results are no code: while one table is being made, another may be.
    """
    commit = _git("rev-parse", "--short", "HEAD")
    changed = ("status", "--porcelain", "--untracked-files=no", "--", ":/")
    is_changed = _git(*changed, f":(exclude){RESULTS}")
    return commit + "+" * bool(is_changed) or "unknown"


def _git(*words: str) -> str:
    folder = str(Path(__file__).parent)
    found = subprocess.run(
        ["git", "-C", folder, *words], capture_output=True, text=True, check=False
    )
    return found.stdout.strip()


def _finished(
    worker: Callable[[Job], Mapping[str, Any]], jobs: Sequence[Job], processes: int
) -> Iterator[Record]:
    """Yield the records of the jobs as they end, whatever happens to single processes."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    waiting = list(jobs)
    while waiting:
        # Not more than run at once are handed over: if a process is killed, only those are lost.
        context = multiprocessing.get_context("forkserver")
        with ProcessPoolExecutor(processes, context, initializer=end_with_parent) as pool:
            running: dict[Future[Record], Job] = {}
            is_whole = True
            while is_whole and (waiting or running):
                while waiting and len(running) < processes:
                    job = waiting.pop(0)
                    running[pool.submit(_run, worker, job)] = job
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    is_whole = is_whole and not isinstance(future.exception(), BrokenProcessPool)
                    yield _record(future, running.pop(future))
            yield from (_record(future, job) for future, job in running.items())


def _run(worker: Callable[[Job], Mapping[str, Any]], job: Job) -> Record:
    started = time.monotonic()
    try:
        outcome: Record = {"result": dict(worker(job))}
    except Exception as error:
        # Where in the code is for the terminal; results that are kept name no path of a machine.
        traceback.print_exc()
        outcome = {"error": f"{type(error).__name__}: {error}"}
    return {"job": dict(job), **outcome, "seconds": time.monotonic() - started}


def _record(future: Future[Record], job: Job) -> Record:
    error = future.exception()
    if error is None:
        return future.result()
    return {"job": dict(job), "error": f"{type(error).__name__}: {error}", "seconds": 0.0}


# --- tables ---------------------------------------------------------------------------------------


def as_table(records: Sequence[Record]) -> pd.DataFrame:
    """Return one row per record, with the keys of jobs and of results as columns.

    Example:
        >>> as_table([{"job": {"seed": 0}, "result": {"Dice": 0.9}, "seconds": 1.0}])
           seed  Dice  seconds
        0     0   0.9      1.0
    """
    rows = [{**each["job"], **each["result"], "seconds": each["seconds"]} for each in records]
    return pd.DataFrame(rows)


def what_was_run(name: str, records: Sequence[Record], n_jobs: int, *, quick: bool) -> str:
    """Return the command, the commits that ran it, and what it took, as the head of a report.

    Example:
        >>> record = {"job": {"seed": 0}, "result": {}, "seconds": 90.0, "commit": "0e68881"}
        >>> what_was_run("step", [record], 2, quick=False)
        '`python benchmarks/step.py` at commit 0e68881: 1 of 2 runs, 2 minutes by the clock.'
    """
    commits = ", ".join(dict.fromkeys(each["commit"] for each in records)) or "unknown"
    minutes = sum(each["seconds"] for each in records) / 60
    return (
        f"`python benchmarks/{name}.py{' --quick' * quick}` at commit {commits}: "
        f"{len(records)} of {n_jobs} runs, {minutes:.0f} minutes by the clock."
    )


def mean_std(
    table: pd.DataFrame,
    rows: str | Sequence[str],
    columns: str | Sequence[str],
    value: str,
    *,
    digits: int = 3,
    scale: float = 1.0,
) -> pd.DataFrame:
    """Return `mean ± std` of a value, over whatever else differs (the seeds), as text.

    Rows and columns keep the order in which they first appear; what is missing is `-`.

    Args:
        table: one row per run.
        rows: column or columns of the table that become rows.
        columns: column or columns of the table that become columns.
        value: column with the numbers.
        digits: after the point.
        scale: multiplies the numbers; 100 for per cent.
    """
    keys = [*_listed(rows), *_listed(columns)]
    known = table.dropna(subset=[value])
    cells = known.groupby(keys, sort=False, dropna=False)[value].apply(
        lambda values: mean_std_text((values * scale).tolist(), digits)
    )
    wide = cells.unstack(_listed(columns), sort=False)
    return wide.fillna("-")


def mean_std_text(values: Sequence[float], digits: int = 3) -> str:
    """Return `mean ± std`; without the second for a single value.

    Example:
        >>> mean_std_text([1.0, 2.0, 3.0], 1)
        '2.0 ± 1.0'
    """
    series = pd.Series(values, dtype=float)
    spread = f" ± {series.std():.{digits}f}" if len(series) > 1 else ""
    return f"{series.mean():.{digits}f}{spread}"


def markdown(table: pd.DataFrame) -> str:
    """Return a table, with its index as first columns, as markdown."""
    flat = table.reset_index()
    heads = [" ".join(map(str, h)).strip() if isinstance(h, tuple) else str(h) for h in flat]
    lines = [heads, ["---"] * len(heads), *([str(cell) for cell in row] for row in flat.to_numpy())]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
