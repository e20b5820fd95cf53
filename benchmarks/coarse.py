"""The tables of the Coarse paper on digits, and coarse drawings of retinal vessels.

    python benchmarks/coarse.py --data ../../shared/data --jobs 2
    python benchmarks/coarse.py --quick --jobs 1

Tables 1 and 2 (ways to use coarse drawings), Table 3 (masks, drawings and both) and the sweep of
the area (Fig. 3 to 5), with 400 digits to train on as in the paper; and CHASE_DB1 with drawings
simulated from the first observer's masks, measured against both observers, when its folder is
named. Digits, and the drawings on them, are others for every seed. Results are kept in
benchmarks/results/coarse.jsonl, tables in coarse.md beside it; an interrupted benchmark goes on
where it stopped.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from coarse_report import write_report
from grid import Job, grid_arguments, run_and_report
from multirater.metrics import mean_iou_score
from multirater.samples import digits_dataset
from multirater.simulate import COARSE_RATIOS, SimulatedRater, simulate_dataset
from multirater.types import Case, Dataset
from real_raters import chase
from zhang2020 import held

METHODS = ("coarse", "partial", "positive-only", "grabcut", "random-walker")
DIGITS: dict[str, Any] = {"channels": (16, 32, 64), "n_features": 16, "batch_size": 16}
VESSELS: dict[str, Any] = {
    "channels": (16, 32, 64),
    "n_features": 16,
    "batch_size": 4,
    "patch": (96, 96),
    "augment": True,
}
DATA = "MULTIRATER_COARSE_DATA"
"""Environment variable that tells processes where the data of CHASE_DB1 are."""


@dataclass(frozen=True)
class Sizes:
    """How much is run.

    Attributes:
        n_train: digits with drawings, or with masks.
        n_extra: digits with drawings beside those with masks (Table 3, semi-supervised).
        n_test: digits to test on.
        epochs: passes over the training digits.
        seeds: of every row.
        ratios: areas of the drawings.
        chase_epochs: passes over the photographs.
        chase_seeds: of CHASE_DB1.
    """

    n_train: int
    n_extra: int
    n_test: int
    epochs: int
    seeds: int
    ratios: tuple[float, ...]
    chase_epochs: int
    chase_seeds: int


FULL = Sizes(400, 200, 500, 20, 3, COARSE_RATIOS, 60, 2)
QUICK = Sizes(400, 200, 200, 12, 1, (1.0, 0.3, 0.01), 20, 1)

_FIRST_TRAIN, _FIRST_TEST = 600, 200
"""Digits before these were looked at while the method was made."""

_PER_SEED = 600
"""Training digits set aside for a seed."""


# --- jobs -----------------------------------------------------------------------------------------


def all_jobs(sizes: Sizes, *, with_chase: bool) -> list[Job]:
    """Return every run once, what is asked for first at the front."""
    parts = [table_jobs, ratio_jobs, *([chase_jobs] if with_chase else [])]
    jobs = [job for part in parts for job in part(sizes)]
    return list({tuple(job.values()): job for job in jobs}.values())


def table_jobs(sizes: Sizes) -> Iterator[Job]:
    """Tables 1 to 3."""
    for seed in range(sizes.seeds):
        yield from (
            digit_job(sizes, method, seed) for method in (*METHODS, "grabcut-boxes", "truth")
        )
        yield digit_job(sizes, "coarse", seed, ratio=min(sizes.ratios))
        yield digit_job(sizes, "coarse", seed, n_masks=sizes.n_train)


def ratio_jobs(sizes: Sizes) -> Iterator[Job]:
    """Fig. 3 to 5: the sweep of the area."""
    for seed in range(sizes.seeds):
        for ratio in sizes.ratios:
            yield from (digit_job(sizes, method, seed, ratio=ratio) for method in METHODS)


def digit_job(
    sizes: Sizes,
    method: str,
    seed: int,
    *,
    ratio: float = 1.0,
    n_masks: int = 0,
) -> Job:
    """Describe one run on digits; with masks, there are drawings of fewer others."""
    return {
        "data": "digits",
        "method": method,
        "ratio": ratio,
        "noise": 1.0,
        "masks": n_masks,
        "drawn": sizes.n_extra if n_masks else sizes.n_train,
        "n_test": sizes.n_test,
        "epochs": sizes.epochs,
        "seed": seed,
    }


def chase_jobs(sizes: Sizes) -> Iterator[Job]:
    """Vessels: masks, and drawings of two areas."""
    for seed in range(sizes.chase_seeds):
        for method, ratio in (
            ("truth", 1.0),
            *((method, 0.3) for method in METHODS),
            ("coarse", 0.01),
            ("partial", 0.01),
        ):
            yield {
                "data": "CHASE_DB1",
                "method": method,
                "ratio": ratio,
                "epochs": sizes.chase_epochs,
                "seed": seed,
            }


# --- data -----------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def digits(
    ratio: float, noise: float, n_masks: int, n_drawn: int, n_test: int, seed: int
) -> Dataset:
    """Return digits of which the first have masks and the others drawings, all in memory."""
    whole = digits_dataset()
    n_train = n_masks + n_drawn
    first = _FIRST_TRAIN + seed * _PER_SEED
    train = replace(whole, cases=whole.split("train").cases[first : first + n_train])
    test = whole.split("test").cases[_FIRST_TEST : _FIRST_TEST + n_test]
    drawn = simulate_dataset(train, [SimulatedRater("coarse", ratio, noise)], seed=seed)
    cases = [
        replace(case, labels={"mask": case.truth}, drawings=())
        if number < n_masks
        else in_memory(case)
        for number, case in enumerate(drawn)
    ]
    return replace(drawn, cases=(*cases, *test), raters=("mask",) if n_masks else ())


@lru_cache(maxsize=1)
def vessels(ratio: float, seed: int) -> Dataset:
    """Return CHASE_DB1 with drawings simulated from the first observer, who is the truth too."""
    both = chase(Path(os.environ[DATA]) / "chase_db1")
    first = both.raters[0]
    cases = tuple(replace(case, truth=case.labels[first]) for case in both)
    data = replace(both, cases=cases)
    drawn = simulate_dataset(data.split("train"), [SimulatedRater("coarse", ratio)], seed=seed)
    return replace(drawn, cases=(*map(in_memory, drawn), *data.split("test")), raters=())


def in_memory(case: Case) -> Case:
    """Return a case whose drawings are drawn now, once, instead of whenever they are read."""
    read = [(each, each.source.read()) for each in case.drawings]
    drawings = tuple(replace(each, source=held(label)) for each, label in read)
    return replace(case, drawings=drawings)


# --- runs -----------------------------------------------------------------------------------------


def work(job: Job) -> dict[str, float]:
    """Train, and measure mIoU on the test cases."""
    warnings.simplefilter("ignore")
    if job["data"] == "digits":
        keys = ("ratio", "noise", "masks", "drawn", "n_test", "seed")
        data = digits(*(job[key] for key in keys))
        return training_run(data, job, DIGITS)
    return training_run(vessels(job["ratio"], job["seed"]), job, VESSELS)


def training_run(data: Dataset, job: Job, network: dict[str, Any]) -> dict[str, float]:
    """Train on everything but the test cases; no truth and no held-out case is looked at."""
    from multirater.training import Predictor, TrainConfig, train

    config = TrainConfig(
        method=job["method"],
        epochs=job["epochs"],
        seed=job["seed"],
        validation=0.0,
        accelerator="cpu",
        **network,
    )
    with tempfile.TemporaryDirectory() as folder:
        train(replace(data, cases=without_test_labels(data)), Path(folder) / "run", config)
        predictor = Predictor(Path(folder) / "run")
        found: dict[str, list[float]] = {}
        for each in predictor.of_cases(data.split("test"), lambda _: ()):
            for name, reference in references(each.case).items():
                score = mean_iou_score(reference, each.prediction.label)
                found.setdefault(name, []).append(score)
    return {name: float(np.mean(scores)) for name, scores in found.items()}


def without_test_labels(data: Dataset) -> tuple[Case, ...]:
    """Return the cases; what observers drew on test images is none of the training's business."""
    return tuple(
        replace(case, labels={}, truth=None) if case.split == "test" else case for case in data
    )


def references(case: Case) -> dict[str, np.ndarray]:
    """Return what a test case is compared with: the truth, or every observer."""
    if not case.labels:
        return {"mIoU": case.read_truth().array}
    return {f"mIoU, {rater}": case.read_label(rater).array for rater in case.labels}


def has_chase(arguments: argparse.Namespace) -> bool:
    """Whether runs on CHASE_DB1 are part of it; tells processes where its folder is."""
    if arguments.data:
        os.environ[DATA] = str(arguments.data.resolve())
    return bool(arguments.data) or bool(arguments.report)


def main() -> None:
    """Run what is missing and write the tables."""
    arguments = grid_arguments(__doc__.splitlines()[0], "coarse")
    with_chase = has_chase(arguments)
    jobs = all_jobs(QUICK if arguments.quick else FULL, with_chase=with_chase)
    run_and_report(work, jobs, arguments, write_report)


if __name__ == "__main__":
    main()
