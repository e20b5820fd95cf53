"""Class labels of few answers: the vote, and how weighted votes judge raters.

    python benchmarks/few_answers.py
    python benchmarks/few_answers.py --first 0 --seeds 80

Made-up crowds of three to eight raters with 6 to 39 tasks, three to five answers each, two to ten
classes, even or skewed; raters right in 60 to 90 %, or some right in half and others in 85 %, or
one right in 95 % and the others in 55 %. How many tasks each method calls right: `fuse` takes the
weighted vote where answers are few. Seeds from 0 served to choose, and those from 1000 were seen
meanwhile: those from 5000 are reported. Written to benchmarks/results/few_answers.md.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from grid import RESULTS, current_commit, markdown
from multirater import fuse
from multirater.types import MISSING

SKILLS: dict[str, Callable[[np.random.Generator, int], NDArray[np.float64]]] = {
    "60 to 90 %": lambda random, n: random.uniform(0.6, 0.9, n),
    "half, or 85 %": lambda random, n: np.where(random.random(n) < 0.4, 0.5, 0.85),
    "one 95 %, others 55 %": lambda random, n: np.r_[0.95, np.full(n - 1, 0.55)],
}
CLASSES = (2, 3, 5, 10)
METHODS: dict[str, Callable[[NDArray[np.int64], int], NDArray[np.int16]]] = {
    "majority vote": lambda said, k: fuse.majority_vote(said, k).label,
    "weighted vote": lambda said, k: fuse.weighted_vote(said, k).label,
    "weighted vote, class 0 as background": lambda said, k: (
        fuse.weighted_vote(said, k, background=True).label
    ),
    "Dawid-Skene": lambda said, k: fuse.dawid_skene(said, k).label,
    "one-coin": lambda said, k: fuse.one_coin(said, k).label,
}


def crowd(
    seed: int, n_classes: int, skills: str, *, is_skewed: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Make answers (n_raters, n_tasks), -1 where not asked, and the truth (n_tasks,)."""
    random = np.random.default_rng(seed)
    n_tasks, n_raters = int(random.integers(6, 40)), int(random.integers(3, 9))
    asked = min(int(random.integers(3, 6)), n_raters)
    share = np.full(n_classes, 1 / n_classes)
    if is_skewed:
        share = np.r_[0.7, np.full(n_classes - 1, 0.3 / (n_classes - 1))]
        share = random.permutation(share)
    truth = random.choice(n_classes, n_tasks, p=share)
    right = SKILLS[skills](random, n_raters)
    said = np.full((n_raters, n_tasks), MISSING)
    for task in range(n_tasks):
        for rater in random.choice(n_raters, asked, replace=False):
            others = [each for each in range(n_classes) if each != truth[task]]
            is_right = random.random() < right[rater]
            said[rater, task] = truth[task] if is_right else random.choice(others)
    return said, truth


def main() -> None:
    """Fuse every crowd by every method, and write how right they are."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--first", type=int, default=5000, help="seed")
    parser.add_argument("--seeds", type=int, default=80, help="crowds of each kind")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    started = time.process_time()
    rows = []
    for n_classes in CLASSES:
        for skills in SKILLS:
            for seed in range(arguments.first, arguments.first + arguments.seeds):
                for is_skewed in (False, True):
                    said, truth = crowd(seed, n_classes, skills, is_skewed=is_skewed)
                    right = {
                        name: float((method(said, n_classes) == truth).mean())
                        for name, method in METHODS.items()
                    }
                    rows.append({"classes": n_classes, "raters right in": skills, **right})
    table = pd.DataFrame(rows).groupby(["classes", "raters right in"], sort=False).mean()
    table.loc[("all", ""), :] = pd.DataFrame(rows)[list(METHODS)].mean()
    text = (
        "# Class labels of few answers\n\n"
        f"`python benchmarks/few_answers.py --first {arguments.first} --seeds {arguments.seeds}` "
        f"at commit {current_commit()}: {len(rows)} crowds, "
        f"{(time.process_time() - started) / 60:.1f} CPU minutes. Share of the tasks called "
        f"right.\n\n{markdown(table.round(3).reset_index().set_index('classes'))}\n"
    )
    name = "few_answers.md" if arguments.first >= 5000 else "few_answers-chosen.md"
    (RESULTS / name).write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    sys.exit(main())
