"""What a report costs: CPU time and how often label files are read, against another version.

    git worktree add /tmp/before 577380b
    python benchmarks/report.py --before /tmp/before/src
    python benchmarks/report.py --before /tmp/before/src --answers DATA/crowd/product/answer.csv

The study is made up: smooth shapes on textured images, raters who draw them with errors of their
own. Both versions report on the same files, one after the other in one run, each in a process of
its own with one worker; CPU time is what those processes took, start included. The times of a
machine that others use wander, the ratio less so: `--repeat` takes turns and gives medians.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy import ndimage

import multirater
from children import end_with_parent
from multirater.types import Case, Dataset, Geometry, Image, LabelMap, Source

HERE = Path(__file__).resolve().parent.parent / "src"

CHILD = """
import collections, importlib, json, pathlib, resource, sys
import multirater
labels = importlib.import_module("multirater.io.formats.labels")
reads, read = collections.Counter(), labels._read_array
def counted(path, *rest, **options):
    reads[str(path)] += 1
    return read(path, *rest, **options)
labels._read_array = counted
def most_memory():  # of this program alone; ru_maxrss counts what started it, too
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
paths, output, figures = json.loads(sys.argv[1])
multirater.write_report(paths, output, figures=figures, overwrite=True)
used = resource.getrusage(resource.RUSAGE_SELF)
told = {"seconds": used.ru_utime + used.ru_stime, "most": max(reads.values(), default=0),
        "megabytes": most_memory()}
print(json.dumps(told))
"""
"""Reports, and says what it took and how often the label file was read that was read most often."""


def make_study(folder: Path, n_cases: int, n_raters: int, side: int) -> Path:
    """Write a study of smooth shapes; nobody's truth comes with it."""
    random = np.random.default_rng(0)
    names = [f"rater {number + 1}" for number in range(n_raters)]
    shifts = random.uniform(-0.25, 0.25, n_raters)
    cases = []
    for number in range(n_cases):
        field = _smooth(random, side, side / 10)
        image = (100 + 40 * field + random.normal(0, 8, field.shape)).clip(0, 255)
        labels = {
            name: _label(field + 0.25 * _smooth(random, side, side / 40) > 1 + shift)
            for name, shift in zip(names, shifts, strict=True)
        }
        shown = Image(image.astype(np.uint8)[None], Geometry.default(2))
        cases.append(Case(f"case {number:03}", Source(lambda shown=shown: shown), labels))
    return multirater.write_dataset(Dataset(tuple(cases), tuple(names)), folder)


def _smooth(random: np.random.Generator, side: int, width: float) -> np.ndarray:
    """Return a smooth random field (side, side) of unit variance."""
    coarse = random.normal(size=(int(side / width) + 3,) * 2)
    field = ndimage.zoom(coarse, side / len(coarse), order=3)[:side, :side]
    return field / field.std()


def _label(mask: np.ndarray) -> Source[LabelMap]:
    label = LabelMap(mask.astype(np.int16), Geometry.default(2))
    return Source(lambda: label)


def cost(source: Path, paths: list[Path], output: Path, figures: Path | None) -> dict[str, float]:
    """Report in a process of its own, with the package at `source`."""
    given = json.dumps([[str(path) for path in paths], str(output), figures and str(figures)])
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS")}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CHILD, given],
        env={**os.environ, **threads, "PYTHONPATH": str(source)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
        text=True,
        preexec_fn=end_with_parent,
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """Print one row per subject."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, required=True, help="src of another version")
    parser.add_argument("--answers", type=Path, help="table of answers, reported on too")
    parser.add_argument("--figures", action="store_true", help="write figures, too")
    parser.add_argument("--alone", action="store_true", help="the study without fusions")
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--raters", type=int, default=5)
    parser.add_argument("--side", type=int, default=512)
    parser.add_argument("--repeat", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = make_study(folder / "study", arguments.cases, arguments.raters, arguments.side)
        data = multirater.read_dataset(study)
        results = [folder / "fused", folder / "vote"]
        subjects: dict[str, tuple[list[Path], Path | None]] = {"study": ([study], None)}
        if not arguments.alone:
            multirater.fuse_dataset(data, results[0])
            multirater.fuse_dataset(data, results[1], method="majority-vote")
            subjects["study and two fusions"] = ([study, *results], None)
        if arguments.figures:
            subjects["the same with figures"] = ([study, *results], folder / "figures")
        if arguments.answers:
            subjects["table of answers"] = ([arguments.answers], None)
        print("| report on | CPU s before | now | ratio | reads before | now | MB before | now |")
        print("| --- |" + " --- |" * 7)
        for subject, (paths, figures) in subjects.items():
            rows = [
                [cost(src, paths, folder / "report.html", figures) for src in (before, HERE)]
                for before in [arguments.before.resolve()] * arguments.repeat
            ]
            seconds = [statistics.median(row[i]["seconds"] for row in rows) for i in (0, 1)]
            ratio = statistics.median(row[1]["seconds"] / row[0]["seconds"] for row in rows)
            reads = [rows[0][i]["most"] for i in (0, 1)]
            memory = [rows[0][i]["megabytes"] for i in (0, 1)]
            print(
                f"| {subject} | {seconds[0]:.1f} | {seconds[1]:.1f} | {ratio:.2f} | "
                f"{reads[0]} | {reads[1]} | {memory[0]:.0f} | {memory[1]:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
