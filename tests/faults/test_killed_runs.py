"""Training and prediction, killed while they write."""

import os
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pytest
import torch
from killing import digests, killed_at_write

from multirater.io import read_dataset, write_dataset
from multirater.io.arrays import dataset_from_arrays
from multirater.training import TrainConfig, predict, resume, train

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, (12, 3))
    data = dataset_from_arrays(labels, images=random.normal(size=(12, 3)).astype(np.float32))
    folder = tmp_path_factory.mktemp("runs") / "study"
    write_dataset(data, folder)
    return folder


CONFIG = TrainConfig(
    method="cm", epochs=2, batch_size=6, n_features=2, backbone_options={"hidden": (2,)}, threads=1
)


def go_on(study, folder):
    data = read_dataset(study)
    if (folder / "config.json").is_file():
        resume(data, folder)
    else:
        train(data, folder, CONFIG)


def weights(folder):
    return torch.load(folder / "checkpoints/last.ckpt", weights_only=True)["state_dict"]


def test_a_run_killed_while_it_writes_ends_with_the_same_weights(study, tmp_path):
    go_on(study, tmp_path / "whole")
    expected = weights(tmp_path / "whole")
    kills, number = 0, 3
    while killed_at_write(partial(go_on, study, tmp_path / "run"), number):
        kills += 1
        number += 3
        assert number < 100
    assert kills >= 2
    found = weights(tmp_path / "run")
    assert all(torch.equal(found[name], value) for name, value in expected.items())
    assert (tmp_path / "run/trust.json").is_file()
    assert not list((tmp_path / "run").rglob("*.part*"))


def test_a_prediction_that_was_killed_leaves_nothing_in_the_way(study, tmp_path):
    go_on(study, tmp_path / "run")
    act = partial(predict, tmp_path / "run", read_dataset(study))
    act(tmp_path / "whole")
    assert killed_at_write(partial(act, tmp_path / "out"), 1)
    assert not (tmp_path / "out").exists()
    act(tmp_path / "out")
    assert digests(tmp_path / "out") == digests(tmp_path / "whole")


def test_a_run_that_is_told_to_end_says_how_to_go_on(study, tmp_path):
    settings = ["--epochs", "100000", "--batch-size", "6", "--method", "cm"]
    command = [sys.executable, "-m", "multirater", "train", study, "-o", tmp_path / "run"]
    with subprocess.Popen([*command, *settings], stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and not (tmp_path / "run/checkpoints/last.ckpt").exists():
            time.sleep(0.05)
        process.terminate()
        said = process.communicate()[1]
    assert process.returncode == 143, said
    assert f"go on with: multirater train DATA --resume {tmp_path / 'run'}" in " ".join(
        said.split()
    )
    assert "Traceback" not in said
    assert not (tmp_path / "run/trust.json").exists()
