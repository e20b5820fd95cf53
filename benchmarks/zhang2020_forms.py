"""Zhang 2020 at its own size: the U-Net of 32 to 256 channels, and every form as printed.

    python benchmarks/zhang2020_forms.py --jobs 2
    python benchmarks/zhang2020_forms.py --quick --jobs 1

In this order, resumable: the presets `mnist` and `mnist-printed` on few and on more digits (does
the truth survive?); which weight of the trace held-out likelihood would choose, with the network
and the digits of `zhang2020.py`; Fig. 3, the weight over training, with all labels and with one;
the forms in the place of Table 6 (warm-up that maximises the trace, constant rate, flips alone, the
pure product of low rank); Tables 1 and 2 and Fig. 4c, d with the methods of `zhang2020.py`; and the
consensus of the predicted raters against that of the real ones (Fig. 14), with Dice by consensus
(Fig. 15). About four hours on two cores. Results: benchmarks/results/zhang2020_forms.jsonl, .md.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from grid import Job, Record, as_table, grid_arguments, markdown, mean_std, run_and_report
from grid import what_was_run as ran
from multirater.evaluation import Evaluation, evaluate
from zhang2020 import METHODS, NETWORK, simulated

UNET: dict[str, Any] = {"channels": (32, 64, 128, 256), "n_features": 32, "batch_size": 16}
WEIGHTS = (0.001, 0.01, 0.1, 0.4, 0.7, 0.9)
"""Of the trace, in Fig. 3."""

CHOICES = (0.0, 0.01, 0.1, 0.4, 0.7)
"""Of the trace, to choose from by held-out likelihood."""

FORMS: dict[str, dict[str, Any]] = {
    "pixel": {},
    "warm-up that maximises the trace": {"warmup": "trace"},
    "constant rate": {"rate": "constant", "learning_rate": 1e-4, "confusion_learning_rate": 1e-4},
    "flips alone": {"augment": True, "augmentation": "flips"},
    "identity + product, rank 1": {"confusion": "low-rank", "rank": 1},
    "product, rank 1": {"confusion": "product", "rank": 1},
    "product, rank 2": {"confusion": "product", "rank": 2},
}
TABLES = tuple(name for name in METHODS if name != "truth")
DICE_OF = "Dice, consensus "
FIGURES = ("Dice", "Dice with raters", "CM RMSE", "energy distance (Dice)", "consensus Pearson")


@dataclass(frozen=True)
class Sizes:
    """How much is run.

    Attributes:
        n_train: digits to train on.
        n_test: to test on.
        epochs: passes over them.
        seeds: of the tables.
        choice: digits to train on, to test on, and epochs, where a weight is chosen.
        few: digits that presets are tried on.
        preset_epochs: passes of a preset.
        strengths: of the raters' errors, for Fig. 4c, d.
    """

    n_train: int
    n_test: int
    epochs: int
    seeds: int
    choice: tuple[int, int, int]
    few: tuple[int, ...]
    preset_epochs: int
    strengths: tuple[float, ...]


FULL = Sizes(1000, 300, 8, 1, (600, 200, 6), (120, 1000), 60, (0.5, 4.0))
QUICK = Sizes(60, 20, 2, 1, (60, 20, 2), (40,), 3, (4.0,))


def all_jobs(sizes: Sizes) -> list[Job]:
    """Every run once, the presets first."""
    jobs: list[Job] = []
    for n_train in sizes.few:
        for name in ("mnist", "mnist-printed"):
            for supply in ("dense", "one"):
                shared = {"supply": supply, "n_train": n_train, "seed": 0, "strength": 1.0}
                jobs.append({"part": "preset", "name": name, **shared} | _tested(sizes))
                jobs[-1]["epochs"] = sizes.preset_epochs if n_train < 500 else 12
    chosen = dict(zip(("n_train", "n_test", "epochs"), sizes.choice, strict=True))
    for weight in CHOICES:
        for supply in ("dense", "one"):
            jobs.append({**_job(sizes, "choice", str(weight), supply, 0), **chosen})
    for weight in WEIGHTS:
        for supply in ("dense", "one"):
            jobs.append(_job(sizes, "figure 3", str(weight), supply, 0))
    for seed in range(sizes.seeds):
        jobs += [_job(sizes, "forms", name, "dense", seed) for name in FORMS]
        for supply in ("dense", "one"):
            jobs += [_job(sizes, "tables", name, supply, seed) for name in TABLES]
    for strength in sizes.strengths:
        for supply in ("dense", "one"):
            for name in ("mode labels", "global CMs", "pixel CMs", "auto"):
                jobs.append({**_job(sizes, "tables", name, supply, 0), "strength": strength})
    return jobs


def _tested(sizes: Sizes) -> dict[str, int]:
    return {"n_test": sizes.n_test, "epochs": sizes.epochs}


def _job(sizes: Sizes, part: str, name: str, supply: str, seed: int) -> dict[str, Any]:
    sized = {"n_train": sizes.n_train, **_tested(sizes)}
    return {"part": part, "name": name, "supply": supply, "seed": seed, "strength": 1.0, **sized}


def settings_of(job: Job) -> dict[str, Any]:
    """Settings of `TrainConfig` for a job."""
    from multirater.training.presets import preset

    if job["part"] == "preset":
        return {**preset(job["name"]), "n_features": 32}
    if job["part"] in ("figure 3", "choice"):
        network = NETWORK if job["part"] == "choice" else UNET
        return {**network, "method": "cm", "trace_weight": float(job["name"])}
    if job["part"] == "forms":
        return {**UNET, "method": "cm", **FORMS[job["name"]]}
    return {**UNET, **METHODS[job["name"]]}


def work(job: Job) -> dict[str, Any]:
    """Train, predict the test digits, and compare with truth and raters."""
    from multirater.training import TrainConfig, predict, train

    warnings.simplefilter("ignore")
    keys = ("n_train", "n_test", "supply", "strength", "seed")
    data = simulated("digit", *(job[key] for key in keys))
    shared = {"epochs": job["epochs"], "seed": job["seed"], "accelerator": "cpu"}
    config = TrainConfig(**{**settings_of(job), **shared})
    test = data.split("test")
    with tempfile.TemporaryDirectory() as folder:
        run, out = Path(folder) / "run", Path(folder) / "out"
        best = train(data, run, config)
        predict(run, test, out, raters=True, confusion=True)
        found = evaluate(out, test, n_resamples=1)
        with (run / "curves.csv").open(newline="", encoding="utf-8") as stream:
            curve = [row["val_nll"] for row in csv.DictReader(stream)]
    measured = {**scores_of(found), **by_consensus(found.groups)}
    return {**measured, "held-out nll": best.best_nll, "curve": curve}


def scores_of(found: Evaluation) -> dict[str, float]:
    """Pick the figures of the paper from an evaluation, as far as they are known."""
    scores = found.scores["value"].dropna()
    return {name: float(scores[name, "all"]) for name in FIGURES if (name, "all") in scores}


def by_consensus(groups: pd.DataFrame) -> dict[str, float]:
    """Dice of images by how far their raters agree (Fig. 15), of the groups that have any."""
    return {f"{DICE_OF}{name}": float(value) for name, value in groups["Dice"].dropna().items()}


def write_report(records: Sequence[Record], n_jobs: int, arguments: argparse.Namespace) -> Path:
    """Write the tables beside the results and return their file."""
    parts = [
        "# Zhang 2020 at its own size\n\n"
        f"{ran('zhang2020_forms', records, n_jobs, quick=arguments.quick)} U-Net of 32, 64, 128 "
        "and 256 channels; Dice in per cent with the truth of unseen digits.\n"
    ]
    runs = as_table(records)
    for part, title in (
        ("preset", "Presets: does the truth survive?"),
        ("choice", "Weight of the trace, as held-out likelihood would choose it"),
        ("figure 3", "Fig. 3: weight of the trace"),
        ("forms", "Forms of the paper, in the place of Table 6"),
        ("tables", "Tables 1 and 2, Fig. 4c and d"),
    ):
        chosen = runs[runs["part"] == part] if len(runs) else runs
        if len(chosen):
            columns = ["supply", "n_train"] if part == "preset" else ["supply", "strength"]
            table = mean_std(chosen, "name", columns, "Dice", digits=1, scale=100)
            parts.append(f"## {title}\n\n{markdown(table)}")
        if len(chosen) and part in ("preset", "choice"):
            nats = mean_std(chosen, "name", columns, "held-out nll", digits=4)
            parts.append(f"Held-out likelihood of the raters' labels, nats:\n\n{markdown(nats)}")
    if len(runs):
        parts.append(_by_consensus(runs[runs["part"] == "tables"]))
    path: Path = arguments.results.with_suffix(".md")
    path.write_text("\n".join(part for part in parts if part), encoding="utf-8")
    return path


def _by_consensus(runs: pd.DataFrame) -> str:
    usual = runs[runs["strength"] == 1.0]
    if usual.empty:
        return ""
    shown = [each for each in usual if each == "consensus Pearson" or each.startswith(DICE_OF)]
    table = usual.groupby(["name", "supply"], sort=False)[shown].mean().round(3)
    return (
        "## Fig. 14 and 15: consensus\n\nCorrelation over images of how far raters agree (mean IoU "
        "of every two), real and predicted, and Dice of images by that level.\n\n"
        f"{markdown(table.reset_index().fillna('-'))}"
    )


def main() -> None:
    """Run what is missing and write the tables."""
    arguments = grid_arguments(__doc__.splitlines()[0], "zhang2020_forms")
    jobs = all_jobs(QUICK if arguments.quick else FULL)
    run_and_report(work, jobs, arguments, write_report)


if __name__ == "__main__":
    main()
