"""Real raters, no truth: what the default predicts, against raters whose labels it never saw.

    python benchmarks/real_raters.py --data ../../shared/data

CHASE_DB1: two observers, 20 images to train on, 8 to test, patches. QUBIQ brain growth: seven
raters, 34 and 5. For each method: Dice of the prediction with every rater's label of the test
images; for the default also the area each rater would draw on those images, from the rater's head,
beside the area they drew. Tables go to benchmarks/results/real_raters.md.
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
from numpy.typing import NDArray
from PIL import Image

import multirater
from grid import current_commit, markdown
from multirater.metrics import dice_score
from multirater.training import TrainConfig, train
from multirater.training.predictor import Predictor
from multirater.types import Case, Dataset

METHODS = ("mode", "staple", "auto")
SETTINGS: dict[str, dict[str, Any]] = {
    "CHASE_DB1": {"patch": (96, 96), "epochs": 60, "batch_size": 4, "augment": True},
    "QUBIQ brain growth": {"epochs": 20, "batch_size": 4, "augment": True},
}


def chase(folder: Path) -> Dataset:
    """Read CHASE_DB1, at half its size; the first 20 images are for training."""
    images, labels, names = [], [], []
    for path in sorted(folder.glob("*.jpg")):
        picture = Image.open(path)
        half = (picture.width // 2, picture.height // 2)
        images.append(np.asarray(picture.resize(half), dtype=np.float32).transpose(2, 0, 1))
        drawn = [Image.open(folder / f"{path.stem}_{who}HO.png") for who in ("1st", "2nd")]
        labels.append(np.stack([np.asarray(each.convert("L").resize(half)) > 0 for each in drawn]))
        names.append(path.stem)
    splits = ["train"] * 20 + ["test"] * (len(names) - 20)
    return multirater.dataset_from_arrays(
        [label.astype(np.int16) for label in labels],
        images=images,
        cases=names,
        splits=splits,
        raters=["1st observer", "2nd observer"],
    )


def qubiq(folder: Path) -> Dataset:
    """Read the brain growth task of QUBIQ; the first 34 images are for training."""
    with np.load(folder / "qubiq_brain_growth_39x7.npz") as stored:
        images, masks = stored["images"].astype(np.float32), stored["masks"].astype(np.int16)
    return multirater.dataset_from_arrays(
        masks,
        images=images,
        cases=[f"{number:02d}" for number in range(len(images))],
        splits=["train"] * 34 + ["test"] * 5,
        raters=[f"rater {number + 1}" for number in range(masks.shape[1])],
    )


def predictor_of(dataset: Dataset, name: str, method: str, seed: int) -> Predictor:
    """Train a network."""
    config = TrainConfig(
        method=method, channels=(16, 32, 64), n_features=16, seed=seed, **SETTINGS[name]
    )
    with tempfile.TemporaryDirectory() as folder:
        train(dataset, Path(folder) / "run", config)
        return Predictor(Path(folder) / "run")


def against_raters(predictor: Predictor, dataset: Dataset) -> dict[str, float]:
    """Mean Dice of the predictions with each rater's labels of the test images."""
    found: dict[str, list[float]] = {rater: [] for rater in dataset.raters}
    for each in predictor.of_cases(dataset.split("test"), lambda _: ()):
        for rater, scores in found.items():
            label = each.case.read_label(rater).array
            scores.append(float(dice_score(label, each.prediction.label)))
    return {rater: float(np.mean(scores)) for rater, scores in found.items()}


def areas(predictor: Predictor, dataset: Dataset) -> pd.DataFrame:
    """Pixels each rater drew and would draw on the test images, relative to the mean rater."""
    everyone = range(len(dataset.raters))
    drawn, predicted = np.zeros(len(dataset.raters)), np.zeros(len(dataset.raters))
    for each in predictor.of_cases(dataset.split("test"), lambda _: everyone):
        assert each.prediction.drawn is not None
        predicted += each.prediction.drawn[:, 1].sum((1, 2))
        drawn += _drawn(each.case, dataset.raters)
    learned = sum(_drawn(case, dataset.raters) for case in dataset.split("train"))
    table = {
        "predicted": predicted / predicted.mean(),
        "drawn": drawn / drawn.mean(),
        "drawn, trained on": learned / np.mean(learned),
    }
    return pd.DataFrame(table, index=pd.Index(dataset.raters, name="rater")).round(3)


def _drawn(case: Case, raters: Sequence[str]) -> NDArray[np.int64]:
    """Pixels that each rater drew."""
    return np.array([(case.read_label(rater).array == 1).sum() for rater in raters])


def main() -> None:
    """Train, compare, and write the tables."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the data")
    parser.add_argument("--seeds", type=int, default=1)
    arguments = parser.parse_args()
    parts = [
        f"# Real raters\n\n`python benchmarks/real_raters.py --seeds {arguments.seeds}` at "
        f"{current_commit()}: networks trained on all raters, Dice of their predictions with each "
        "rater's label of unseen images (mean over images and seeds).\n"
    ]
    for name, dataset in (
        ("CHASE_DB1", chase(arguments.data / "chase_db1")),
        ("QUBIQ brain growth", qubiq(arguments.data / "qubiq_brain_growth")),
    ):
        rows = {}
        for method in METHODS:
            runs = [predictor_of(dataset, name, method, s) for s in range(arguments.seeds)]
            found = pd.DataFrame([against_raters(run, dataset) for run in runs]).mean()
            rows[method] = {**found, "mean": found.mean()}
            print(name, method, rows[method], flush=True)
        table = pd.DataFrame(rows).T.rename_axis("method").round(3)
        parts.append(f"## {name}\n\n{markdown(table)}")
        parts.append(
            "Area on the unseen images, relative to the mean rater, as drawn and as the default "
            f"predicts it:\n\n{markdown(areas(runs[-1], dataset))}"
        )
    path = Path(__file__).parent / "results" / "real_raters.md"
    path.write_text("\n".join(parts), encoding="utf-8")
    print(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
