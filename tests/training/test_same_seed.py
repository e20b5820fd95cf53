"""The same seed gives the same weights, whatever else was drawn and however busy the machine."""

import subprocess
import sys

import numpy as np
import torch

from multirater.training import TrainConfig, train

SMALL = {"channels": (4, 8), "n_features": 4, "epochs": 1, "batch_size": 4, "accelerator": "cpu"}


def weights(data, folder):
    config = TrainConfig(method="prism", augment=True, seed=3, **SMALL)
    train(data, folder, config)
    return torch.load(folder / "checkpoints/last.ckpt", weights_only=False)["state_dict"]


def test_prism_arrives_at_the_same_weights_on_a_busy_machine(data, tmp_path):
    first = weights(data, tmp_path / "first")
    torch.rand(7)
    np.random.default_rng().random(7)
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        again = weights(data, tmp_path / "again")
    finally:
        busy.kill()
        busy.wait()
    assert first.keys() == again.keys()
    assert [name for name in first if not torch.equal(first[name], again[name])] == []
