"""Zhang 2020's methods on raters who are real, and on stand-ins for its MS and BraTS columns.

    python benchmarks/zhang2020_studies.py --data ../../shared/data --jobs 2
    python benchmarks/zhang2020_studies.py --data ../../shared/data --quick --jobs 1

QUBIQ brain growth and CHASE_DB1 have no truth: energy distance of the predicted raters, how far
the predicted consensus goes with the real one (Fig. 14), and Dice with the raters. The stand-ins
are no patients: slices of the MNI template with lesions put in, small bright ones (one class, "MS
stand-in") or one with core, rim and oedema (four classes, "BraTS stand-in"), drawn by the paper's
simulated raters; their truth is known. The template
(mni_icbm152_t1_tal_nlin_sym_09a_converted.nii.gz of PyPI's nilearn) is looked for in DATA/mni.
Results: benchmarks/results/zhang2020_studies.jsonl, .md.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import ndimage

import multirater
from grid import Job, Record, as_table, grid_arguments, markdown, mean_std, run_and_report
from grid import what_was_run as ran
from multirater.evaluation import evaluate
from multirater.io.formats.images import read_image
from multirater.simulate import FIVE, SimulatedRater, simulate_dataset
from multirater.types import Classes, Dataset
from real_raters import chase, qubiq
from zhang2020 import METHODS, in_memory
from zhang2020_forms import FIGURES, scores_of

DATA = "MULTIRATER_ZHANG_STUDIES"
"""Environment variable by which the runs know the folder of the data."""

REAL = ("QUBIQ", "CHASE_DB1")
STAND_INS = {"MS stand-in": 2, "BraTS stand-in": 4}
"""Classes of each."""

NETWORK: dict[str, Any] = {"channels": (16, 32, 64), "n_features": 16, "batch_size": 4}
OF_REAL = tuple(name for name in METHODS if name not in ("truth", "oracle"))


@dataclass(frozen=True)
class Sizes:
    """How much is run: passes over the images, slices of stand-ins, seeds, studies."""

    epochs: int
    n_train: int
    n_test: int
    seeds: int


FULL = Sizes(20, 60, 20, 2)
QUICK = Sizes(2, 8, 4, 1)


def all_jobs(sizes: Sizes) -> list[Job]:
    """Every run once."""
    shared = {"epochs": sizes.epochs, "n_train": sizes.n_train, "n_test": sizes.n_test}
    return [
        {"study": study, "method": method, "seed": seed, **shared}
        for seed in range(sizes.seeds)
        for study in (*REAL, *STAND_INS)
        for method in (OF_REAL if study in REAL else METHODS)
    ]


@lru_cache(maxsize=1)
def template() -> NDArray[np.float32]:
    """The T1 template at half its resolution, axial slices first, from 0 to 1."""
    (path,) = sorted((Path(os.environ[DATA]) / "mni").glob("*.nii.gz"))[:1]
    volume = read_image(path).array[0].astype(np.float32)
    small = ndimage.zoom(volume, 0.5, order=1)
    return np.asarray(np.clip(small / np.percentile(small, 99.5), 0, 1), dtype=np.float32)


def lesion_study(kind: str, n_train: int, n_test: int, seed: int) -> Dataset:
    """Slices with lesions, and the simulated raters who drew them."""
    random = np.random.default_rng([seed, STAND_INS[kind]])
    volume = template()
    middle = range(len(volume) // 3, 2 * len(volume) // 3)
    images, truths = [], []
    for _ in range(n_train + n_test):
        plane = volume[int(random.choice(middle))]
        put = ms_lesions if kind == "MS stand-in" else tumour
        image, truth = put(plane, random)
        images.append(image + 0.03 * random.standard_normal(plane.shape).astype(np.float32))
        truths.append(truth)
    plain = multirater.dataset_from_arrays(
        np.empty((len(images), 0, *images[0].shape), dtype=np.int16),
        images=[image[None] for image in images],
        truths=truths,
        splits=["train"] * n_train + ["test"] * n_test,
        classes=Classes.numbered(STAND_INS[kind]),
    )
    raters = FIVE if STAND_INS[kind] == 2 else [r for r in FIVE if r.kind != "blank"]
    drawn = simulate_dataset(plain, [SimulatedRater(each.kind) for each in raters], seed=seed)
    return replace(drawn, cases=tuple(in_memory(case) for case in drawn))


def place_in(plane: NDArray[np.float32], random: np.random.Generator) -> NDArray[np.int64]:
    """A pixel well inside the brain."""
    inside = np.argwhere(ndimage.binary_erosion(plane > 0.4, iterations=3))
    return np.asarray(inside[int(random.integers(len(inside)))])


def distance_from(
    at: NDArray[np.int64], shape: Sequence[int], random: np.random.Generator
) -> NDArray[np.float64]:
    """Distance from a pixel, in a metric that makes wavy ellipses of circles."""
    rows, columns = np.indices(shape) - at.reshape(2, 1, 1)
    angle = np.arctan2(rows, columns)
    wave = 1 + sum(random.normal(0, 0.1) * np.cos(k * angle + random.uniform(0, 7)) for k in (2, 3))
    return np.asarray(np.hypot(rows, columns) / wave)


def ms_lesions(
    plane: NDArray[np.float32], random: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.int16]]:
    """Three to eight small bright lesions."""
    image, truth = plane.copy(), np.zeros(plane.shape, dtype=np.int16)
    for _ in range(int(random.integers(3, 9))):
        away = distance_from(place_in(plane, random), plane.shape, random)
        lesion = away < random.uniform(1.5, 4)
        image += ndimage.gaussian_filter(0.35 * lesion.astype(np.float32), 0.7)
        truth[lesion] = 1
    return image, truth


def tumour(
    plane: NDArray[np.float32], random: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.int16]]:
    """One lesion: dark core (1), bright rim (2), and oedema around (3)."""
    image, truth = plane.copy(), np.zeros(plane.shape, dtype=np.int16)
    away = distance_from(place_in(plane, random), plane.shape, random)
    radius = random.uniform(4, 7)
    for k, reach, change in ((3, 2.0, 0.2), (2, 1.3, 0.5), (1, 0.8, -0.4)):
        part = (away < reach * radius) & (plane > 0.1)
        truth[part] = k
        image += ndimage.gaussian_filter(change * part.astype(np.float32), 0.7)
    return image, truth


@lru_cache(maxsize=1)
def study_of(name: str, n_train: int, n_test: int, seed: int) -> Dataset:
    """A study by name."""
    if name == "QUBIQ":
        return qubiq(Path(os.environ[DATA]) / "qubiq_brain_growth")
    if name == "CHASE_DB1":
        return chase(Path(os.environ[DATA]) / "chase_db1")
    return lesion_study(name, n_train, n_test, seed)


def work(job: Job) -> dict[str, Any]:
    """Train, predict the test images, and compare."""
    from multirater.training import TrainConfig, predict, train

    warnings.simplefilter("ignore")
    data = study_of(*(job[key] for key in ("study", "n_train", "n_test", "seed")))
    patch = {"patch": (96, 96), "augment": True} if job["study"] == "CHASE_DB1" else {}
    shared = {"epochs": job["epochs"], "seed": job["seed"], "accelerator": "cpu"}
    config = TrainConfig(**METHODS[job["method"]], **NETWORK, **patch, **shared)
    test = data.split("test")
    with tempfile.TemporaryDirectory() as folder:
        run, out = Path(folder) / "run", Path(folder) / "out"
        train(data, run, config)
        predict(run, test, out, raters=True, confusion=True)
        return scores_of(evaluate(out, test, n_resamples=1))


def write_report(records: Sequence[Record], n_jobs: int, arguments: argparse.Namespace) -> Path:
    """Write the tables beside the results and return their file."""
    parts = [
        "# Zhang 2020's methods on real raters and on stand-ins\n\n"
        f"{ran('zhang2020_studies', records, n_jobs, quick=arguments.quick)} Stand-ins are MNI "
        "slices with lesions put in, not the paper's data.\n"
    ]
    runs = as_table(records)
    for study in dict.fromkeys(runs["study"]) if len(runs) else ():
        own = runs[runs["study"] == study]
        tables = []
        for name in (each for each in FIGURES if each in own and own[each].notna().any()):
            table = mean_std(own.assign(**{name: own[name].astype(float)}), "method", "study", name)
            tables.append(table.set_axis([name], axis=1))
        parts.append(f"## {study}\n\n{markdown(pd.concat(tables, axis=1).fillna('-'))}")
    path: Path = arguments.results.with_suffix(".md")
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


def main() -> None:
    """Run what is missing and write the tables."""
    arguments = grid_arguments(__doc__.splitlines()[0], "zhang2020_studies")
    if not arguments.report:
        if arguments.data is None:
            raise SystemExit("--data: name the folder of the studies")
        os.environ[DATA] = str(arguments.data.resolve())
    run_and_report(work, all_jobs(QUICK if arguments.quick else FULL), arguments, write_report)


if __name__ == "__main__":
    main()
