"""How verbs grow with the number of cases: time, peak memory, and against another checkout.

    python benchmarks/scale.py [--cases 250 500 1000] [--raters 5] [--verbs info agreement]
                               [--against OTHER/src] [--write]

Studies of masks of 64 x 64 pixels as PNG files, no images. Every verb runs in a process of its own,
with one worker; its CPU seconds (all threads, user and system) and its peak memory are the system's
count, and seconds by the clock stand beside them, which say little beside other work: of this run,
and of another with a worker per core, as a user has it. With
`--against`, each run is followed by the same one with the package of another checkout, so that a
busy machine slows both. What starting takes is measured by a study of two cases and taken off where
growth is told. The report of more than 20 raters is written with its figures. `--write` keeps the
table in `benchmarks/results/scale.md`, of other than 5 raters in `scale-<raters>.md`.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

from children import Use, measured
from grid import RESULTS, current_commit

SIDE = 64
VERBS = ("info", "agreement", "fuse", "report")
OURS = Path(__file__).resolve().parent.parent / "src"


def write_study(folder: Path, n_cases: int, n_raters: int = 5, seed: int = 0) -> None:
    """Write masks of raters who draw one height field at levels of their own, and a manifest."""
    rng = np.random.default_rng(seed)
    (folder / "masks").mkdir(parents=True)
    lines = ["case,image,rater,label"]
    for case in range(n_cases):
        height = gaussian_filter(rng.normal(size=(SIDE, SIDE)), 6)
        height /= height.std()
        for rater in range(n_raters):
            drawn = height + 0.1 * rng.normal(size=height.shape) > 1 + 0.1 * (rater % 5)
            name = f"masks/{case:05d}_{rater}.png"
            Image.fromarray(drawn.astype(np.uint8) * 255).save(folder / name)
            lines.append(f"case {case},,rater {rater},{name}")
    (folder / "manifest.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def run_verb(
    verb: str, study: Path, n_raters: int, source: Path, scratch: Path, workers: int = 1
) -> Use:
    """Run a verb as a user does; raise if it fails."""
    command = [sys.executable, "-m", "multirater", verb, str(study), "--quiet"]
    command += ["--workers", str(workers)]
    if verb == "report":
        command += ["--output", str(scratch / "report.html"), "--overwrite"]
        command += ["--figures", str(scratch / "figures")] if n_raters > 20 else []
    if verb == "fuse":
        command += ["--output", str(scratch / "fused"), "--overwrite"]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    return measured(command, scratch / "output.txt", env=environment)


def rows_of(
    verbs: Sequence[str], sizes: Sequence[int], n_raters: int, against: Path | None, folder: Path
) -> list[list[str]]:
    """Measure every verb on every size; the first, of two cases, is what starting takes."""
    rows = []
    for verb in verbs:
        start: dict[Path, float] = {}
        for n_cases in (2, *sizes):
            study = folder / str(n_cases)
            if not study.exists():
                write_study(study, n_cases, n_raters)
            ours = run_verb(verb, study, n_raters, OURS, folder)
            theirs = None if against is None else run_verb(verb, study, n_raters, against, folder)
            if n_cases == 2:
                start = {OURS: ours.cpu}
                if against is not None and theirs is not None:
                    start[against] = theirs.cpu
                continue
            work = ours.cpu - start[OURS]
            together = run_verb(verb, study, n_raters, OURS, folder, os.cpu_count() or 1)
            row = [verb, str(n_cases), f"{ours.cpu:.1f}", f"{ours.wall:.1f}"]
            row += [f"{together.wall:.1f}", f"{1000 * work / n_cases:.1f}", f"{ours.peak:.0f}"]
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
    parser.add_argument("--raters", type=int, default=5)
    parser.add_argument("--verbs", nargs="+", default=list(VERBS), choices=VERBS)
    parser.add_argument("--against", type=Path, help="src folder of another checkout")
    parser.add_argument("--write", action="store_true", help="keep the table in results/")
    arguments = parser.parse_args()
    header = ["verb", "cases", "CPU s", "s by the clock", "s, a worker per core"]
    header += ["CPU ms per case", "peak MB"]
    if arguments.against is not None:
        header += ["CPU s, other", "share of the other's", "peak MB, other"]
    print("  ".join(header))
    commit = current_commit()
    with tempfile.TemporaryDirectory() as folder:
        rows = rows_of(
            arguments.verbs, arguments.cases, arguments.raters, arguments.against, Path(folder)
        )
    if arguments.write:
        words = f"--cases {' '.join(map(str, arguments.cases))} --raters {arguments.raters}"
        if arguments.verbs != list(VERBS):
            words += f" --verbs {' '.join(arguments.verbs)}"
        other = "" if arguments.against is None else " --against OTHER/src"
        told = f"`python benchmarks/scale.py {words}{other}` at commit {commit}.\n\n"
        name = "scale" if arguments.raters == 5 else f"scale-{arguments.raters}"
        (RESULTS / f"{name}.md").write_text(told + as_markdown(header, rows), encoding="utf-8")


if __name__ == "__main__":
    main()
