"""The tables of Zhang 2020 on digits with five simulated raters: every method, the same network.

    python benchmarks/zhang2020.py --jobs 2
    python benchmarks/zhang2020.py --quick --jobs 1

Tables 1 to 3 (segmentation, confusion matrices and energy distance, with every rater's label and
with one label per image), Table 6 and Fig. 16 (low rank against full), Fig. 4 (raters who err more
and more), and ten seeds of the method with confusion matrices, to see whether it ever collapses or
swaps classes. Results are kept in benchmarks/results/zhang2020.jsonl, tables in zhang2020.md beside
it; an interrupted benchmark goes on where it stopped.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from shutil import copy
from typing import Any

import numpy as np

from grid import Job, grid_arguments, run_and_report
from multirater.evaluation import evaluate
from multirater.io import dataset_from_arrays, read_dataset
from multirater.metrics import dice_score
from multirater.samples import digits_dataset, load_digits
from multirater.simulate import FIVE, SimulatedRater, simulate_dataset
from multirater.types import Case, Classes, Dataset, LabelClass, Source
from step import kept_bytes
from zhang2020_report import write_report

METHODS: dict[str, dict[str, Any]] = {
    "truth": {"method": "truth"},
    "mean labels": {"method": "mean"},
    "mode labels": {"method": "mode"},
    "Probabilistic U-Net": {"method": "prob-unet"},
    "separate CNNs": {"method": "separate"},
    "STAPLE": {"method": "staple"},
    "Spatial STAPLE": {"method": "spatial-staple", "options": {"window": 7}},
    "global CMs": {"method": "cm", "confusion": "global"},
    "pixel CMs without trace": {"method": "cm", "trace_weight": 0.0},
    "pixel CMs": {"method": "cm"},
    "low-rank CMs": {"method": "cm", "confusion": "low-rank"},
    "oracle": {"method": "oracle"},
    "auto": {"method": "auto"},
}
"""Settings that differ from run to run. Everything else is the same for all."""

FUSIONS = ("mode labels", "STAPLE", "Spatial STAPLE")
"""With one label per image there is nothing to fuse: these train on what `mean labels` does."""

SWEPT = {
    "dense": ("mode labels", "STAPLE", "pixel CMs"),
    "one": ("mean labels", "global CMs", "pixel CMs"),
}
N_CLASSES = (2, 4, 8, 16, 32, 64)
NETWORK: dict[str, Any] = {"channels": (16, 32, 64), "n_features": 16, "batch_size": 32}
BANDS = Classes(tuple(LabelClass(name) for name in ("background", "upper", "middle", "lower")))
GREYS = np.array([1.0, 1.0, 0.7, 0.45], dtype=np.float32)
"""How bright each class is, as a share of the digit's own brightness."""


@dataclass(frozen=True)
class Sizes:
    """How much is run.

    Attributes:
        n_train: digits to train on, some of which are held out to choose the epoch.
        n_test: digits to test on.
        epochs: passes over the training digits.
        seeds: of the tables.
        many_seeds: of the method with confusion matrices, to look for collapses.
        strengths: of the raters' errors, other than 1.
        swept_seeds: of the runs at those strengths.
    """

    n_train: int
    n_test: int
    epochs: int
    seeds: int
    many_seeds: int
    strengths: tuple[float, ...]
    swept_seeds: int


FULL = Sizes(600, 200, 6, 3, 10, (0.25, 0.5, 2.0, 4.0), 2)
QUICK = Sizes(240, 60, 5, 1, 2, (2.0,), 1)


# --- jobs -----------------------------------------------------------------------------------------


def all_jobs(sizes: Sizes) -> list[Job]:
    """Return every run once, those on the same data side by side."""
    jobs = [*table_jobs(sizes), *seed_jobs(sizes), *sweep_jobs(sizes), *rank_jobs(sizes)]
    jobs.sort(key=lambda job: (job["data"], job["strength"], job["supply"], job["seed"]))
    distinct = {tuple(job.values()): job for job in jobs}
    return [*distinct.values(), *growth_jobs()]


def training_job(
    sizes: Sizes, method: str, supply: str, seed: int, *, strength: float = 1.0, data: str = "digit"
) -> Job:
    """Describe one training run."""
    job = {
        "data": data,
        "method": method,
        "supply": supply,
        "strength": strength,
        "seed": seed,
        "n_train": sizes.n_train,
        "n_test": sizes.n_test,
        "epochs": sizes.epochs,
    }
    return {**job, "window": 7} if method == "Spatial STAPLE" else job


def table_jobs(sizes: Sizes) -> Iterator[Job]:
    """Tables 1, 2 and 3: every method, with every label and with one per image."""
    for seed in range(sizes.seeds):
        for method in METHODS:
            yield training_job(sizes, method, "dense", seed)
            if method not in ("truth", *FUSIONS):
                yield training_job(sizes, method, "one", seed)


def seed_jobs(sizes: Sizes) -> Iterator[Job]:
    """Pixel confusion matrices with many seeds."""
    for seed in range(sizes.many_seeds):
        for supply in ("dense", "one"):
            yield training_job(sizes, "pixel CMs", supply, seed)


def sweep_jobs(sizes: Sizes) -> Iterator[Job]:
    """Fig. 4: raters who err less and more."""
    for strength in (*sizes.strengths, 1.0):
        for supply, methods in SWEPT.items():
            for method in methods:
                for seed in range(sizes.swept_seeds):
                    yield training_job(sizes, method, supply, seed, strength=strength)


def rank_jobs(sizes: Sizes) -> Iterator[Job]:
    """Table 6: full and low-rank matrices of four classes."""
    for method in ("mode labels", "pixel CMs", "low-rank CMs"):
        for seed in range(sizes.seeds):
            yield training_job(sizes, method, "dense", seed, data="bands")


def growth_jobs() -> list[Job]:
    """Fig. 16: what matrices of more and more classes cost."""
    return [{"head": head, "n_classes": n} for n in N_CLASSES for head in ("pixel", "low-rank")]


# --- data -----------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def simulated(
    data: str, n_train: int, n_test: int, supply: str, strength: float, seed: int
) -> Dataset:
    """Return digits with simulated raters, all in memory; test digits always have every label."""
    if data == "digit":
        digits = digits_dataset(n_train=n_train, n_test=n_test)
        raters = [SimulatedRater(each.kind, strength) for each in FIVE]
    else:
        digits = banded_digits(n_train, n_test)
        raters = [SimulatedRater(each.kind, strength) for each in FIVE if each.kind != "blank"]
    parts = [
        simulate_dataset(digits.split("train"), raters, supply=supply, seed=seed),
        simulate_dataset(digits.split("test"), raters, seed=seed + 1000),
    ]
    cases = tuple(in_memory(case) for part in parts for case in part)
    return replace(parts[0], cases=cases)


def banded_digits(n_train: int, n_test: int) -> Dataset:
    """Digits whose upper, middle and lower third are classes of their own, each in its own grey."""
    images, truths, splits = [], [], []
    for split, number in (("train", n_train), ("test", n_test)):
        digits = load_digits(split)
        for image, mask in zip(digits.images[:number], digits.masks[:number], strict=True):
            truths.append(banded(mask))
            images.append(image * GREYS[banded(np.tile(mask.any(1)[:, None], mask.shape[1]))])
            splits.append(split)
    nobody = np.empty((len(images), 0, *images[0].shape), dtype=np.int16)
    names = [f"{split}-{number:04d}" for number, split in enumerate(splits)]
    return dataset_from_arrays(
        nobody, images=images, truths=truths, cases=names, splits=splits, classes=BANDS
    )


def banded(mask: np.ndarray) -> np.ndarray:
    """Return 1, 2, 3 in the upper, middle and lower third of the rows that a mask covers."""
    rows = np.flatnonzero(mask.any(axis=1))
    band = np.zeros(len(mask), dtype=np.int16)
    for number, part in enumerate(np.array_split(rows, 3), start=1):
        band[part] = number
    return np.where(mask > 0, band[:, None], 0).astype(np.int16)


def in_memory(case: Case) -> Case:
    """Return a case whose labels are drawn now, once, instead of whenever they are read."""
    return replace(case, labels={who: held(source.read()) for who, source in case.labels.items()})


def held(value: Any) -> Source[Any]:
    """Return a source of a value that is there already."""
    return Source(lambda: value)


# --- runs -----------------------------------------------------------------------------------------


def work(job: Job) -> dict[str, float]:
    """Do one job."""
    warnings.simplefilter("ignore")
    return growth(job["head"], job["n_classes"]) if "head" in job else training_run(job)


def training_run(job: Job) -> dict[str, float]:
    """Train, predict the test digits, compare with truth and raters."""
    from multirater.training import TrainConfig, predict, train

    data = simulated(*(job[key] for key in simulated_keys()))
    config = TrainConfig(
        **METHODS[job["method"]],
        **NETWORK,
        epochs=job["epochs"],
        seed=job["seed"],
        accelerator="cpu",
    )
    test = data.split("test")
    with tempfile.TemporaryDirectory() as folder:
        run, out = Path(folder) / "run", Path(folder) / "out"
        best = train(data, run, config)
        predict(run, test, out, raters=True, confusion=True)
        # Methods without matrices of their own: one per rater, counted from the network's truth.
        copy(run / "raters.csv", out)
        scores = evaluate(out, test, n_resamples=1).scores["value"]
        found = read_dataset(out)
        labels = [case.read_label("network").array for case in found]
    wanted = ("Dice", "CM RMSE", "energy distance (Dice)", "energy distance (IoU)")
    measured = {name: float(scores[name, "all"]) for name in wanted if (name, "all") in scores}
    return {
        **measured,
        **foreground_rates(test, labels),
        "rater Dice": mean_dice_of_raters(test),
        "held-out nll": best.best_nll,
    }


def simulated_keys() -> tuple[str, ...]:
    """Return the keys of a job that its data follow from, as `simulated` takes them."""
    return ("data", "n_train", "n_test", "supply", "strength", "seed")


def foreground_rates(test: Dataset, labels: list[np.ndarray]) -> dict[str, float]:
    """Share of the true foreground, and of the true background, that is predicted as foreground.

    Both near 0: collapsed. The second above the first: swapped.
    """
    truth = np.stack([case.read_truth().array for case in test]) > 0
    predicted = np.stack(labels) > 0
    return {
        "true positives": float(predicted[truth].mean()),
        "false positives": float(predicted[~truth].mean()),
    }


def mean_dice_of_raters(test: Dataset) -> float:
    """Return the mean Dice of the raters' labels against the truth."""
    return float(
        np.mean(
            [
                dice_score(case.read_truth().array, case.read_label(rater).array)
                for case in test
                for rater in case.labels
            ]
        )
    )


def growth(head: str, n_classes: int) -> dict[str, float]:
    """Count what a training step spends on the matrices of 5 raters, 32 x 32 pixels."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    from multirater.nn import LowRankConfusion, PixelConfusion
    from multirater.nn.backbone import n_parameters
    from multirater.nn.losses import columns_nll

    kind = {"pixel": PixelConfusion, "low-rank": LowRankConfusion}[head]
    confusion = kind(5, n_classes, NETWORK["n_features"])
    features = torch.randn(1, NETWORK["n_features"], 32, 32, requires_grad=True)
    log_truth = torch.randn(1, n_classes, 32, 32).log_softmax(1).requires_grad_()
    labels = torch.randint(0, n_classes, (1, 5, 32, 32))

    def loss() -> torch.Tensor:
        columns = confusion.columns(features, labels, range(5))
        return columns_nll(log_truth, columns, labels) + columns.trace.mean()

    memory = kept_bytes(loss)
    with FlopCounterMode(display=False) as counter:
        loss().backward()
    n_pixels = labels[0, 0].numel()
    return {
        "values": confusion.weight.shape[1],
        "parameters": n_parameters(confusion) / 5,
        "flops": counter.get_total_flops() / 5 / n_pixels,
        "bytes": memory / 5 / n_pixels,
    }


def main() -> None:
    """Run what is missing and write the tables."""
    arguments = grid_arguments(__doc__.splitlines()[0], "zhang2020")
    sizes = QUICK if arguments.quick else FULL
    jobs = all_jobs(sizes)
    run_and_report(work, jobs, arguments, write_report)


if __name__ == "__main__":
    main()
