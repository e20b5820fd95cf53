"""The default plan against nnU-Net v2, at equal CPU minutes per training, on whole studies.

    python benchmarks/real_studies.py --data ../../shared/data --minutes 20

QUBIQ brain growth (five folds), CHASE_DB1 at its own resolution (20 images to train on, 8 to test,
three seeds), and volumes made of a real brain with its atlas (three seeds; `ch2.nii.gz` and
`aal.nii.gz` of Debian's mricron-data in DATA/mricron). nnU-Net is trained on the majority vote, by
its own planner, in an environment that this script makes under benchmarks/.nnunet. Of every method:
Dice with each rater of the unseen images, or with the truth of the volumes, CPU minutes, steps,
peak memory, and whether a run tells who draws more as a count of pixels does. None predicts
mirrored copies, which nnU-Net does by itself and `--tta` does here: a matter of prediction, which
would take a processor longer than a short training.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import venv
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from children import end_with_parent
from grid import RESULTS, Job, as_table, markdown, mean_std, records_of, run_grid, what_was_run
from multirater import fuse
from multirater.io.formats.images import read_image, write_image
from multirater.io.formats.labels import write_label
from multirater.metrics import dice_score
from multirater.types import Case, Dataset, Image, LabelMap
from real_studies_data import N_FOLDS, STUDIES, study

METHODS = ("nnU-Net", "mode", "auto", "staple")
COUNTS = {
    "size order": "the pixels drawn in all",
    "size rank": "the mean share of a case, in older runs",
}
HERE = Path(__file__).parent
ENVIRONMENT = HERE / ".nnunet"
PACKAGES = (
    *("batchgenerators", "einops", "blosc2", "tqdm", "scipy", "scikit-learn", "scikit-image"),
    *("SimpleITK", "pandas", "graphviz", "tifffile", "requests", "nibabel", "matplotlib"),
    *("seaborn", "imagecodecs", "yacs", "psutil"),
)
WITHOUT_DEPENDENCIES = (
    *("nnunetv2==2.8.1", "acvl_utils", "dynamic_network_architectures", "batchgeneratorsv2"),
    "connected-components-3d",
)
"""They name torchvision and timm, which nothing here uses."""


def work(job: Job) -> dict[str, Any]:
    """Train one network on one study and hold it against the unseen images."""
    warnings.simplefilter("ignore")
    number = job["number"]
    dataset = study(job["study"], Path(os.environ["REAL_STUDIES"]), number)
    train = _nnunet if job["method"] == "nnU-Net" else _ours
    with tempfile.TemporaryDirectory() as folder:
        labels, figures = train(dataset, Path(folder), job)
    return {**figures, **scores(dataset, labels)}


def _ours(dataset: Dataset, folder: Path, job: Job) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    from multirater.training import Predictor, TrainConfig, clock
    from multirater.training import train as begin

    # Minutes are of the processor, whoever else uses it.
    clock.CLOCK = time.process_time
    config = TrainConfig(
        method=job["method"], time=60.0 * job["minutes"], threads=1, seed=job["number"]
    )
    started = time.process_time()
    best = begin(dataset, folder / "run", config)
    used = time.process_time() - started
    predictor = Predictor(folder / "run")
    began = time.process_time()
    found = {
        each.case.name: each.prediction.label
        for each in predictor.of_cases(dataset.split("test"), lambda _: ())
    }
    kept = predictor.config
    curve = pd.read_csv(folder / "run" / "curves.csv")["val_nll"].round(4)
    n_epochs = len(curve)
    return found, {
        "CPU minutes": used / 60,
        "predict minutes": (time.process_time() - began) / 60,
        "steps": n_epochs * kept.steps_per_epoch,
        "kept": (best.best_epoch + 1) / n_epochs,
        "held-out nll": curve.tolist(),
        "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "patch": list(kept.patch),
        "size order": _size_rank(dataset, folder / "run"),
    }


def _size_rank(dataset: Dataset, run: Path) -> float:
    """Rank correlation of who draws more: as a run tells it, and as all pixels are counted.

    Every rater drew every image. Of two raters it is 1 or -1.
    """
    told = pd.read_csv(run / "raters.csv", index_col="rater")["size"]
    cases = dataset.split("train")
    counted = [
        sum(int((case.read_label(rater).array > 0).sum()) for case in cases) for rater in told.index
    ]
    return float(spearmanr(told, counted).statistic)


def _nnunet(
    dataset: Dataset, folder: Path, job: Job
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    python = _environment()
    suffix = _write_raw(dataset, folder / "raw" / "Dataset001_study")
    configuration = "2d" if suffix == ".png" else "3d_fullres"
    words = [HERE / "nnunet_train.py", folder, configuration, job["minutes"], job["number"]]
    done = subprocess.run(
        [str(python), *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=end_with_parent,
    )
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        raise RuntimeError(f"nnU-Net ended with {done.stderr.strip().splitlines()[-1]}")
    figures = json.loads(done.stdout.strip().splitlines()[-1])
    found = {
        case.name: read_image(folder / "predicted" / f"{case.name}{suffix}").array[0]
        for case in dataset.split("test")
    }
    return found, figures


def _environment() -> Path:
    """Return the Python of nnU-Net's own environment, which is made the first time."""
    python = ENVIRONMENT / "bin" / "python"
    if (ENVIRONMENT / "complete").exists():
        return python
    venv.create(ENVIRONMENT, with_pip=True, clear=True)
    pinned = str(HERE.parent / "constraints.txt")
    install = [str(python), "-m", "pip", "install", "-q", "-c", pinned]
    subprocess.run([*install, "torch==2.13.0", "numpy"], check=True)
    subprocess.run([*install, "--no-deps", *WITHOUT_DEPENDENCIES], check=True)
    subprocess.run([*install, *PACKAGES], check=True)
    (ENVIRONMENT / "complete").touch()
    return python


def _write_raw(dataset: Dataset, target: Path) -> str:
    """Write a study as nnU-Net wants it, with the majority vote of its raters as label."""
    first = dataset[0].read_image()
    assert first is not None
    suffix = ".png" if first.geometry.ndim == 2 else ".nii.gz"
    for name in ("imagesTr", "labelsTr", "imagesTs"):
        (target / name).mkdir(parents=True)
    for case in dataset:
        is_train = case.split == "train"
        _write_case_image(case, target / ("imagesTr" if is_train else "imagesTs"), suffix)
        if is_train:
            labels = case.read_labels()
            vote = fuse.majority_vote(labels).label.astype(np.int16)
            write_label(
                LabelMap(vote, labels.geometry), target / "labelsTr" / f"{case.name}{suffix}"
            )
    channels = ["R", "G", "B"] if len(first.array) == 3 else ["MR"]
    described = {
        "channel_names": {str(number): name for number, name in enumerate(channels)},
        "labels": {"background": 0, "object": 1},
        "numTraining": len(dataset.split("train")),
        "file_ending": suffix,
    }
    (target / "dataset.json").write_text(json.dumps(described), encoding="utf-8")
    return suffix


def _write_case_image(case: Case, folder: Path, suffix: str) -> None:
    image = case.read_image()
    assert image is not None
    array = image.array.round().clip(0, 255).astype(np.uint8) if suffix == ".png" else image.array
    write_image(Image(array, image.geometry), folder / f"{case.name}_0000{suffix}")


def scores(dataset: Dataset, labels: dict[str, np.ndarray]) -> dict[str, float]:
    """Mean Dice with each rater of the test images, or with the truth where there is one."""
    scores: dict[str, list[float]] = {}
    for case in dataset.split("test"):
        truth = case.read_truth()
        known = {"truth": truth.array} if truth is not None else {}
        known = known or {rater: case.read_label(rater).array for rater in case.labels}
        for rater, label in known.items():
            scores.setdefault(rater, []).append(float(dice_score(label, labels[case.name])))
    each = {f"Dice with {rater}": float(np.mean(found)) for rater, found in scores.items()}
    return {"Dice": float(np.mean(list(each.values()))), **each}


def jobs_of(
    studies: Sequence[str],
    minutes: float,
    most: int | None,
    methods: Sequence[str] = METHODS,
) -> list[dict[str, Any]]:
    """List the runs: one fold or seed of every study by every method, then the next."""
    return [
        {"study": name, "method": method, "number": number, "minutes": minutes}
        for number in range(most or max(N_FOLDS.values()))
        for name in studies
        for method in methods
        if number < N_FOLDS[name]
    ]


def report(records: Sequence[dict[str, Any]], n_jobs: int, minutes: float) -> str:
    """Return the tables."""
    parts = [f"# Whole studies, {minutes:g} CPU minutes per training\n"]
    parts.append(what_was_run("real_studies", list(records), n_jobs, quick=False) + "\n")
    if records:
        table = as_table(records)
        for value, digits in (("Dice", 3), ("CPU minutes", 1), ("steps", 0), ("peak GB", 1)):
            told = mean_std(table, "method", "study", value, digits=digits)
            parts.append(f"## {value}\n\n{markdown(told)}")
        for value, told in COUNTS.items():
            if value in table:
                known = table.dropna(subset=value)
                rank = mean_std(known, "method", "study", value, digits=2)
                parts.append(f"## Who draws more, rank correlation with {told}\n\n{markdown(rank)}")
        counts = table.groupby(["study", "method"], sort=False).size().unstack(fill_value=0)
        parts.append(f"## Runs\n\n{markdown(pd.DataFrame(counts))}")
    return "\n".join(parts)


def main() -> None:
    """Run what is missing, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the data")
    parser.add_argument("--minutes", type=float, default=20.0, help="CPU minutes per training")
    parser.add_argument("--studies", default=",".join(STUDIES), help="some of them, by commas")
    parser.add_argument("--methods", default=",".join(METHODS), help="some of them, by commas")
    parser.add_argument("--most", type=int, help="folds or seeds of each study at most")
    parser.add_argument("--jobs", type=int, default=1, help="processes, each with one thread")
    parser.add_argument("--report", action="store_true", help="run nothing: tables of what is done")
    arguments = parser.parse_args()
    os.environ["REAL_STUDIES"] = str(arguments.data.resolve())
    chosen = (arguments.studies.split(","), arguments.minutes, arguments.most)
    jobs = jobs_of(*chosen, arguments.methods.split(","))
    results = RESULTS / "real_studies.jsonl"
    if not arguments.report:
        run_grid(work, jobs, results, processes=arguments.jobs)
    text = report(records_of(jobs, results), len(jobs), arguments.minutes)
    path = RESULTS / f"real_studies-{arguments.minutes:g}.md"
    path.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    sys.exit(main())
