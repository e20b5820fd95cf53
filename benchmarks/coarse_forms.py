"""The Coarse paper's own forms beside ours, on images of three kinds, and with ever more noise.

    python benchmarks/coarse_forms.py --data ../../shared/data --jobs 2
    python benchmarks/coarse_forms.py --quick --jobs 1

Each choice by which `coarse` departs from eq. 4 to 6 is undone alone, then all of them together,
and the printed form is trained on positive drawings alone; beside it Lazy Snapping, the random
walker, and the methods of the paper's Table 2, those for scribbles on scribbles, too. Images:
digits (two classes), blurred shapes in textured noise (two), and three digits of unlike brightness
(four classes, where the transition matters). The noise of the drawings is swept; CHASE_DB1, when
its folder is named, stands in for LES-AV with the paper's five areas and a semi-supervised row.
One seed and few images: what a network learns in some hundred steps. Results:
benchmarks/results/coarse_forms.jsonl, .md.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

import multirater
from arena_regimes import blobs, tiles
from coarse import DATA, DIGITS, VESSELS, digits, has_chase, in_memory, training_run
from grid import Job, Record, as_table, grid_arguments, markdown, mean_std, run_and_report
from grid import what_was_run as ran
from multirater.simulate import COARSE_RATIOS, SimulatedRater, simulate_dataset
from multirater.types import Dataset
from real_raters import chase

PRINTED = {
    "transition": "learned",
    "largest_error": 1.0,
    "doubt": False,
    "trusted": 0.0,
    "undrawn": "background",
}
"""Eq. 4 to 6 of the paper."""

FORMS: dict[str, dict[str, Any]] = {
    "coarse": {"method": "coarse"},
    "coarse, as printed": {"method": "coarse", "options": PRINTED},
    "coarse, as printed, positive drawings alone": {
        "method": "coarse",
        "options": {**PRINTED, "drawings": "positive"},
    },
    "lazy-snapping": {"method": "lazy-snapping"},
    "random-walker": {"method": "random-walker"},
    "positive-only": {"method": "positive-only"},
    "partial": {"method": "partial"},
    **{
        name: {"method": name}
        for name in (
            "scribble-sup",
            "cycle-mix",
            "coarse-sup",
            "label-cleaning-mil",
            "box-sup",
            "local-to-global",
        )
    },
    **{
        f"coarse, {name}={value}": {"method": "coarse", "options": {name: value}}
        for name, value in PRINTED.items()
    },
    "truth": {"method": "truth"},
}
SCRIBBLED = ("coarse", "partial", "scribble-sup", "cycle-mix")
"""Forms that are tried on scribbles, the smallest of drawings."""

NOISY = ("coarse", "coarse, as printed", "partial", "lazy-snapping", "positive-only")
VESSEL_FORMS = ("coarse", "coarse, as printed", "partial")


@dataclass(frozen=True)
class Sizes:
    """How much is run.

    Attributes:
        n_train: images with drawings.
        n_test: to test on.
        epochs: passes over them.
        seeds: of every row.
        noises: of the drawings; 1 is about a tenth of wrong pixels.
        kinds: of images.
        chase_epochs: passes over the photographs.
    """

    n_train: int
    n_test: int
    epochs: int
    seeds: int
    noises: tuple[float, ...]
    kinds: tuple[str, ...]
    chase_epochs: int


FULL = Sizes(150, 100, 12, 1, (0.0, 1.0, 2.0, 4.0), ("digits", "textures", "four classes"), 60)
QUICK = Sizes(100, 60, 8, 1, (0.0, 4.0), ("textures", "four classes"), 10)


def all_jobs(sizes: Sizes, *, with_chase: bool) -> list[Job]:
    """Every run once: forms, then noises, then vessels."""
    sized = {"n_train": sizes.n_train, "n_test": sizes.n_test, "epochs": sizes.epochs}
    jobs: list[Job] = []
    for seed in range(sizes.seeds):
        shared = {**sized, "seed": seed, "ratio": 1.0}
        jobs += [
            {"data": kind, "form": form, "noise": 1.0, **shared}
            for kind in sizes.kinds
            for form in FORMS
        ]
        jobs += [
            {"data": kind, "form": form, "noise": 1.0, **shared, "ratio": min(COARSE_RATIOS)}
            for kind in sizes.kinds
            for form in SCRIBBLED
        ]
        jobs += [
            {"data": "textures", "form": form, "noise": noise, **shared}
            for noise in sizes.noises
            for form in NOISY
            if noise != 1.0
        ]
    return [*jobs, *(chase_jobs(sizes) if with_chase else ())]


def chase_jobs(sizes: Sizes) -> Iterator[Job]:
    """The five areas of LES-AV's figure, masks, and masks with drawings beside them."""
    shared = {"data": "CHASE_DB1", "epochs": sizes.chase_epochs, "noise": 1.0}
    for seed in range(min(sizes.seeds, 2)):
        for ratio in COARSE_RATIOS:
            for form in VESSEL_FORMS:
                yield {**shared, "form": form, "ratio": ratio, "masks": 0, "seed": seed}
        yield {**shared, "form": "truth", "ratio": 1.0, "masks": 20, "seed": seed}
        yield {**shared, "form": "coarse", "ratio": 1.0, "masks": 13, "seed": seed}


@lru_cache(maxsize=1)
def made(kind: str, n_train: int, n_test: int, ratio: float, noise: float, seed: int) -> Dataset:
    """Images of a kind with drawings, in memory."""
    if kind == "digits":
        return digits(ratio, noise, 0, n_train, n_test, seed)
    images, truth = {"textures": blobs, "four classes": tiles}[kind](seed, n_train, n_test)
    plain = multirater.dataset_from_arrays(
        truth[:, None],
        images=images[:, None],
        splits=["train"] * n_train + ["test"] * n_test,
        raters=["truth"],
    )
    cases = tuple(replace(case, truth=case.labels["truth"], labels={}) for case in plain)
    whole = replace(plain, cases=cases, raters=())
    train = replace(whole, cases=whole.split("train").cases)
    drawn = simulate_dataset(train, [SimulatedRater("coarse", ratio, noise)], seed=seed)
    return replace(drawn, cases=(*map(in_memory, drawn), *whole.split("test")), raters=())


@lru_cache(maxsize=1)
def vessels(ratio: float, n_masks: int, seed: int) -> Dataset:
    """CHASE_DB1: the first images have the first observer's masks, the others drawings of them."""
    both = chase(Path(os.environ[DATA]) / "chase_db1")
    first = both.raters[0]
    data = replace(both, cases=tuple(replace(c, truth=c.labels[first]) for c in both))
    drawn = simulate_dataset(data.split("train"), [SimulatedRater("coarse", ratio)], seed=seed)
    cases = [
        replace(case, labels={"mask": case.truth}, drawings=())
        if number < n_masks
        else in_memory(case)
        for number, case in enumerate(drawn)
    ]
    return replace(drawn, cases=(*cases, *data.split("test")), raters=("mask",) if n_masks else ())


def work(job: Job) -> dict[str, float]:
    """Train, and measure mIoU on the test cases."""
    warnings.simplefilter("ignore")
    form = FORMS[job["form"]]
    run = {**job, "method": form["method"]}
    options = {"options": form.get("options", {})}
    if job["data"] == "CHASE_DB1":
        data = vessels(job["ratio"], job["masks"], job["seed"])
        return training_run(data, run, {**VESSELS, **options})
    keys = ("data", "n_train", "n_test", "ratio", "noise", "seed")
    return training_run(made(*(job[key] for key in keys)), run, {**DIGITS, **options})


def write_report(records: Sequence[Record], n_jobs: int, arguments: argparse.Namespace) -> Path:
    """Write the tables beside the results and return their file."""
    parts = [
        "# The Coarse paper's forms\n\n"
        f"{ran('coarse_forms', records, n_jobs, quick=arguments.quick)} "
        f"{_sizes(QUICK if arguments.quick else FULL)} mIoU in per cent on unseen images. As "
        "printed: "
        + ", ".join(f"`--set {name}={str(value).lower()}`" for name, value in PRINTED.items())
        + ". On MNIST the paper has 82.5 for both kinds of drawings, 77.2 for positive ones alone, "
        "78.5 for Lazy Snapping; 76.6 for CoarseSup, 76.8 for LC-MIL, 78.5 for BoxSup and 79.2 for "
        "L2G; on scribbles 75.3, 73.4 for ScribbleSup and 75.2 for CycleMix.\n"
    ]
    runs = as_table(records)
    if len(runs):
        is_vessel = runs["data"] == "CHASE_DB1"
        is_whole = ~is_vessel & (runs["ratio"] == 1.0)
        parts += [_forms(runs[is_whole]), _scribbles(runs[~is_vessel & (runs["ratio"] < 1.0)])]
        parts += [_noises(runs[is_whole]), _vessels(runs[is_vessel])]
    path: Path = arguments.results.with_suffix(".md")
    path.write_text("\n".join(part for part in parts if part), encoding="utf-8")
    return path


def _sizes(sizes: Sizes) -> str:
    return (
        f"{sizes.n_train} images with drawings, {sizes.epochs} epochs, {sizes.n_test} images to "
        f"test on, seeds: {sizes.seeds}."
    )


def _forms(runs: pd.DataFrame) -> str:
    usual = runs[runs["noise"] == 1.0]
    table = mean_std(usual, "form", "data", "mIoU", digits=1, scale=100)
    return "## Forms, each choice undone alone\n\n" + markdown(table) if len(usual) else ""


def _scribbles(runs: pd.DataFrame) -> str:
    table = mean_std(runs, "form", "data", "mIoU", digits=1, scale=100) if len(runs) else None
    return "" if table is None else "## Scribbles\n\n" + markdown(table)


def _noises(runs: pd.DataFrame) -> str:
    usual = runs[(runs["data"] == "textures") & runs["form"].isin(NOISY)]
    if usual.empty:
        return ""
    table = mean_std(usual.sort_values("noise"), "form", "noise", "mIoU", digits=1, scale=100)
    return "## Noise of the drawings, on textures\n\n" + markdown(table)


def _vessels(runs: pd.DataFrame) -> str:
    if runs.empty:
        return ""
    rows = ["form", "masks"]
    table = mean_std(runs, rows, "ratio", "mIoU, 1st observer", digits=1, scale=100)
    title = "## CHASE_DB1 in the place of LES-AV: share of what could be drawn\n\n"
    return title + markdown(table)


def main() -> None:
    """Run what is missing and write the tables."""
    arguments = grid_arguments(__doc__.splitlines()[0], "coarse_forms")
    with_chase = has_chase(arguments)
    jobs = all_jobs(QUICK if arguments.quick else FULL, with_chase=with_chase)
    run_and_report(work, jobs, arguments, write_report)


if __name__ == "__main__":
    main()
