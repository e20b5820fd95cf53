"""How long the plan should train on class labels: 15 epochs, or at least so many steps.

    python benchmarks/class_length_choice.py [--jobs 2] [--report]

Small studies of class labels, trained by the plan made for them but for its length: digits that
travel with the package, stripes under noise, and vectors; five raters, all of them for each item or
one. `poor` are raters who are wrong more often than right: a longer training could learn their
errors. Chosen on seeds 0 and 1; seeds 2 and 3 are reported beside them. Right answers on unseen
items; tables go to benchmarks/results/class_length_choice.md.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import multirater
from grid import Job, Record, as_table, grid_arguments, markdown, run_and_report, what_was_run
from multirater.samples import load_digits
from multirater.simulate import hammer_spammer_cm, label_supply, simulate_class_labels
from multirater.training import TrainConfig, train
from multirater.training.predictor import Predictor
from multirater.types import MISSING, Classes, Dataset, LabelClass
from tanno2019_data import halved

NAME = "class_length_choice"
LENGTHS = {"15 epochs": 0, "500 steps": 500, "1000 steps": 1000, "2000 steps": 2000}
"""Ways, and the fewest steps of each; never fewer than 15 epochs."""

EPOCHS, HELD_OUT = 15, 0.15
METHODS = ("auto", "majority")
CHOSEN_ON, REPORTED = (0, 1), (2, 3)
N_TEST = 300

SKILLS = {"fair": (0.9, 0.8, 0.7, 0.6, 0.5), "poor": (0.7, 0.5, 0.4, 0.3, 0.3)}
"""How often each of the five raters is right; else any other class."""

STUDIES = (
    ("digits", 60, "fair", "one"),
    ("digits", 200, "fair", "dense"),
    ("digits", 200, "poor", "one"),
    ("digits", 600, "fair", "one"),
    ("stripes", 200, "fair", "dense"),
    ("vectors", 200, "fair", "dense"),
    ("vectors", 200, "poor", "one"),
)
"""Kind of items, how many are labelled, raters, and labels of each item."""

VOTED = STUDIES[1:3]
"""Studies that `majority` is trained on, too."""

Items = tuple[NDArray[np.float32], NDArray[np.int64]]
"""Images or vectors (n, *shape), and their classes (n,)."""


# --- studies --------------------------------------------------------------------------------------


def digits(n_train: int, seed: int) -> Items:
    """Return digits at half size to train on, then others to test on."""
    parts = [(load_digits("train"), n_train), (load_digits("test"), N_TEST)]
    random = np.random.default_rng([seed, 1])
    chosen = [(part, random.permutation(len(part.images))[:n]) for part, n in parts]
    x = halved(np.concatenate([part.images[place, None] for part, place in chosen]))
    truth = np.concatenate([part.classes[place] for part, place in chosen])
    return x.astype(np.float32), truth.astype(np.int64)


def stripes(n_train: int, seed: int) -> Items:
    """Return stripes of three directions, at any phase, under noise that hides them from pixels."""
    random = np.random.default_rng([seed, 2])
    n, side = n_train + N_TEST, 16
    truth = random.integers(0, 3, n)
    angle = (truth * np.pi / 3)[:, None, None]
    down, right = np.mgrid[:side, :side]
    phase = random.uniform(0, 2 * np.pi, (n, 1, 1))
    waves = np.sin(0.9 * (down * np.cos(angle) + right * np.sin(angle)) + phase)
    return (waves + random.normal(0, 2.0, waves.shape)).astype(np.float32), truth


def vectors(n_train: int, seed: int) -> Items:
    """Return points around two centres of each of four classes."""
    random = np.random.default_rng([seed, 3])
    centres = random.normal(0, 1.0, (4, 2, 12))
    truth = random.integers(0, 4, n_train + N_TEST)
    x = centres[truth, random.integers(0, 2, len(truth))]
    return (x + random.normal(0, 0.8, x.shape)).astype(np.float32), truth


ITEMS: dict[str, Callable[[int, int], Items]] = {
    "digits": digits,
    "stripes": stripes,
    "vectors": vectors,
}


def study(items: str, n_train: int, raters: str, supply: str, seed: int) -> Dataset:
    """Return items with the labels of five raters, and the splits train and test."""
    x, truth = ITEMS[items](n_train, seed)
    n_classes = int(truth.max()) + 1
    cm = [
        hammer_spammer_cm(n_classes, max(skill, 1 / n_classes), seed=10 * seed + number)
        for number, skill in enumerate(SKILLS[raters])
    ]
    labels = simulate_class_labels(truth, np.stack(cm), seed=seed).T.astype(np.int64)
    given = label_supply(n_train, len(cm), "one" if supply == "one" else "dense", seed=seed)
    labels[:n_train][~given] = MISSING
    labels[n_train:] = MISSING
    return multirater.dataset_from_arrays(
        labels,
        images=x,
        truths=truth,
        splits=["train"] * n_train + ["test"] * N_TEST,
        classes=Classes(tuple(LabelClass(f"class {k}") for k in range(n_classes))),
    )


# --- runs -----------------------------------------------------------------------------------------


def n_epochs(n_train: int, batch: int, fewest: int) -> int:
    """Return the epochs in which at least so many steps are made, and never fewer than 15."""
    steps = ceil((1 - HELD_OUT) * n_train / batch)
    return max(EPOCHS, ceil(fewest / steps))


def work(job: Job) -> dict[str, Any]:
    """Train by the plan but for its length; count right answers on unseen items."""
    warnings.simplefilter("ignore")
    whole = study(job["items"], job["n"], job["raters"], job["supply"], job["seed"])
    seen = replace(whole, cases=tuple(case for case in whole if case.split == "train"))
    made = multirater.plan(seen)
    epochs = n_epochs(job["n"], made.batch_size, LENGTHS[job["length"]])
    config = TrainConfig(method=job["method"], seed=job["seed"], validation=HELD_OUT, threads=1)
    started = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        train(seen, Path(folder) / "run", config, plan=replace(made, epochs=epochs))
        taken = time.process_time() - started
        unseen = [case for case in whole if case.split == "test"]
        found = list(Predictor(Path(folder) / "run").of_cases(unseen, lambda _: ()))
    right = [int(each.prediction.label) == _truth(each.case) for each in found]
    return {"right": float(np.mean(right)), "epochs": epochs, "CPU s": taken}


def _truth(case: multirater.types.Case) -> int:
    truth = case.read_truth()
    assert truth is not None
    return int(truth.array)


def grid(quick: bool) -> list[Job]:
    """List the runs, short ones first."""
    if quick:
        return jobs_of(STUDIES[1:2], CHOSEN_ON[:1])
    reported = jobs_of(STUDIES, REPORTED, ("15 epochs", "1000 steps"))
    return [*jobs_of(STUDIES, CHOSEN_ON), *reported]


def jobs_of(
    studies: Sequence[tuple[str, int, str, str]],
    seeds: Sequence[int],
    lengths: Sequence[str] = tuple(LENGTHS),
) -> list[Job]:
    """List the runs of studies, seeds and lengths."""
    keys = ("items", "n", "raters", "supply")
    return [
        {**dict(zip(keys, each, strict=True)), "method": method, "length": length, "seed": seed}
        for length in lengths
        for seed in seeds
        for each in studies
        for method in METHODS
        if method == "auto" or each in VOTED
    ]


# --- tables ---------------------------------------------------------------------------------------


def write_report(records: Sequence[Record], n_jobs: int, arguments: argparse.Namespace) -> Path:
    """Write the tables of the seeds chosen on, and of those reported."""
    table = as_table(records)
    table["study"] = table["n"].astype(str) + " " + table["items"] + ", " + table["raters"]
    table["study"] += " raters, " + table["supply"].map({"dense": "five labels", "one": "one"})
    parts = [
        "# How long to train on class labels\n",
        what_was_run(NAME, records, n_jobs, quick=arguments.quick) + "\n",
        "Right answers on unseen items, %, of each seed; - where a run has not been made.\n",
    ]
    for title, seeds in (("Chosen on", CHOSEN_ON), ("Reported", REPORTED)):
        chosen = table[table["seed"].isin(seeds)]
        if len(chosen):
            cells = _by_seed(chosen, seeds)
            parts += [f"## {title}: seeds {', '.join(map(str, seeds))}\n", markdown(cells)]
    path: Path = arguments.results.with_suffix(".md")
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


def _by_seed(table: pd.DataFrame, seeds: Sequence[int]) -> pd.DataFrame:
    """Return what each seed reached, by study, method and length."""

    def text(group: pd.DataFrame) -> str:
        right = dict(zip(group["seed"], group["right"], strict=True))
        return ", ".join(f"{100 * right[seed]:.1f}" if seed in right else "-" for seed in seeds)

    keys = ["study", "method", "length"]
    cells = table.groupby(keys, sort=False)[["seed", "right"]].apply(text)
    return cells.unstack("length", sort=False).fillna("-")


def main() -> None:
    """Run what is missing and write the tables."""
    arguments = grid_arguments(__doc__.splitlines()[0], NAME)
    run_and_report(work, grid(arguments.quick), arguments, write_report)


if __name__ == "__main__":
    main()
