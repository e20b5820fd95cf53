"""Compare ways to do one thing of the default, in regimes of the arena with one label a case."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import arena
from grid import RESULTS, Job, as_table, markdown, mean_std, run_grid, what_was_run


def trained(job: Job, method: str) -> dict[str, Any]:
    """Train one network of the arena; return how good it is, and what it took."""
    asked = {key: job[key] for key in ("regime", "seed", "form") if job[key] != "usual"}
    found = arena.work({**asked, "supply": "one", "method": method})
    return {key: found[key] for key in ("Dice", "CPU s")}


def compare_ways(
    name: str,
    title: str,
    work: Callable[[Job], dict[str, Any]],
    regimes: Sequence[str],
    ways: Sequence[str],
) -> None:
    """Run what is missing, as the regimes are and `few`, and write the table.

    Args:
        name: of the benchmark, and of its files in results/.
        title: of its table.
        work: runs a job, whose keys are regime, form, way and seed.
        regimes: of the arena.
        ways: that are compared.
    """
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--seeds", default="50,51")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with one thread")
    given = parser.parse_args()
    jobs = [
        {"regime": regime, "form": form, "way": way, "seed": int(seed)}
        for form in ("usual", "few")
        for seed in given.seeds.split(",")
        for regime in regimes
        for way in ways
    ]
    records = run_grid(work, jobs, RESULTS / f"{name}.jsonl", processes=given.jobs)
    table = as_table(records).assign(Dice=lambda each: 100 * each["Dice"])
    table["cell"] = table["form"] + ", " + table["regime"]
    parts = [
        f"# {title}\n",
        f"Seeds {given.seeds}, one label per image, Dice on unseen images, %.\n",
        what_was_run(name, records, len(jobs), quick=False) + "\n",
        markdown(mean_std(table, "cell", "way", "Dice", digits=1)),
    ]
    path = RESULTS / f"{name}.md"
    path.write_text("\n".join(parts), encoding="utf-8")
    print(path.read_text(encoding="utf-8"))
