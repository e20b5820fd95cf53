"""The arena of class labels: is the default ever worse than a vote, and how close to the truth?

    python benchmarks/class_arena.py            all regimes, both supplies, four seeds: 3 hours
    python benchmarks/class_arena.py --quick    two regimes, one seed: a minute

Truth is known and never used, neither in training nor in choosing anything, except by the ceiling
`truth`. All methods share network, schedule and data (`class_arena_regimes.py`). Whatever was
chosen was chosen on seed 0; the tables are of seeds 10, 20 and 21. Tables go to
benchmarks/results/class_arena.md. Trained runs are kept beside the data and not trained again; what
they say of raters and of themselves is said anew whenever they are measured.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from class_arena_regimes import REGIMES, class_arena_dataset, true_matrices
from class_arena_report import write_report
from grid import Job, grid_arguments, run_and_report
from multirater import fuse
from multirater.metrics import confusion_frobenius_error
from multirater.training import TrainConfig, train
from multirater.training.description import describe_run
from multirater.training.posterior import fuse_by_network
from multirater.training.predictor import Predictor
from multirater.types import MISSING, Case, Dataset
from tanno2019_data import DATA, fetch

RUNS = DATA / "class_arena"
"""Where trained runs are kept."""

CHOSEN_ON, REPORTED = (0,), (10, 20, 21)
METHODS = ("truth", "majority", "dawid-skene", "mean", "auto", "cm", "max-mig", "agg-net")
FUSIONS = {
    "vote": fuse.majority_vote,
    "one-coin": fuse.one_coin,
    "MACE": fuse.mace,
    "Dawid-Skene": fuse.dawid_skene,
}
REPEATED = {"one": ("mean", "dawid-skene"), "dense": ("truth",)}
"""With one label per item all fusions are that label; the truth does not depend on raters."""

NETWORKS: dict[str, dict[str, Any]] = {
    "digits": {
        "backbone": "cnn",
        "backbone_options": {"channels": [16, 16, 32, 32], "norm": "batch"},
        "learning_rate": 1e-2,
        "n_features": 32,
        "epochs": 12,
    },
    "photos": {
        "backbone": "cnn",
        "backbone_options": {"channels": [16, 16, 32, 32], "norm": "batch"},
        "learning_rate": 5e-3,
        "n_features": 32,
        "epochs": 10,
    },
    "vectors": {
        "backbone": "mlp",
        "backbone_options": {"hidden": [64, 64]},
        "learning_rate": 3e-3,
        "n_features": 32,
        "epochs": 15,
    },
}


def work(job: Job) -> dict[str, Any]:
    """Train, or fuse, and measure against the truth."""
    warnings.simplefilter("ignore")
    dataset = class_arena_dataset(job["regime"], job["data"], job["supply"], job["seed"])
    training = replace(dataset, cases=tuple(case for case in dataset if case.split == "train"))
    cm = true_matrices(job["regime"], job["data"], job["seed"])
    if job["method"] == "fusions":
        return fusions(training, cm)
    run, seconds = trained(job, training)
    describe_run(run, training)
    return {
        "accuracy": accuracy(Predictor(run), [case for case in dataset if case.split == "test"]),
        **of_raters(run, cm),
        **learned(run, training),
        "CPU s": seconds,
    }


def trained(job: Job, training: Dataset) -> tuple[Path, float]:
    """Train, unless it was done before; return the run and the CPU seconds it took."""
    folder = RUNS / "-".join(str(each).replace(" ", "_") for each in job.values())
    took = folder / "seconds.json"
    if not took.is_file():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        config = TrainConfig(
            method=job["method"],
            **NETWORKS[job["data"]],
            batch_size=32,
            validation=0.1,
            seed=job["seed"],
        )
        started = time.process_time()
        train(training, folder / "run", config)
        took.write_text(json.dumps(time.process_time() - started), encoding="utf-8")
    return folder / "run", json.loads(took.read_text(encoding="utf-8"))


def accuracy(predictor: Predictor, cases: list[Case]) -> float:
    """Return the share of items whose class is predicted."""
    found = predictor.of_cases(cases, lambda _: ())
    return float(np.mean([_truth(each.case) == int(each.prediction.label) for each in found]))


def of_raters(run: Path, cm: np.ndarray) -> dict[str, Any]:
    """Compare matrices and skills with the true ones; keep what is said of trust."""
    raters = pd.read_csv(run / "raters.csv", index_col="rater")
    found = raters.filter(regex=r"^cm\[.*\]$").to_numpy().reshape(cm.shape)
    trust = json.loads((run / "trust.json").read_text(encoding="utf-8"))
    return {
        **matrix_measures(found, cm),
        "trust": trust["findings"][0]["level"],
        "problems": [each["text"] for each in trust["findings"] if each["level"] == "problem"],
    }


def matrix_measures(found: np.ndarray, cm: np.ndarray) -> dict[str, float]:
    """Return error and rank; of a class that is never answered nothing is known: even shares."""
    filled = np.where(np.isnan(found), 1 / cm.shape[1], found)
    skills = [np.diagonal(each, axis1=1, axis2=2).mean(1) for each in (filled, cm)]
    return {
        "CM error": confusion_frobenius_error(cm, filled),
        "skill rank": float(spearmanr(*skills).statistic),
    }


def learned(run: Path, dataset: Dataset) -> dict[str, float]:
    """Return how right the label of network and raters is, on the labelled items."""
    if not Predictor(run).network.knows_raters:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        fused = fuse_by_network(run, dataset, Path(folder) / "fused").cases.to_numpy().argmax(1)
    return {"learned": float(np.mean(fused == [_truth(case) for case in dataset]))}


def fusions(dataset: Dataset, cm: np.ndarray) -> dict[str, float]:
    """Fuse the labels without a network: how right, and how near the matrices are."""
    answers = np.stack([case.read_labels(dataset.raters).array for case in dataset], axis=1)
    truth = np.array([_truth(case) for case in dataset])
    found: dict[str, float] = {"right labels": float((answers == truth)[answers != MISSING].mean())}
    for name, method in FUSIONS.items():
        result = method(answers, cm.shape[1])
        found[name] = float((result.label == truth).mean())
        if name == "Dawid-Skene":
            found |= matrix_measures(result.cm, cm)
    return found


def _truth(case: Case) -> int:
    truth = case.read_truth()
    assert truth is not None
    return int(truth.array)


def grid(quick: bool) -> list[Job]:
    """List the runs, seed by seed, without those that would only repeat another."""
    regimes = ["spammers", "clean"] if quick else list(REGIMES)
    methods = ("truth", "majority", "auto") if quick else METHODS
    return [
        {"regime": regime, "data": data, "supply": supply, "method": method, "seed": seed}
        for seed in (CHOSEN_ON[:1] if quick else (*CHOSEN_ON, *REPORTED))
        for method in ("fusions", *methods)
        for regime in regimes
        for data in REGIMES[regime].data
        for supply in ("one", "dense")
        if method not in REPEATED[supply] and (method != "truth" or regime == first_of(data))
    ]


def first_of(data: str) -> str:
    """Return the first regime of a kind of items, for what does not depend on raters."""
    return next(name for name, regime in REGIMES.items() if data in regime.data)


def main() -> None:
    """Run what is missing and write the tables."""
    arguments = grid_arguments(__doc__.splitlines()[0], "class_arena")
    jobs = grid(arguments.quick)
    if not arguments.report:
        for name in ("mnist", "cifar10"):
            fetch(name, DATA)
    run_and_report(work, jobs, arguments, write_report)


if __name__ == "__main__":
    main()
