import numpy as np
import pandas as pd
import pytest
import torch

from multirater.samples import digits_dataset
from multirater.simulate import simulate_dataset
from multirater.training import TrainConfig, read_run, train
from multirater.training.averaging import AverageWeights
from multirater.training.module import RaterModule

SMALL = {"channels": (4, 8), "n_features": 4, "epochs": 3, "batch_size": 4, "accelerator": "cpu"}


@pytest.fixture(scope="module")
def study():
    return simulate_dataset(digits_dataset(n_train=14, n_test=0), supply="dense", seed=0)


def watched(monkeypatch):
    """Collect the truth head's weights after every step."""
    seen = []
    original = AverageWeights.on_train_batch_end

    def spy(self, trainer, module, *parts):
        original(self, trainer, module, *parts)
        seen.append(module.network.truth_head.weight.detach().clone())

    monkeypatch.setattr(AverageWeights, "on_train_batch_end", spy)
    return seen


def test_what_is_kept_is_the_average_of_the_last_steps(study, tmp_path, monkeypatch):
    seen = watched(monkeypatch)
    monkeypatch.setattr(AverageWeights.__init__, "__defaults__", (0.5,))
    run = train(study, tmp_path / "run", TrainConfig(method="auto", **SMALL))
    per_epoch = len(seen) // 4
    expected = seen[0]
    for n, weights in enumerate(seen[: (run.best_epoch + 1) * per_epoch], start=1):
        expected = torch.lerp(expected, weights, 1 / min(n, len(seen) / 2))
    kept = read_run(run.folder)[2].truth_head.weight
    torch.testing.assert_close(kept, expected)
    assert not torch.allclose(kept, seen[(run.best_epoch + 1) * per_epoch - 1])


def test_what_learns_does_not_notice(study, tmp_path, monkeypatch):
    curves = []
    for share in (1e-9, 0.5):
        monkeypatch.setattr(AverageWeights.__init__, "__defaults__", (share,))
        train(study, tmp_path / str(share), TrainConfig(method="auto", **SMALL))
        curves.append(pd.read_csv(tmp_path / str(share) / "curves.csv"))
    np.testing.assert_array_equal(curves[0].train_nll, curves[1].train_nll)
    assert not np.array_equal(curves[0].val_nll, curves[1].val_nll)


def test_without_held_out_cases_the_average_is_kept_too(study, tmp_path, monkeypatch):
    seen = watched(monkeypatch)
    monkeypatch.setattr(AverageWeights.__init__, "__defaults__", (0.5,))
    train(study, tmp_path / "run", TrainConfig(method="auto", validation=0.0, **SMALL))
    kept = read_run(tmp_path / "run")[2].truth_head.weight
    assert all(not torch.equal(kept, each) for each in seen)


def test_the_warm_up_is_left_out(tmp_path, monkeypatch):
    one = simulate_dataset(digits_dataset(n_train=14, n_test=0), supply="one", seed=0)
    counted = {}
    original = RaterModule.on_train_batch_start

    def count(self, batch, number):
        average = next(c for c in self.trainer.callbacks if isinstance(c, AverageWeights))
        counted[self.current_epoch] = average.n_steps
        original(self, batch, number)

    monkeypatch.setattr(RaterModule, "on_train_batch_start", count)
    train(one, tmp_path / "run", TrainConfig(method="auto", **SMALL))
    assert counted[1] == 0  # two epochs of warm-up
    assert counted[3] > 0
