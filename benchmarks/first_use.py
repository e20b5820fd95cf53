"""From nothing to a result: what installing takes, in time and in space, and the first commands.

    python benchmarks/first_use.py [--train] [--write]

An empty environment is made, the wheel is installed into it by pip as a user would (nothing comes
from a cache), and the main job is run: `fuse`, with `--train` also `train` and `report`, on 24
digits with five raters. Each step has its seconds on the clock and its CPU seconds (all processes):
a busy machine or a slow index shows in the first alone. Sizes are those of the files that pip
wrote, bytecode included, without pip itself. `--write` keeps the table in
`benchmarks/results/first_use.md`.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

import multirater

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "benchmarks/results/first_use.md"


@dataclass(frozen=True)
class Step:
    """A command as a user types it, its seconds on the clock and its CPU seconds."""

    command: str
    seconds: float
    cpu: float


def timed(shown: str, words: Sequence[str | Path], folder: Path) -> Step:
    """Run a command in a folder; raise if it fails."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run(
        list(map(str, words)), cwd=folder, check=True, capture_output=True, env=environment
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Step(shown, time.perf_counter() - start, cpu)


def installed_size(home: Path) -> tuple[float, float]:
    """Return the mebibytes of what pip installed, and how many of them are bytecode."""
    (packages,) = home.glob("lib/python*/site-packages")
    whole = bytecode = 0
    for each in distributions(path=[str(packages)]):
        if each.name in ("pip", "setuptools"):
            continue
        for file in each.files or []:
            path = Path(str(each.locate_file(file)))
            if path.is_file():
                whole += path.stat().st_size
                bytecode += path.stat().st_size if path.suffix == ".pyc" else 0
    return whole / 2**20, bytecode / 2**20


def first_use(folder: Path, *, train: bool) -> tuple[list[Step], tuple[float, float]]:
    """Install into an empty environment, and run the main job."""
    study = multirater.simulate.simulate_dataset(
        multirater.samples.digits_dataset(n_train=24, n_test=0), seed=0
    )
    multirater.write_dataset(study, folder / "study")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT]
    subprocess.run(list(map(str, build)), check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    home = folder / "home"
    venv.create(home, with_pip=True)
    extra = "[train]" if train else ""
    install = [home / "bin/python", "-m", "pip", "install", "--no-cache-dir"]
    install += ["--constraint", ROOT / "constraints.txt", f"{wheel}{extra}"]
    name = f"pip install 'multirater{extra}'" if train else "pip install multirater"
    steps = [timed(name, install, folder)]
    jobs = ["fuse study/ -o fused/"]
    if train:
        jobs = ["train study/ -o run/", "report study/ run/ -o report.html"]
    for job in jobs:
        steps.append(timed(f"multirater {job}", [home / "bin/multirater", *job.split()], folder))
    return steps, installed_size(home)


def table(steps: Sequence[Step], size: tuple[float, float]) -> str:
    """Lay the steps of one use out as a table."""
    rows = [f"| `{each.command}` | {each.seconds:.0f} | {each.cpu:.1f} |" for each in steps]
    total = f"| together | {sum(s.seconds for s in steps):.0f} | {sum(s.cpu for s in steps):.1f} |"
    head = ["| command | seconds | CPU seconds |", "| --- | --- | --- |"]
    space = f"Installed: {size[0]:.0f} MiB, of which {size[1]:.0f} MiB bytecode."
    return "\n".join([*head, *rows, total, "", space, ""])


def main() -> None:
    """Measure and print, and keep the table if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--train", action="store_true", help="networks too")
    parser.add_argument("--write", action="store_true", help="keep the table")
    chosen = parser.parse_args()
    parts = []
    for train in (False, True) if chosen.train else (False,):
        with tempfile.TemporaryDirectory() as folder:
            parts.append(table(*first_use(Path(folder), train=train)))
        print(parts[-1])
    if chosen.write:
        load = os.getloadavg()[0]
        where = f"Python {platform.python_version()}, {os.cpu_count()} cores, load {load:.0f}"
        head = f"# From nothing to a result\n\n`benchmarks/first_use.py`, {where}.\n\n"
        RESULT.write_text(head + "\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
