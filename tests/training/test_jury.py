import pytest
import torch

from multirater.samples import digits_dataset
from multirater.simulate import SimulatedRater, simulate_dataset
from multirater.training import TrainConfig, read_run, resume, train
from multirater.training.jury import schedule, warmup_epochs
from multirater.training.predictor import Predictor


@pytest.mark.parametrize(("epochs", "expected"), [(1, 1), (2, 1), (6, 4), (20, 13)])
def test_two_thirds_of_the_epochs_warm_up(data, epochs, expected):
    assert warmup_epochs(TrainConfig(epochs=epochs), data) == expected


def test_labels_that_settle_cases_do_so_from_the_first_step_on(dense):
    assert warmup_epochs(TrainConfig(epochs=6), dense) == 0


def test_the_truth_has_a_schedule_as_long_as_the_raters(data):
    assert schedule(TrainConfig(epochs=20), data) == (13, 13)


def test_where_labels_settle_cases_and_dice_is_learned_the_truth_has_all_of_the_schedule(dense):
    assert schedule(TrainConfig(epochs=20, overlap_weight=1.0), dense) == (26,)
    assert schedule(TrainConfig(epochs=20), dense) == (13, 13)


SMALL = {"channels": (4, 8), "n_features": 4, "epochs": 3, "batch_size": 4, "accelerator": "cpu"}


@pytest.fixture(scope="module")
def data():
    return simulate_dataset(digits_dataset(n_train=14, n_test=0), supply="one", seed=0)


@pytest.fixture(scope="module")
def dense():
    return simulate_dataset(digits_dataset(n_train=14, n_test=0), supply="dense", seed=0)


@pytest.mark.parametrize("supply", ["data", "dense"])
def test_resume_arrives_at_the_same_weights(supply, request, tmp_path, monkeypatch):
    from multirater.training.module import RaterModule

    data = request.getfixturevalue(supply)
    config = TrainConfig(method="auto", **SMALL)
    train(data, tmp_path / "whole", config)
    original = RaterModule.training_step

    def breaks(self, batch, number):
        if self.current_epoch == 2 and number == 1:
            raise RuntimeError("pulled the plug")
        return original(self, batch, number)

    monkeypatch.setattr(RaterModule, "training_step", breaks)
    with pytest.raises(RuntimeError, match="pulled the plug"):
        train(data, tmp_path / "broken", config)
    monkeypatch.setattr(RaterModule, "training_step", original)
    resume(data, tmp_path / "broken")
    whole, broken = (read_run(tmp_path / name)[2].state_dict() for name in ("whole", "broken"))
    assert all(torch.equal(whole[key], broken[key]) for key in whole)


def test_the_epoch_is_chosen_after_the_warm_up(data, tmp_path):
    run = train(data, tmp_path / "run", TrainConfig(method="auto", **SMALL))
    assert run.best_epoch >= warmup_epochs(TrainConfig(**SMALL), data)
    network = read_run(run.folder)[2]
    assert bool(network.is_weighed)
    assert not bool(network.has_ballots)
    assert float(network.weight.sum()) == pytest.approx(1)


def test_one_epoch_and_one_rater_train_and_predict(data, tmp_path):
    one = digits_dataset(n_train=6, n_test=0)
    lone = simulate_dataset(one, [SimulatedRater("good")], seed=0)
    train(lone, tmp_path / "run", TrainConfig(method="auto", **{**SMALL, "epochs": 1}))
    predicted = Predictor(tmp_path / "run")(lone[0].read_image().array, raters=[0])
    assert predicted.confusion.shape == (1, 2, 2, 28, 28)


def test_several_labels_settle_a_case_by_ballots(dense, tmp_path):
    run = train(dense, tmp_path / "run", TrainConfig(method="auto", **SMALL))
    network = read_run(run.folder)[2]
    assert bool(network.has_ballots)
    assert sum(network.followed) == pytest.approx(1)


def test_the_best_epoch_of_the_raters_is_kept(data, tmp_path, monkeypatch):
    """Step 3 starts from the epoch that foresaw held-out labels best, not from the last."""
    from multirater.training.jury import WeighRaters
    from multirater.training.module import RaterModule

    started, after = {}, {}
    original = WeighRaters.on_train_epoch_start

    def spy(self, trainer, module):
        if module.current_epoch == module.warmup_epochs:
            started.update(self.best)
            original(self, trainer, module)
            after.update({k: v.clone() for k, v in module.network.state_dict().items()})
        else:
            original(self, trainer, module)

    seen = []
    validate = RaterModule.validation_step

    def worse_and_worse(self, batch, number):
        validate(self, batch, number)
        if number == 0:
            seen.append({k: v.clone() for k, v in self.network.state_dict().items()})
        self._log("val_nll", torch.tensor(1.0 + self.current_epoch), batch)

    monkeypatch.setattr(WeighRaters, "on_train_epoch_start", spy)
    monkeypatch.setattr(RaterModule, "validation_step", worse_and_worse)
    config = TrainConfig(method="auto", **{**SMALL, "epochs": 4})
    train(data, tmp_path / "run", config)
    assert warmup_epochs(config, data) == 3
    key = "backbone.model.0.conv.unit0.conv.weight"
    key = key if key in after else next(k for k in after if k.startswith("backbone"))
    assert torch.equal(after[key], seen[0][key])
    assert not torch.equal(after[key], seen[2][key])
