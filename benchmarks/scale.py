"""How verbs grow with the number of cases: CPU time, peak memory, and against another checkout.

    python benchmarks/scale.py [--cases 250 500 1000] [--against OTHER/src] [--write]

Studies of 5 raters, masks of 64 x 64 pixels as PNG files, no images. Every verb runs in a process
of its own, with one worker; its CPU seconds (all threads, user and system) and its peak memory are
the system's count. With `--against`, each run is followed by the same one with the package of
another checkout, so that a busy machine slows both. What starting takes is measured by a study of
two cases and taken off where growth is told. `--write` keeps the table in
`benchmarks/results/scale.md`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

N_RATERS = 5
SIDE = 64
VERBS = ("info", "agreement", "fuse")
HERE = Path(__file__).resolve().parent
OURS = HERE.parent / "src"


@dataclass(frozen=True)
class Use:
    """What a process took: CPU seconds and peak memory in megabytes."""

    cpu: float
    peak: float


def write_study(folder: Path, n_cases: int, seed: int = 0) -> None:
    """Write masks of raters who draw one height field at levels of their own, and a manifest."""
    rng = np.random.default_rng(seed)
    (folder / "masks").mkdir(parents=True)
    lines = ["case,image,rater,label"]
    for case in range(n_cases):
        height = gaussian_filter(rng.normal(size=(SIDE, SIDE)), 6)
        height /= height.std()
        for rater in range(N_RATERS):
            drawn = height + 0.1 * rng.normal(size=height.shape) > 1 + 0.1 * rater
            name = f"masks/{case:05d}_{rater}.png"
            Image.fromarray(drawn.astype(np.uint8) * 255).save(folder / name)
            lines.append(f"case {case},,rater {rater},{name}")
    (folder / "manifest.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def run_verb(verb: str, study: Path, source: Path, scratch: Path) -> Use:
    """Run a verb as a user does; raise if it fails."""
    command = [sys.executable, "-m", "multirater", verb, str(study)]
    command += ["--workers", "1"]
    if verb == "fuse":
        command += ["--output", str(scratch / "fused"), "--overwrite"]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    with (scratch / "output.txt").open("w", encoding="utf-8") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=stream, env=environment)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(
            f"{verb} ended with {process.returncode}: "
            + (scratch / "output.txt").read_text(encoding="utf-8")
        )
    return Use(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def rows_of(sizes: Sequence[int], against: Path | None, folder: Path) -> list[list[str]]:
    """Measure every verb on every size; the first, of two cases, is what starting takes."""
    rows = []
    for verb in VERBS:
        start: dict[Path, float] = {}
        for n_cases in (2, *sizes):
            study = folder / str(n_cases)
            if not study.exists():
                write_study(study, n_cases)
            ours = run_verb(verb, study, OURS, folder)
            theirs = None if against is None else run_verb(verb, study, against, folder)
            if n_cases == 2:
                start = {OURS: ours.cpu}
                if against is not None and theirs is not None:
                    start[against] = theirs.cpu
                continue
            work = ours.cpu - start[OURS]
            row = [verb, str(n_cases), f"{ours.cpu:.1f}", f"{1000 * work / n_cases:.1f}"]
            row.append(f"{ours.peak:.0f}")
            if against is not None and theirs is not None:
                before = theirs.cpu - start[against]
                row += [f"{theirs.cpu:.1f}", f"{work / before:.2f}", f"{theirs.peak:.0f}"]
            rows.append(row)
            print("  ".join(row), flush=True)
    return rows


def as_markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay rows out as a table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def main() -> None:
    """Measure, print, and keep the table when asked to."""
    parser = argparse.ArgumentParser(description="How verbs grow with the number of cases.")
    parser.add_argument("--cases", type=int, nargs="+", default=[250, 500, 1000])
    parser.add_argument("--against", type=Path, help="src folder of another checkout")
    parser.add_argument("--write", action="store_true", help="keep the table in results/")
    arguments = parser.parse_args()
    header = ["verb", "cases", "CPU s", "ms per case", "peak MB"]
    if arguments.against is not None:
        header += ["CPU s, other", "share of the other's", "peak MB, other"]
    print("  ".join(header))
    with tempfile.TemporaryDirectory() as folder:
        rows = rows_of(arguments.cases, arguments.against, Path(folder))
    if arguments.write:
        commit = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],
            capture_output=True,
            text=True,
            check=True,
            cwd=HERE,
        ).stdout.strip()
        cases = " ".join(map(str, arguments.cases))
        other = "" if arguments.against is None else " --against OTHER/src"
        told = f"`python benchmarks/scale.py --cases {cases}{other}` at commit {commit}.\n\n"
        target = HERE / "results" / "scale.md"
        target.write_text(told + as_markdown(header, rows), encoding="utf-8")


if __name__ == "__main__":
    main()
