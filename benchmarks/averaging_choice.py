"""What the average of the last weights is worth, to `auto` and to a network on the labels.

    python benchmarks/averaging_choice.py [--seeds 50,51] [--jobs 2]

Regimes of the arena with one label per image, as they are and `few`. `auto` keeps the average of
its last weights (`multirater.training.averaging`); here also without, and a network on the labels
(`mode`) with and without. Dice on unseen images; the table goes to
benchmarks/results/averaging_choice.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import patch

from arena_ways import compare_ways, trained
from grid import Job
from multirater.training import methods
from multirater.training.averaging import AverageWeights

REGIMES = ("alike", "noisy", "real texture", "five")
WAYS = ("auto, last weights", "auto", "mode", "mode, averaged")


def work(job: Job) -> dict[str, Any]:
    """Train one network of the arena."""
    name, _, _ = job["way"].partition(",")
    with patch.dict(methods._FOR_MASKS, {name: with_averaging(name, job["way"])}):
        return trained(job, name)


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
    compare_ways("averaging_choice", "Averaged weights", work, REGIMES, WAYS)


if __name__ == "__main__":
    main()
