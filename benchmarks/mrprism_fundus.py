"""MrPrism's columns of optic disc and cup, on made-up fundus images.

    python benchmarks/mrprism_fundus.py
    python benchmarks/mrprism_fundus.py --quick
    python benchmarks/mrprism_fundus.py --report

REFUGE and RIGA are not here; `mrprism_fundus_data.py` makes images with five raters, a diagnosis
and a truth. Half of the test images are of another camera: what methods that adapt to images
without labels are for. Soft Dice (thresholds 0.1 to 0.9) with the truth, of the disc with its cup
and of the cup. Results are kept in benchmarks/results/mrprism_fundus.jsonl, the table in
mrprism_fundus.md; what is there already is not run again.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from grid import (
    Job,
    Record,
    as_table,
    grid_arguments,
    markdown,
    mean_std_text,
    run_and_report,
    what_was_run,
)
from mrprism_fundus_data import fundus
from multirater.metrics import soft_dice_score
from multirater.training import TrainConfig, train
from multirater.training.predictor import Predictor
from multirater.types import Dataset

METHODS: dict[str, dict[str, Any]] = {
    "mode": {"method": "mode"},
    "diagnosis-first": {"method": "diagnosis-first"},
    "attention-guided": {"method": "attention-guided"},
    "p-osal": {"method": "p-osal"},
    "p-osal, not adapting": {"method": "p-osal", "options": {"adversarial_weight": 0}},
    "beal": {"method": "beal"},
    "beal, not adapting": {"method": "beal", "options": {"adversarial_weight": 0}},
    "prism": {"method": "prism"},
    "max-mig": {"method": "max-mig"},
    "mrnet": {"method": "mrnet"},
    "cm global": {"method": "cm", "confusion": "global"},
    "crowd-layer": {"method": "crowd-layer"},
    "wdn": {"method": "wdn"},
    "agg-net": {"method": "agg-net"},
    "luw": {"method": "luw"},
    "label-sampling": {"method": "label-sampling"},
}

PAPER = {
    "diagnosis-first": "95.17, 86.23",
    "attention-guided": "90.21, 71.86",
    "p-osal": "94.52, 83.81",
    "beal": "94.84, 84.92",
    "prism": "95.68, 88.53",
    "max-mig": "95.72, 84.45",
    "mrnet": "94.75, 85.63",
    "cm global": "94.50, 84.72",
    "crowd-layer": "95.31, 83.41",
    "wdn": "95.72, 84.16",
    "agg-net": "94.96, 83.66",
    "luw": "94.72, 85.12",
    "label-sampling": "94.42, 84.80",
}
"""Disc and cup of REFUGE, Tables 1 and 2; of prism after three recurrences."""

CAMERAS = ("same", "other")
PARTS = {"disc": 1, "cup": 2}


def all_jobs(*, quick: bool) -> list[Job]:
    """Every run once."""
    seeds, cases, epochs = (1, [16, 8], 2) if quick else (3, [60, 40], 15)
    return [
        {"method": name, "seed": seed, "cases": cases, "epochs": epochs}
        for seed in range(seeds)
        for name in METHODS
    ]


def work(job: Job) -> dict[str, Any]:
    """Train one network and measure it."""
    warnings.simplefilter("ignore")
    n_train, n_test = job["cases"]
    dataset = fundus(n_train, n_test, seed=job["seed"])
    with tempfile.TemporaryDirectory() as folder:
        run = train(dataset, Path(folder) / "run", config_of(job))
        found = {"nll": run.best_nll, "epoch": run.best_epoch}
        return found | scores(Predictor(run.folder), dataset.split("test"))


def config_of(job: Job) -> TrainConfig:
    """Settings of a run: the same for all methods."""
    return TrainConfig(
        **METHODS[job["method"]],
        channels=(16, 32, 64),
        n_features=16,
        epochs=job["epochs"],
        batch_size=4,
        augment=True,
        seed=job["seed"],
        accelerator="cpu",
    )


def scores(predictor: Predictor, tested: Dataset) -> dict[str, float]:
    """Soft Dice of disc and cup, for each camera; means over the cases."""
    found: dict[str, list[float]] = {}
    for case in tested:
        image, truth = case.read_image(), case.read_truth()
        assert image is not None
        assert truth is not None
        probability = predictor(image.array).probability
        for part, first in PARTS.items():
            said, wanted = probability[first:].sum(0), truth.array >= first
            name = f"{part}, {case.name.split('-')[0]} camera"
            found.setdefault(name, []).append(soft_dice_score(wanted, said))
    return {name: float(np.mean(each)) for name, each in found.items()}


def write_report(records: Sequence[Record], n_jobs: int, arguments: argparse.Namespace) -> Path:
    """Write the table beside the results and return its file."""
    runs = as_table(records)
    columns = [f"{part}, {camera} camera" for camera in CAMERAS for part in PARTS]
    rows = []
    for name in METHODS if len(runs) else ():
        own = runs[runs["method"] == name]
        if len(own):
            cells = {each: mean_std_text((own[each] * 100).tolist(), 1) for each in columns}
            paper = PAPER.get(name, "-")
            rows.append({"method": name, **cells, "seeds": len(own), "paper: disc, cup": paper})
    ran = what_was_run("mrprism_fundus", records, n_jobs, quick=arguments.quick)
    path = Path(arguments.results).with_suffix(".md")
    table = markdown(pd.DataFrame(rows).set_index("method")) if rows else ""
    path.write_text(f"# MrPrism, optic disc and cup\n\n{ran} {_NOTE}\n\n{table}", encoding="utf-8")
    return path


_NOTE = (
    "Soft Dice in per cent with the truth, on made-up images: the paper has REFUGE, and "
    "only the order of rows may be compared. `p-osal` and `beal` adapt to the test images of both "
    "cameras, of which no label is read."
)


def main() -> None:
    """Run what has not been run, and write the table."""
    arguments = grid_arguments(__doc__.splitlines()[0], "mrprism_fundus")
    run_and_report(work, all_jobs(quick=arguments.quick), arguments, write_report)


if __name__ == "__main__":
    main()
