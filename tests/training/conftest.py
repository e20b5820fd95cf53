"""Small studies, and runs on them, that several files of tests share."""

from dataclasses import replace

import numpy as np
import pytest

from multirater.io import dataset_from_arrays, read_dataset, write_dataset
from multirater.samples import digits_dataset
from multirater.simulate import FIVE, SimulatedRater, simulate_dataset
from multirater.training import TrainConfig, train

SMALL = {"channels": (4, 8), "n_features": 4, "epochs": 2, "batch_size": 4, "accelerator": "cpu"}
OF_KIND = {"masks": SMALL, "classes": {**SMALL, "backbone_options": {"channels": (4, 4)}}}


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """A dozen digits with drawings, and with class labels: one rater for some, two for others."""
    folder = tmp_path_factory.mktemp("data")
    digits = digits_dataset(n_train=12, n_test=3)
    raters = [*FIVE, SimulatedRater("coarse", 0.5)]
    drawn = simulate_dataset(digits, raters, seed=1)
    cases = [replace(case, diagnosis="ab"[n % 2]) for n, case in enumerate(drawn)]
    write_dataset(replace(drawn, cases=tuple(cases)), folder / "masks")
    write_dataset(classes_of(digits), folder / "classes")
    return {kind: read_dataset(folder / kind) for kind in OF_KIND}


def classes_of(dataset):
    """Give the images of a data set class labels of five raters."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, len(dataset))
    labels = np.where(rng.random((len(dataset), 5)) < 0.7, truth[:, None], (truth + 1)[:, None] % 3)
    labels[rng.random(labels.shape) < 0.5] = -1
    labels[:5] = np.where(np.eye(5) > 0, truth[:5, None], labels[:5])
    return dataset_from_arrays(
        labels,
        images=[case.read_image().array for case in dataset],
        truths=truth,
        splits=[case.split for case in dataset],
        cases=[case.name for case in dataset],
        raters=[f"rater {letter}" for letter in "abcde"],
    )


@pytest.fixture(scope="module")
def data(studies):
    return studies["masks"]


@pytest.fixture(scope="module")
def run_folders(studies, tmp_path_factory):
    folders = {kind: tmp_path_factory.mktemp("run") / "cm" for kind in OF_KIND}
    for kind, folder in folders.items():
        train(studies[kind], folder, TrainConfig(method="cm", **OF_KIND[kind]))
    return folders


@pytest.fixture(scope="module")
def run_folder(run_folders):
    return run_folders["masks"]
