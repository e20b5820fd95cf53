"""How good `auto` becomes, by each way to let a rater's own label stand against the heads.

    python benchmarks/standing_choice.py [--seeds 50,51] [--jobs 2]

Regimes of the arena with one label per image, as they are and `few`: *alike*, where labels had
better stand, and those in which many must not. Compared are the weight of the jury, which agreement
where raters disagree is part of (as it was), `multirater.training.standing` (as it is), labels that
always stand, and a network on the labels. Dice on unseen images; the table goes to
benchmarks/results/standing_choice.md.
"""

from __future__ import annotations

import argparse
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import arena
from grid import RESULTS, Job, as_table, markdown, mean_std, run_grid, what_was_run
from multirater.training import weighing
from multirater.training.pixels import Pixels

REGIMES = ("alike", "noisy", "multi-class", "real texture")
Array = NDArray[np.float64]


def by_weight(_: Pixels, weight: Array, log_evidence: Array) -> Array:
    """Let labels stand as far as their raters are followed."""
    return np.asarray(weight / weight.max())


def always(_: Pixels, weight: Array, log_evidence: Array) -> Array:
    """Let every label stand."""
    return np.ones(len(weight))


WAYS = {"by weight": by_weight, "standing": weighing.standing, "always": always}


def work(job: Job) -> dict[str, Any]:
    """Train one network of the arena."""
    method = "mode" if job["way"] == "mode" else "auto"
    asked = {key: job[key] for key in ("regime", "seed", "form") if job[key] != "usual"}
    with patch.object(weighing, "standing", WAYS.get(job["way"], always)):
        found = arena.work({**asked, "supply": "one", "method": method})
    return {key: found[key] for key in ("Dice", "CPU s")}


def main() -> None:
    """Run what is missing, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="50,51")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with one thread")
    given = parser.parse_args()
    jobs = [
        {"regime": regime, "form": form, "way": way, "seed": int(seed)}
        for form in ("usual", "few")
        for seed in given.seeds.split(",")
        for regime in REGIMES
        for way in (*WAYS, "mode")
    ]
    records = run_grid(work, jobs, RESULTS / "standing_choice.jsonl", processes=given.jobs)
    table = as_table(records).assign(Dice=lambda each: 100 * each["Dice"])
    table["cell"] = table["form"] + ", " + table["regime"]
    parts = [
        "# Labels that stand\n",
        f"Seeds {given.seeds}, one label per image, Dice on unseen images, %.\n",
        what_was_run("standing_choice", records, len(jobs), quick=False) + "\n",
        markdown(mean_std(table, "cell", "way", "Dice", digits=1)),
    ]
    path = RESULTS / "standing_choice.md"
    path.write_text("\n".join(parts), encoding="utf-8")
    print(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
