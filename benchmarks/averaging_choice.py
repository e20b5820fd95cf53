"""What the average of the last weights is worth, to `auto` and to a network on the labels.

    python benchmarks/averaging_choice.py [--seeds 50,51] [--jobs 2]

Regimes of the arena with one label per image, as they are and `few`. `auto` keeps the average of
its last weights (`multirater.training.averaging`); here also without, and a network on the labels
(`mode`) with and without. Dice on unseen images; the table goes to
benchmarks/results/averaging_choice.md.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import arena
from grid import RESULTS, Job, as_table, markdown, mean_std, run_grid, what_was_run
from multirater.training import methods
from multirater.training.averaging import AverageWeights

REGIMES = ("alike", "noisy", "real texture", "five")
WAYS = ("auto, last weights", "auto", "mode", "mode, averaged")


def work(job: Job) -> dict[str, Any]:
    """Train one network of the arena."""
    name, _, _ = job["way"].partition(",")
    asked = {key: job[key] for key in ("regime", "seed", "form") if job[key] != "usual"}
    with patch.dict(methods._FOR_MASKS, {name: with_averaging(name, job["way"])}):
        found = arena.work({**asked, "supply": "one", "method": name})
    return {key: found[key] for key in ("Dice", "CPU s")}


def with_averaging(name: str, way: str) -> methods.Method:
    """Return a method that averages weights, or does not."""
    method = methods.training_method(name, "masks")
    others = tuple(each for each in method.callbacks if each is not AverageWeights)
    return replace(method, callbacks=(AverageWeights, *others) if averages(way) else others)


def averages(way: str) -> bool:
    """Whether weights are averaged: by `auto` unless it is said."""
    return way in ("auto", "mode, averaged")


def main() -> None:
    """Run what is missing, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="50,51")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with one thread")
    given = parser.parse_args()
    jobs = [
        {"regime": regime, "form": form, "way": way, "seed": int(seed)}
        for seed in given.seeds.split(",")
        for form in ("usual", "few")
        for regime in REGIMES
        for way in WAYS
    ]
    records = run_grid(work, jobs, RESULTS / "averaging_choice.jsonl", processes=given.jobs)
    table = as_table(records).assign(Dice=lambda each: 100 * each["Dice"])
    table["cell"] = table["form"] + ", " + table["regime"]
    parts = [
        "# Averaged weights\n",
        f"Seeds {given.seeds}, one label per image, Dice on unseen images, %.\n",
        what_was_run("averaging_choice", records, len(jobs), quick=False) + "\n",
        markdown(mean_std(table, "cell", "way", "Dice", digits=1)),
    ]
    path = RESULTS / "averaging_choice.md"
    path.write_text("\n".join(parts), encoding="utf-8")
    print(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
