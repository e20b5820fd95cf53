"""The method `auto` for class labels."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from multirater.io import dataset_from_arrays
from multirater.simulate import hammer_spammer_cm, label_supply, simulate_class_labels
from multirater.training import Predictor, TrainConfig, networks, resume, train
from multirater.training.class_auto import guesses_of
from multirater.training.config import settled
from multirater.training.data import RaterData
from multirater.training.run_folder import read_run

SETTINGS = {"backbone_options": {"hidden": (32,)}, "accelerator": "cpu", "learning_rate": 3e-3}
CMS = np.stack([hammer_spammer_cm(3, p, seed=s) for s, p in enumerate((0.95, 0.9, 0.1, 0.1))])
"""Two who know, and two who are wrong nine times in ten."""


def study(n_cases, n_test=0, supply="one"):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, n_cases + n_test)
    x = np.eye(3)[truth] + rng.normal(0, 0.4, (len(truth), 3))
    labels = simulate_class_labels(truth, CMS, seed=0).T
    labels[:n_cases][~label_supply(n_cases, 4, supply, seed=0)] = -1
    labels[n_cases:] = -1
    splits = ["train"] * n_cases + ["test"] * n_test
    return dataset_from_arrays(labels, images=x.astype(np.float32), truths=truth, splits=splits)


def accuracy(run, data):
    found = list(Predictor(run).of_cases(data.split("test"), lambda _: ()))
    return np.mean([int(each.case.read_truth().array) == each.prediction.label for each in found])


def test_it_is_better_than_the_vote_where_half_of_the_raters_are_wrong(tmp_path):
    data = study(600, 400)
    for method in ("auto", "majority"):
        config = TrainConfig(method=method, epochs=10, seed=0, **SETTINGS)
        train(data, tmp_path / method, config)
    assert accuracy(tmp_path / "auto", data) > accuracy(tmp_path / "majority", data) + 0.01
    table = pd.read_csv(tmp_path / "auto/raters.csv", index_col="rater")
    assert table["skill"].iloc[:2].min() > 0.75 > 0.35 > table["skill"].iloc[2:].max()
    network = read_run(tmp_path / "auto")[2]
    assert network.knows_raters
    assert not network.confusion_parameters()


@pytest.mark.parametrize("n_cases", [2, 7, 9])
def test_a_handful_of_cases(tmp_path, n_cases):
    data = study(n_cases, 2, supply="dense")
    train(data, tmp_path / "run", TrainConfig(epochs=1, **SETTINGS))
    assert np.isfinite(Predictor(tmp_path / "run").network.matrices.numpy()).all()


def test_guesses_come_from_a_network_that_has_not_seen_the_case():
    """Labels at random can be learned by heart, but not foreseen."""
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=(60, 30)).astype(np.float32), rng.integers(0, 2, (60, 1))
    data = dataset_from_arrays(labels, images=x)
    config = TrainConfig(method="mean", epochs=30, validation=0.2, batch_size=8, **SETTINGS)
    parts = RaterData(data, settled(config, "classes", 60), with_truth=False)
    shape = networks.NetworkShape(1, 2, n_channels=30, ndim=0)
    found = guesses_of(parts, partial(networks.plain, parts.config, shape), 2)
    cases = [*parts.training_cases, *parts.held_out_cases]
    given = np.array([int(case.read_label("rater 1").array) for case in cases])
    assert np.allclose(found.sum(1), 1, atol=1e-5)
    assert (found.argmax(1) == given).mean() < 0.75


def test_a_run_that_was_interrupted_keeps_its_matrices(tmp_path):
    data = study(60)
    train(data, tmp_path / "whole", TrainConfig(epochs=2, **SETTINGS))
    before = Predictor(tmp_path / "whole").network.matrices
    (tmp_path / "whole/raters.csv").unlink()
    resume(data, tmp_path / "whole")
    assert np.array_equal(before, Predictor(tmp_path / "whole").network.matrices)
    assert (tmp_path / "whole/raters.csv").exists()
