"""Dawid-Skene on answers that do not fit into memory: by one process, and on a Dask cluster.

    python benchmarks/answers.py [--answers 100000000] [--scheduler ADDRESS] [--write]

Answers are made up and written as Parquet, a pass over all tasks for each answer of a task: the
answers to one task lie as far apart as they can. `multirater fuse` then fuses the file by its
default, Dawid-Skene with a pseudo-count, in one process; and again on a Dask cluster of two workers
that this script starts (or on the one whose scheduler is named), of which one is killed on the way.
Peak memory is that of each process, by the system's count. Both results are compared task by task.
`--write` keeps the table in `benchmarks/results/answers.md`.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from children import measured, start, waited_for
from grid import RESULTS, current_commit

PER_TASK, N_RATERS, N_CLASSES = 5, 2000, 10
AT_ONCE = 1_000_000


def write_answers(path: Path, n_answers: int) -> None:
    """Write the answers of raters who are right in 40 to 90 per cent of their answers."""
    n_tasks = n_answers // PER_TASK
    skill = np.random.default_rng(0).uniform(0.4, 0.9, N_RATERS)
    fields = [("task", pa.int64()), ("worker", pa.string()), ("label", pa.int8())]
    names = pa.array([f"worker {number}" for number in range(N_RATERS)])
    with parquet.ParquetWriter(path, pa.schema(fields)) as to:
        for answer in range(PER_TASK):
            for first in range(0, n_tasks, AT_ONCE):
                task = np.arange(first, min(first + AT_ONCE, n_tasks))
                drawn = np.random.default_rng([1, first])  # the same in every pass
                truth = drawn.integers(0, N_CLASSES, len(task))
                worker = (drawn.integers(0, N_RATERS, len(task)) + 397 * answer) % N_RATERS
                rng = np.random.default_rng([2, first, answer])
                is_right = rng.random(len(task)) < skill[worker]
                label = np.where(is_right, truth, rng.integers(0, N_CLASSES, len(task)))
                columns = [pa.array(task), names.take(pa.array(worker)), pa.array(label, pa.int8())]
                to.write_table(pa.table(columns, schema=pa.schema(fields)))


def fuse_command(table: Path, target: Path, *more: str) -> list[str]:
    """Return the command that fuses a table."""
    command = [sys.executable, "-m", "multirater", "fuse", str(table), "-o", str(target)]
    return [*command, "--json", *more]


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen]]]:
    """Start a scheduler and two workers of one thread; yield its address and the workers."""
    address = folder / "scheduler.json"
    dask = [sys.executable, "-m", "distributed.cli"]
    log = (folder / "cluster.txt").open("w", encoding="utf-8")
    quiet = {"stdout": log, "stderr": log, "cwd": folder}
    shared = ["--scheduler-file", str(address)]
    scheduler = start(
        [*dask[:2], f"{dask[2]}.dask_scheduler", "--port", "0", "--no-dashboard", *shared], **quiet
    )
    while not address.exists():
        time.sleep(0.2)
    options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "3GB"]
    worker = [*dask[:2], f"{dask[2]}.dask_worker", *options, *shared]
    workers = [start(worker, **quiet) for _ in range(2)]
    try:
        yield json.loads(address.read_text(encoding="utf-8"))["address"], workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()
        log.close()


def peak_of(process: subprocess.Popen) -> float:
    """Return the peak memory of a process that runs, in megabytes."""
    for line in Path(f"/proc/{process.pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0.0


def fuse_on_cluster(table: Path, target: Path, folder: Path, given: str) -> list[list[str]]:
    """Fuse on two workers, kill one of them while EM runs; return rows of the table."""
    output = folder / "on-cluster.txt"
    with cluster(folder) as (address, workers), output.open("w", encoding="utf-8") as stream:
        begun = time.monotonic()
        command = fuse_command(table, target, "--scheduler", given or address)
        process = start(command, stdout=stream, stderr=stream)
        killed = None if given else kill_when_em_runs(process, workers[0], target)
        peaks = []
        while process.poll() is None and not given:
            peaks.append(peak_of(workers[1]))
            time.sleep(1)
            if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                break
        use = waited_for(process, output)
        seconds = time.monotonic() - begun
    rows = [["cluster, the command", f"{seconds:.0f}", f"{use.cpu:.0f}", f"{use.peak:.0f}"]]
    if killed is not None:
        rows.append([f"cluster, worker killed after {killed[0]:.0f} s", "", "", f"{killed[1]:.0f}"])
        rows.append(["cluster, the other worker", "", "", f"{max(peaks, default=0):.0f}"])
    return rows


def kill_when_em_runs(process, worker, target: Path) -> tuple[float, float]:
    """Kill a worker when parts are laid out and EM is on its way; seconds until then, its peak."""
    begun = time.monotonic()
    scratch = target.with_name(f".{target.name}.part") / "scratch"
    steps: set[str] = set()
    while process.poll() is None and len(steps) < 4:
        steps |= {path.name for path in scratch.glob("*.npz")} if scratch.is_dir() else set()
        time.sleep(0.05)
    peak = peak_of(worker)
    worker.send_signal(signal.SIGKILL)
    return time.monotonic() - begun, peak


def largest_difference(one: Path, other: Path) -> tuple[float, int, int]:
    """Return the largest difference of probabilities, how many labels differ, and the tasks."""
    largest, differ, n_tasks = 0.0, 0, 0
    files = [parquet.ParquetFile(path / "cases.parquet") for path in (one, other)]
    for a, b in zip(*(file.iter_batches(batch_size=AT_ONCE) for file in files), strict=True):
        assert a.column("case").equals(b.column("case"))
        names = [name for name in a.schema.names if name.startswith("probability")]
        gaps = [np.abs(a.column(n).to_numpy() - b.column(n).to_numpy()).max() for n in names]
        largest = max(largest, *gaps)
        differ += sum(pa.compute.not_equal(a.column("label"), b.column("label")).to_pylist())
        n_tasks += len(a)
    return float(largest), differ, n_tasks


def main() -> None:
    """Make answers, fuse them twice, compare, and keep the table when asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--answers", type=int, default=100_000_000)
    parser.add_argument("--scheduler", default="", help="address of a cluster that runs already")
    parser.add_argument("--folder", type=Path, help="where to work, which both must see")
    parser.add_argument("--write", action="store_true", help="keep the table in results/")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        table = folder / "answers.parquet"
        write_answers(table, arguments.answers)
        print(f"{arguments.answers} answers, {table.stat().st_size / 1e6:.0f} MB", flush=True)
        begun = time.monotonic()
        use = measured(fuse_command(table, folder / "alone"), folder / "alone.txt")
        alone = time.monotonic() - begun
        rows = [["one process", f"{alone:.0f}", f"{use.cpu:.0f}", f"{use.peak:.0f}"]]
        print(*rows[0], flush=True)
        rows += fuse_on_cluster(table, folder / "cluster", folder, arguments.scheduler)
        largest, differ, n_tasks = largest_difference(folder / "alone", folder / "cluster")
    told = (
        f"`python benchmarks/answers.py --answers {arguments.answers}` at commit "
        f"{current_commit()}: {arguments.answers} answers of {N_RATERS} raters to {n_tasks} tasks, "
        f"{N_CLASSES} classes. Largest difference of a probability between the two: {largest:.1e}; "
        f"labels that differ: {differ}.\n\n"
    )
    header = ["where", "seconds", "CPU s", "peak MB"]
    lines = [header, ["---"] * len(header), *rows]
    text = told + "".join("| " + " | ".join(line) + " |\n" for line in lines)
    print(text)
    if arguments.write:
        (RESULTS / "answers.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
