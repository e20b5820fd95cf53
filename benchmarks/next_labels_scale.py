"""What ranking the next labels costs: CPU and memory over the number of cases, 20 raters.

    python benchmarks/next_labels_scale.py

Class labels come as a table of answers, three per case, by the command of users; drawings as
label patterns of three raters each, of 64 x 64 pixels, without reading files. Each size runs in a
process of its own; memory is the peak of the whole process.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

N_RATERS, N_CLASSES, PER_CASE = 20, 5, 3
SIZES = (1000, 10_000, 40_000)


def answers(n_cases: int) -> pd.DataFrame:
    """Return answers of raters of all skills."""
    random = np.random.default_rng(0)
    truth = random.integers(0, N_CLASSES, n_cases)
    who = random.random((n_cases, N_RATERS)).argsort(1)[:, :PER_CASE]
    right = random.random(who.shape) < np.linspace(0.4, 0.95, N_RATERS)[who]
    said = np.where(right, truth[:, None], random.integers(0, N_CLASSES, who.shape))
    return pd.DataFrame(
        {
            "task": np.repeat(np.arange(n_cases), PER_CASE),
            "worker": who.ravel(),
            "label": said.ravel(),
        }
    )


def classes(n_cases: int) -> int:
    """Rank by a table of answers; return how many labels are asked for."""
    from multirater import next_labels

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.csv"
        answers(n_cases).to_csv(path, index=False)
        return len(next_labels(path, budget=200).labels)


def drawings(n_cases: int) -> int:
    """Rank by patterns of drawings."""
    from multirater.acquisition.choice import choose_labels
    from multirater.acquisition.drawing_belief import DrawnCase, belief_of_drawings

    random = np.random.default_rng(0)
    patterns = np.array(np.meshgrid(*[[0, 1]] * PER_CASE)).reshape(PER_CASE, -1).T
    share = np.array([0.8, *[0.01] * (len(patterns) - 2), 0.14])
    cases = []
    for _ in range(n_cases):
        rows = np.full((len(patterns), N_RATERS), -1, dtype=np.int8)
        rows[:, random.permutation(N_RATERS)[:PER_CASE]] = patterns
        cases.append(DrawnCase(rows, random.multinomial(4096, share / share.sum())))
    return len(choose_labels(belief_of_drawings(cases, N_RATERS, 2), 200))


def measure(kind: str, size: int) -> str:
    """Rank one study and return its row."""
    started = time.process_time()
    n = {"classes": classes, "drawings": drawings}[kind](size)
    assert n == 200
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"| {kind} | {size:,} | {time.process_time() - started:.1f} | {peak:.0f} |"


def main() -> None:
    """Run every size in a process of its own and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", nargs="?", choices=("classes", "drawings"), help="one study alone")
    parser.add_argument("size", nargs="?", type=int, help="its cases")
    given = parser.parse_args()
    if given.kind:
        print(measure(given.kind, given.size or SIZES[0]))
        return
    print("| labels | cases | CPU s | peak memory, MB |\n| --- | --- | --- | --- |")
    for kind in ("classes", "drawings"):
        for size in SIZES:
            words = [sys.executable, __file__, kind, str(size)]
            print(subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip())


if __name__ == "__main__":
    main()
