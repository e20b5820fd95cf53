"""The tables of MrPrism on brain growth, and on simulated raters whose truth is known.

    python benchmarks/mrprism.py --data ../../shared/data/qubiq_brain_growth
    python benchmarks/mrprism.py --data ... --quick
    python benchmarks/mrprism.py --report

QUBIQ brain growth has 39 slices and seven raters; 34 train and 5 test as in the paper (three
seeds), and five folds test every slice once (one seed). No arbitrated truth is public, so that
predictions are held to the share of raters who drew a pixel, by soft Dice (thresholds 0.1 to 0.9).
Slices are halved to 64 x 64, and the networks are narrow, to fit the hour: only ratios from one run
compare. Simulated raters draw digits. Results are kept in benchmarks/results/mrprism.jsonl, tables
in mrprism.md; what is there already is not run again.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import multirater
from grid import Job, grid_arguments, run_and_report
from mrprism_report import write_report
from multirater import fuse
from multirater.evaluation.soft_scores import shares
from multirater.metrics import dice_score, soft_dice_score
from multirater.samples import digits_dataset
from multirater.simulate import simulate_dataset
from multirater.training import TrainConfig, train
from multirater.training.posterior import LearnedOptions, NetworkFuser
from multirater.training.predictor import Predictor
from multirater.types import Case, Dataset, Labels

DATA = "MULTIRATER_BRAIN_GROWTH"
"""Environment variable by which the runs know the folder of the data."""

METHODS: dict[str, dict[str, Any]] = {
    "mode": {"method": "mode"},
    "mean": {"method": "mean"},
    "wdn": {"method": "wdn"},
    "crowd-layer": {"method": "crowd-layer"},
    "agg-net": {"method": "agg-net"},
    "cm global": {"method": "cm", "confusion": "global"},
    "max-mig": {"method": "max-mig"},
    "mrnet": {"method": "mrnet"},
    "luw": {"method": "luw"},
    "label-sampling": {"method": "label-sampling"},
    "attention-guided": {"method": "attention-guided"},
    "p-osal": {"method": "p-osal"},
    "beal": {"method": "beal"},
    "prism": {"method": "prism"},
}
PRINTED = {"calibration": "shuffle", "calibration_weight": 0.3, "pixel_weight": 0.0}
"""As the paper has it: shuffle loss with weight 0.3, structural similarity alone."""

ABLATIONS: dict[str, dict[str, Any]] = {
    "prism": {},
    "prism, shuffle loss": {"calibration": "shuffle"},
    "prism, as printed": PRINTED,
    "prism, as printed, confidences learn from shuffling": {**PRINTED, "shuffled": "learning"},
    "prism, both losses": {"calibration": "both"},
    "prism, concatenation": {"integration": "concatenation"},
    "prism, conv-lstm": {"integration": "conv-lstm"},
    "prism, structure only": {"pixel_weight": 0.0},
    "prism, self-fused": {"supervision": "self-fused"},
    "prism, as printed, concatenation": {**PRINTED, "integration": "concatenation"},
    "prism, as printed, conv-lstm": {**PRINTED, "integration": "conv-lstm"},
    "prism, widths of Table 5": {"widths": "table-5"},
}
"""What differs from `prism`: Table 4, and what the paper leaves open."""

BOTH = "best and last"
"""Ablations are scored at the epoch of best held-out likelihood, and at the last: the likelihood is
nothing that every loss trains."""

SIMULATED = ("mode", "cm global", "mrnet", "prism")
FUSIONS = ("majority-vote", "staple", "max-mig", "prism")
EQUATIONS: dict[str, LearnedOptions] = {
    "prism, y_fuse": LearnedOptions(prior="uniform"),
    "prism, y_self": LearnedOptions(prior="uniform", labels="expected"),
}
"""Eq. 4 and 5, without what ConP sees as prior."""
N_TRAIN, N_FOLDS = 34, 5


@dataclass(frozen=True)
class Sizes:
    """How much is run.

    Attributes:
        epochs: of every network.
        seeds: of the paper's split.
        folds: of the five that are run.
        digits: for training and for testing.
    """

    epochs: int
    seeds: int
    folds: int
    digits: tuple[int, int]


FULL = Sizes(epochs=25, seeds=3, folds=N_FOLDS, digits=(200, 60))
QUICK = Sizes(epochs=8, seeds=1, folds=0, digits=(60, 20))


def all_jobs(sizes: Sizes) -> list[Job]:
    """Every run once, the tables' most important first."""
    of_seeds = [f"seed {number}" for number in range(sizes.seeds)]
    splits = [*of_seeds, *(f"fold {number}" for number in range(sizes.folds))]
    plain = {"epochs": sizes.epochs}
    jobs: list[Job] = [
        {"data": "brain", "method": name, "split": split, **plain}
        for split in splits
        for name in METHODS
    ]
    jobs += [
        {"data": "brain", "method": name, "split": split, "scored": BOTH, **plain}
        for split in of_seeds
        for name in ABLATIONS
    ]
    jobs += [
        {"data": "digits", "method": name, "split": split, "digits": list(sizes.digits), **plain}
        for split in of_seeds
        for name in SIMULATED
    ]
    sized: list[Job] = [{"data": "brain"}, {"data": "digits", "digits": list(sizes.digits)}]
    jobs += [
        {**data, "method": "prism", "split": split, "fused": "eq. 4, 5", **plain}
        for split in of_seeds
        for data in sized
    ]
    return jobs


def work(job: Job) -> dict[str, Any]:
    """Train one network and measure it."""
    warnings.simplefilter("ignore")
    dataset = brain_growth(job["split"]) if job["data"] == "brain" else digits(job)
    config = config_of(job)
    with tempfile.TemporaryDirectory() as folder:
        run = train(dataset, Path(folder) / "run", config)
        tested = dataset.split("test")
        if "fused" in job:
            return {
                key: value
                for name, options in EQUATIONS.items()
                for key, value in fusion_scores(
                    NetworkFuser(run.folder, options=options), tested, name
                ).items()
            }
        found = {"nll": run.best_nll, "epoch": run.best_epoch}
        found |= prediction_scores(Predictor(run.folder), tested)
        if job.get("scored") == BOTH:
            return found | {"last": last_score(run.folder, tested)}
        if job["method"] in FUSIONS:
            found |= fusion_scores(NetworkFuser(run.folder), tested, job["method"])
        if job["method"] == "mode":
            for name in ("majority-vote", "staple"):
                found |= fusion_scores(None, tested, name)
        return found


def last_score(folder: Path, tested: Dataset) -> float:
    """Soft Dice of the last epoch, which takes the place of the one that was kept."""
    kept = folder / "checkpoints"
    shutil.copy(kept / "last.ckpt", kept / "best.ckpt")
    return float(prediction_scores(Predictor(folder), tested)["soft Dice"])


def config_of(job: Job) -> TrainConfig:
    """Settings of a run: the same for all methods."""
    own = METHODS.get(job["method"], {"method": "prism"})
    if job.get("scored") == BOTH:
        chosen = {**ABLATIONS[job["method"]], "epoch": "likelihood"}
        own = {"method": "prism", "options": chosen}
    return TrainConfig(
        **own,
        channels=(16, 32, 64),
        n_features=16,
        epochs=job["epochs"],
        batch_size=4,
        augment=job["data"] == "brain",
        seed=int(job["split"].split()[1]),
        accelerator="cpu",
    )


def brain_growth(split: str) -> Dataset:
    """The slices, at half their size; which of them test follows from the split."""
    file = Path(os.environ[DATA]) / "qubiq_brain_growth_39x7.npz"
    with np.load(file) as stored:
        images = stored["images"].astype(np.float32)
        masks = stored["masks"][..., ::2, ::2].astype(np.int16)
    n_cases, height, width = images.shape
    images = images.reshape(n_cases, height // 2, 2, width // 2, 2).mean((2, 4))
    tests = test_cases(split, n_cases)
    return multirater.dataset_from_arrays(
        masks,
        images=images[:, None],
        cases=[f"{number:02d}" for number in range(n_cases)],
        splits=["test" if number in tests else "train" for number in range(n_cases)],
        raters=[f"R{number + 1}" for number in range(masks.shape[1])],
    )


def test_cases(split: str, n_cases: int) -> set[int]:
    """The last five slices for a seed, as the files are ordered; a fifth of all for a fold."""
    kind, number = split.split()
    if kind == "seed":
        return set(range(N_TRAIN, n_cases))
    order = np.random.default_rng(0).permutation(n_cases)
    return set(order[int(number) :: N_FOLDS].tolist())


def digits(job: Job) -> Dataset:
    """Digits with five simulated raters and their truth."""
    n_train, n_test = job["digits"]
    plain = digits_dataset(n_train=n_train, n_test=n_test)
    return simulate_dataset(plain, seed=int(job["split"].split()[1]))


def prediction_scores(predictor: Predictor, tested: Dataset) -> dict[str, Any]:
    """Soft Dice after each recurrence, and Dice with every rater; means over the cases."""
    soft, hard = [], []
    for case in tested:
        image = case.read_image()
        assert image is not None
        steps = predictor.recurrences(image)
        wanted = wanted_of(case)
        soft.append([soft_dice_score(wanted, step[1]) for step in steps])
        labels = [step.argmax(0) for step in steps]
        drawn = [case.read_label(rater).array for rater in tested.raters]
        hard.append([[dice_score(each, label) for label in labels] for each in drawn])
    by_step = np.mean(soft, axis=0)
    found: dict[str, Any] = {"soft Dice": float(by_step[-1]), "steps": by_step.tolist()}
    found["raters"] = np.mean(hard, axis=0).tolist()
    if tested[0].truth is not None:
        found["skill"] = [skill(tested, rater) for rater in tested.raters]
        found["confidence"] = confidences(predictor, tested)
    return found


def wanted_of(case: Case) -> NDArray[np.float64]:
    """What predictions are held to: the truth where it is known, else the share of raters."""
    truth = case.read_truth()
    if truth is not None:
        return (truth.array == 1).astype(float)
    return shares(list(case.read_labels().array), 2)[1]


def read_image(case: Case) -> NDArray[Any]:
    """The image of a case, which all have here."""
    image = case.read_image()
    assert image is not None
    return image.array


def skill(tested: Dataset, rater: str) -> float:
    """Mean Dice of a rater with the truth."""
    pairs = [(case.read_truth(), case.read_label(rater)) for case in tested]
    return float(np.mean([dice_score(t.array, label.array) for t, label in pairs if t is not None]))


def confidences(predictor: Predictor, tested: Dataset) -> list[float]:
    """How probable it is, by the network, that each rater draws the foreground that is there."""
    everyone = range(len(tested.raters))
    total, weight = np.zeros(len(tested.raters)), 0.0
    for case in tested:
        found = predictor(read_image(case), raters=everyone)
        if found.confusion is None:
            return []
        total += (found.confusion[:, 1, 1] * found.probability[1]).sum((1, 2))
        weight += float(found.probability[1].sum())
    return (total / max(weight, 1e-9)).tolist()


def fusion_scores(fuser: NetworkFuser | None, tested: Dataset, name: str) -> dict[str, Any]:
    """Fuse the labels of all raters but one; Dice with the one left out, or soft Dice with truth.

    Held to the mean of the raters who were fused, the mean of the raters would win by definition.
    """
    scores = []
    for case in tested:
        labels = case.read_labels()
        truth = case.read_truth()
        if truth is not None:
            probability = fused(fuser, case, labels, name)
            scores.append(soft_dice_score(truth.array == 1, probability[1]))
            continue
        for out in range(len(labels.raters)):
            kept = [number for number in range(len(labels.raters)) if number != out]
            rest = Labels(
                labels.array[kept], tuple(labels.raters[n] for n in kept), labels.geometry
            )
            label = fused(fuser, case, rest, name).argmax(0)
            scores.append(dice_score(labels.array[out], label))
    return {f"fusion {name}": float(np.mean(scores))}


def fused(fuser: NetworkFuser | None, case: Case, labels: Labels, name: str) -> NDArray[Any]:
    """Class probabilities fused of labels."""
    if fuser is not None:
        return np.asarray(fuser(case, labels).probability)
    method = {"majority-vote": fuse.majority_vote, "staple": fuse.staple}[name]
    return np.asarray(method(labels.array, 2).probability)


def main() -> None:
    """Run what has not been run, and write the tables."""
    arguments = grid_arguments(__doc__.splitlines()[0], "mrprism")
    jobs = all_jobs(QUICK if arguments.quick else FULL)
    if not arguments.report:
        if arguments.data is None:
            raise SystemExit("--data: name the folder of qubiq_brain_growth_39x7.npz")
        os.environ[DATA] = str(arguments.data.resolve())
    run_and_report(work, jobs, arguments, write_report)


if __name__ == "__main__":
    main()
