"""Runs that are cut off, and go on."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from multirater.errors import InputError
from multirater.training import Predictor, TrainConfig, resume, train
from multirater.training.run_writer import require_no_links
from multirater.types import Source

SMALL = {"channels": (4, 8), "n_features": 4, "epochs": 2, "batch_size": 4, "accelerator": "cpu"}
OF_KIND = {"masks": SMALL, "classes": {**SMALL, "backbone_options": {"channels": (4, 4)}}}


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        ("masks", "cm"),
        ("masks", "coarse"),
        ("masks", "prism"),
        ("masks", "mrnet"),
        ("masks", "prob-unet"),
        ("classes", "cm"),
        ("classes", "gem"),
        ("classes", "agg-net"),
    ],
)
def test_an_interrupted_run_arrives_at_the_same_weights(
    studies, tmp_path, monkeypatch, kind, method
):
    data = studies[kind]
    config = TrainConfig(method=method, **{**OF_KIND[kind], "epochs": 4, "augment": True})
    train(data, tmp_path / "whole", config)
    from multirater.training.module import RaterModule

    original = RaterModule.training_step

    def interrupted(self, batch, number):
        if self.current_epoch == 2 and number == 1:
            raise RuntimeError("pulled the plug")
        return original(self, batch, number)

    monkeypatch.setattr(RaterModule, "training_step", interrupted)
    with pytest.raises(RuntimeError, match="pulled the plug"):
        train(data, tmp_path / "broken", config)
    monkeypatch.undo()
    resume(data, tmp_path / "broken")
    states = [
        torch.load(tmp_path / name / "checkpoints/last.ckpt", weights_only=False)["state_dict"]
        for name in ("whole", "broken")
    ]
    curves = [pd.read_csv(tmp_path / name / "curves.csv") for name in ("whole", "broken")]
    pd.testing.assert_frame_equal(*curves)
    assert states[0].keys() == states[1].keys()
    for key, value in states[0].items():
        assert torch.equal(value, states[1][key]), key


def test_resume_goes_on_from_the_last_epoch_even_if_it_was_not_the_best(
    data, tmp_path, monkeypatch
):
    from multirater.training.module import RaterModule

    def worse_and_worse(self, batch, _):
        self._log("val_nll", torch.tensor(float(self.current_epoch)), batch)

    trained = []
    original = RaterModule.training_step

    def counted(self, batch, number):
        if self.current_epoch == 3 and number == 1 and not trained.count("broken"):
            trained.append("broken")
            raise RuntimeError("pulled the plug")
        trained.append(self.current_epoch)
        return original(self, batch, number)

    monkeypatch.setattr(RaterModule, "validation_step", worse_and_worse)
    config = TrainConfig(method="cm", **{**SMALL, "epochs": 5})
    train(data, tmp_path / "whole", config)
    monkeypatch.setattr(RaterModule, "training_step", counted)
    with pytest.raises(RuntimeError, match="pulled the plug"):
        train(data, tmp_path / "broken", config)
    resume(data, tmp_path / "broken")
    assert set(trained[trained.index("broken") + 1 :]) == {3, 4}
    whole, broken = (
        torch.load(tmp_path / name / "checkpoints/last.ckpt", weights_only=False)
        for name in ("whole", "broken")
    )
    assert whole["epoch"] == broken["epoch"] == 4
    for key, value in whole["state_dict"].items():
        assert torch.equal(value, broken["state_dict"][key]), key
    best = torch.load(tmp_path / "broken/checkpoints/best.ckpt", weights_only=False)
    assert best["epoch"] == 0


def test_killed_between_the_two_checkpoints_of_an_epoch(data, tmp_path, monkeypatch):
    import lightning

    config = TrainConfig(method="mean", **{**SMALL, "epochs": 4})
    train(data, tmp_path / "whole", config)
    original = lightning.Trainer.save_checkpoint

    def killed(self, filepath, *rest):
        if self.current_epoch == 2 and str(filepath).endswith("last.ckpt"):
            raise RuntimeError("pulled the plug")
        return original(self, filepath, *rest)

    monkeypatch.setattr(lightning.Trainer, "save_checkpoint", killed)
    with pytest.raises(RuntimeError, match="pulled the plug"):
        train(data, tmp_path / "broken", config)
    monkeypatch.undo()
    resume(data, tmp_path / "broken")
    assert sorted(path.name for path in (tmp_path / "broken/checkpoints").iterdir()) == [
        "best.ckpt",
        "last.ckpt",
    ]
    for name in ("best", "last"):
        whole, broken = (
            torch.load(tmp_path / run / f"checkpoints/{name}.ckpt", weights_only=False)
            for run in ("whole", "broken")
        )
        assert whole["epoch"] == broken["epoch"]
        for key, value in whole["state_dict"].items():
            assert torch.equal(value, broken["state_dict"][key]), key


def test_a_run_does_not_go_on_with_other_raters(studies, tmp_path):
    data = studies["classes"]
    train(data, tmp_path / "run", TrainConfig(method="cm", **OF_KIND["classes"]))
    other = replace(data, raters=tuple(reversed(data.raters)))
    with pytest.raises(InputError, match="of the data set"):
        resume(other, tmp_path / "run")
    assert Predictor(tmp_path / "run").data.raters == data.raters


def test_a_finished_run_that_was_moved_is_still_one(studies, tmp_path):
    data = studies["classes"]
    first = train(data, tmp_path / "run", TrainConfig(method="cm", **OF_KIND["classes"]))
    (tmp_path / "run").rename(tmp_path / "moved")
    assert resume(data, tmp_path / "moved").best_epoch == first.best_epoch


def test_labels_that_have_changed_are_noticed(studies, tmp_path):
    data = studies["classes"]
    train(data, tmp_path / "run", TrainConfig(method="cm", **OF_KIND["classes"]))
    first = data[0]
    rater = next(iter(first.labels))
    other = (int(first.read_label(rater).array) + 1) % 3
    changed = replace(first.read_label(rater), array=np.array(other, dtype=np.int16))
    labels = {**first.labels, rater: Source(lambda: changed)}
    with pytest.raises(InputError, match="labels have changed"):
        resume(
            replace(data, cases=(replace(first, labels=labels), *data.cases[1:])), tmp_path / "run"
        )


def test_images_that_have_changed_are_noticed_and_named(studies, tmp_path):
    data = studies["masks"]
    train(data, tmp_path / "run", TrainConfig(method="mean", **SMALL))
    second = data[1]
    image = second.read_image()
    array = image.array.copy()
    array.flat[0] += 1
    changed = replace(second, image=Source(lambda: replace(image, array=array)))
    other = replace(data, cases=(data[0], changed, *data.cases[2:]))
    with pytest.raises(
        InputError, match=f"images have changed since the run began, of {second.name}"
    ):
        resume(other, tmp_path / "run")
    with pytest.raises(InputError, match=f"{data[-1].name}: in the study now or when"):
        resume(replace(data, cases=data.cases[:-1]), tmp_path / "run")
    for moved in (replace(second, split="val"), replace(second, patient="p1")):
        cases = (data[0], moved, *data.cases[2:])
        with pytest.raises(InputError, match=f"splits or patients have .*{second.name}"):
            resume(replace(data, cases=cases), tmp_path / "run")
    resume(data, tmp_path / "run")


@pytest.mark.parametrize(
    "changed", [{"epochs": 7}, {"learning_rate": 0.5}, {"method": "mean"}, {"seed": 4}]
)
def test_settings_that_have_changed_are_noticed(studies, tmp_path, changed):
    data, run = studies["classes"], tmp_path / "run"
    train(data, run, TrainConfig(method="cm", **OF_KIND["classes"]))
    settings = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**settings, **changed}))
    with pytest.raises(InputError, match=f"{next(iter(changed))} = .*\n.*by which it was trained"):
        resume(data, run)
    (run / "config.json").write_text(json.dumps({**settings, "workers": 0, "memory": 2**33}))
    resume(data, run)


def test_settings_that_are_not_settled_are_refused(studies, tmp_path):
    data, run = studies["classes"], tmp_path / "run"
    train(data, run, TrainConfig(method="cm", **OF_KIND["classes"]))
    settings = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**settings, "epochs": None}))
    with pytest.raises(InputError, match="epochs is not settled"):
        resume(data, run)


@pytest.mark.parametrize("name", ["checkpoints", "tensorboard"])
def test_links_in_the_place_of_a_runs_folders_are_not_written_through(tmp_path, name):
    (tmp_path / "run").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run" / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="is a link"):
        require_no_links(tmp_path / "run")
    (tmp_path / "run" / name).unlink()
    require_no_links(tmp_path / "run")
