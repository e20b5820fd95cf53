"""Run folders, damaged: a sentence, or a network that still is one."""

import shutil

import numpy as np
import pytest
import torch
from damage import TRIES, damaged, tried

from multirater.io import dataset_from_arrays
from multirater.training import Predictor, TrainConfig, train


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, (8, 2))
    data = dataset_from_arrays(labels, images=random.normal(size=(8, 3)))
    config = TrainConfig(
        method="cm", epochs=1, batch_size=8, n_features=2, backbone_options={"hidden": [2]}
    )
    return train(data, tmp_path_factory.mktemp("fuzz") / "run", config).folder


def same_network(found, sound):
    """Whether two runs would predict the same: equal weights, in networks of one form."""
    weights, expected = found.network.state_dict(), sound.network.state_dict()
    return weights.keys() == expected.keys() and all(
        torch.equal(weights[name], expected[name]) for name in expected
    )


@pytest.mark.parametrize("name", ["config.json", "data.json", "checkpoints/best.ckpt"])
def test_damaged_runs(tmp_path, run, name):
    content, sound = (run / name).read_bytes(), Predictor(run)
    random = np.random.default_rng(len(name))
    for _ in range(TRIES):
        shutil.copytree(run, tmp_path / "run")
        (tmp_path / "run" / name).write_bytes(damaged(content, random))
        outcome = tried(
            f"run {name}",
            lambda: Predictor(tmp_path / "run"),
            lambda found: same_network(found, sound),
        )
        assert outcome != "otherwise"
        shutil.rmtree(tmp_path / "run")
