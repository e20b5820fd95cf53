"""Data at the edges of what there is, through training and prediction."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from multirater.errors import InputError
from multirater.evaluation import evaluate
from multirater.io import dataset_from_arrays, read_dataset, read_image, write_dataset
from multirater.samples import digits_dataset
from multirater.simulate import simulate_dataset
from multirater.training import Predictor, TrainConfig, predict, read_run, train
from multirater.training.posterior import fuse_by_network
from multirater.types import Classes, LabelClass, Source

SMALL = {"channels": (4, 8), "n_features": 4, "epochs": 2, "batch_size": 4, "accelerator": "cpu"}


def study(n_cases=6, n_raters=2, n_classes=2, space=(12, 12), seed=0, **options):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, (n_cases, n_raters, *space))
    images = rng.normal(size=(n_cases, 1, *space)).astype(np.float32)
    return dataset_from_arrays(labels, images=images, **options)


def config(**changes):
    return TrainConfig(**{"method": "cm", **SMALL, **changes})


def predicted_arrays(folder):
    found = read_dataset(folder)
    return {case.name: case.read_label("network").array for case in found}


def test_training_then_prediction_then_evaluation(tmp_path):
    data = simulate_dataset(digits_dataset(n_train=8, n_test=3), seed=0)
    train(data, tmp_path / "run", config())
    predict(tmp_path / "run", data.split("test"), tmp_path / "out", raters=True, confusion=True)
    scores = evaluate(tmp_path / "out", data).scores
    assert {"CM RMSE", "energy distance (IoU)"} <= set(scores.index.get_level_values("measure"))
    assert scores.loc[("CM RMSE", "all"), "n_cases"] == 3
    assert 0 < scores.loc[("CM RMSE", "all"), "value"] < 1
    assert scores.loc[("energy distance (IoU)", "all"), "value"] >= 0


@pytest.fixture(scope="module")
def known_two(tmp_path_factory):
    """A run that knows the raters anna and bert; clara only labels test cases."""
    data = study(n_raters=3, raters=["anna", "bert", "clara"], splits=["train"] * 4 + ["test"] * 2)
    cases = tuple(
        replace(case, labels={who: case.labels[who] for who in ("anna", "bert")})
        if case.split == "train"
        else case
        for case in data
    )
    data = replace(data, cases=cases)
    folder = tmp_path_factory.mktemp("run") / "cm"
    train(data, folder, config())
    return data, folder


def test_a_rater_without_training_labels_is_predicted_too(known_two, tmp_path):
    data, run = known_two
    predict(run, data.split("test"), tmp_path / "out", raters=True, confusion=True)
    assert (tmp_path / "out/raters/clara/4.png").exists()
    assert np.isfinite(read_image(tmp_path / "out/confusion/clara/4.tif").array).all()
    table = pd.read_csv(run / "raters.csv", index_col="rater")
    assert table.loc["clara", "labels"] == 0
    assert np.isnan(table.loc["clara", "skill"])
    scores = evaluate(tmp_path / "out", data).scores
    assert scores.loc[("energy distance (IoU)", "all"), "n_cases"] == 2


def test_a_rater_the_network_has_never_heard_of(known_two, tmp_path):
    _, run = known_two
    data = study(n_raters=2, raters=["anna", "dora"], seed=1)
    predict(run, data, tmp_path / "out", raters=True)
    evaluation = evaluate(tmp_path / "out", data)
    assert set(evaluation.raters.index.get_level_values("rater")) == {"anna", "dora"}
    fuse_by_network(run, data, tmp_path / "fused")
    alone = replace(data, cases=tuple(_only(case, "anna") for case in data), raters=("anna",))
    fuse_by_network(run, alone, tmp_path / "alone")
    both, one = (read_dataset(tmp_path / name) for name in ("fused", "alone"))
    for first, second in zip(both, one, strict=True):
        drawn = [case.read_label("learned").array for case in (first, second)]
        assert np.array_equal(*drawn), "a rater unknown to the network counts for nothing"


def _only(case, rater):
    return replace(case, labels={rater: case.labels[rater]})


def test_cases_without_labels_are_left_out_of_training_and_predicted(tmp_path):
    data = study()
    cases = (replace(data[0], labels={}), *data.cases[1:])
    data = replace(data, cases=cases)
    train(data, tmp_path / "run", config())
    assert pd.read_csv(tmp_path / "run/raters.csv")["labels"].tolist() == [5, 5]
    predict(tmp_path / "run", data, tmp_path / "out")
    assert list(predicted_arrays(tmp_path / "out")) == [case.name for case in data]


def test_a_batch_without_any_label_changes_no_weight(tmp_path):
    data = study(n_cases=4)
    label = data[0].read_label("rater 1")
    empty = Source(lambda: replace(label, array=np.full_like(label.array, -1)))
    blank = [replace(case, labels={"rater 1": empty}) for case in data][:3]
    cases = (*blank, replace(data[3], split="val"))
    run = train(replace(data, cases=cases), tmp_path / "run", config(method="mean"))
    first, last = (
        torch.load(run.folder / f"checkpoints/{name}.ckpt", weights_only=False)
        for name in ("best", "last")
    )
    assert (first["epoch"], last["epoch"]) == (0, 1)
    for key, value in first["state_dict"].items():
        assert torch.equal(value, last["state_dict"][key])


def test_cases_with_a_truth_alone_take_no_part(tmp_path):
    data = study(n_cases=4)
    truth_only = [replace(case, labels={}, truth=case.labels["rater 1"]) for case in data][:3]
    cases = (*truth_only, replace(data[3], split="val"))
    with pytest.raises(InputError, match="no labelled case to train on"):
        train(replace(data, cases=cases), tmp_path / "run", config(method="mean"))


@pytest.mark.parametrize("method", ["auto", "cm", "prob-unet", "separate", "prism", "luw"])
def test_batches_of_one(tmp_path, method):
    data = study(n_cases=5)
    run = train(data, tmp_path / "run", config(method=method, batch_size=1))
    assert np.isfinite(run.best_nll)


@pytest.mark.parametrize("n_steps", [1, 2, 4, 5, 6])
def test_runs_of_few_steps(tmp_path, n_steps):
    data = study(n_cases=n_steps)
    run = train(data, tmp_path / "run", config(epochs=1, batch_size=1, validation=0.0))
    assert np.isfinite(pd.read_csv(run.folder / "curves.csv")["train_nll"]).all()


@pytest.mark.parametrize("method", ["prism", "mrnet", "luw", "label-sampling"])
def test_one_label_per_image_and_pixels_left_out(tmp_path, method):
    rng = np.random.default_rng(0)
    labels = np.full((6, 3, 13, 10), -1)
    for case in range(6):
        labels[case, case % 3] = rng.integers(-1, 2, (13, 10))
    images = rng.normal(size=(6, 1, 13, 10)).astype(np.float32)
    data = dataset_from_arrays(labels, images=images)
    run = train(data, tmp_path / "run", config(method=method))
    assert np.isfinite(run.best_nll)
    predict(tmp_path / "run", data, tmp_path / "out", raters=True)
    assert all(label.shape == (13, 10) for label in predicted_arrays(tmp_path / "out").values())


@pytest.mark.parametrize("method", ["separate", "prism"])
def test_batches_without_labels_among_others(tmp_path, method):
    data = study(n_cases=5)
    silent = tuple(
        replace(case, labels={}, truth=case.labels["rater 1"]) if number % 2 else case
        for number, case in enumerate(data)
    )
    run = train(
        replace(data, cases=silent),
        tmp_path / "run",
        config(method=method, batch_size=1, validation=0.0),
    )
    assert np.isfinite(pd.read_csv(run.folder / "curves.csv")["train_nll"]).all()


def test_prism_fuses_labels_by_what_it_learned(tmp_path):
    data = study(n_raters=3, raters=["anna", "bert", "clara"])
    train(data, tmp_path / "run", config(method="prism", epochs=1))
    fused = fuse_by_network(tmp_path / "run", data, tmp_path / "fused", probability=True)
    assert (tmp_path / "fused/manifest.csv").exists()
    assert list(fused.raters.index) == ["anna", "bert", "clara"]


def test_prism_sends_volumes_through_slice_by_slice(tmp_path):
    data = study(n_cases=3, space=(4, 9, 10))
    with pytest.raises(InputError, match="--view slices"):
        train(data, tmp_path / "volumes", config(method="prism", epochs=1))
    train(data, tmp_path / "run", config(method="prism", view="slices", epochs=1))
    image = data[0].read_image()
    assert Predictor(tmp_path / "run").recurrences(image).shape == (4, 2, 4, 9, 10)


def test_a_last_batch_of_one(tmp_path):
    data = study(n_cases=5)
    run = train(data, tmp_path / "run", config(batch_size=4, validation=0.0))
    assert np.isfinite(pd.read_csv(run.folder / "curves.csv")["train_nll"]).all()


@pytest.mark.parametrize("changes", [{}, {"confusion": "low-rank"}, {"class_weights": "balanced"}])
def test_a_class_that_no_rater_used(tmp_path, changes):
    classes = Classes(tuple(LabelClass(name) for name in ("background", "a", "unused")))
    data = study(classes=classes)
    run = train(data, tmp_path / "run", config(**changes))
    assert np.isfinite(run.best_nll)
    predict(tmp_path / "run", data, tmp_path / "out", probability=True, raters=True, confusion=True)
    assert read_image(tmp_path / "out/probability/0.tif").array.shape == (3, 12, 12)
    assert np.isfinite(read_image(tmp_path / "out/confusion/rater 1/0.tif").array).all()


@pytest.mark.parametrize(
    "method", ["cm", "mode", "staple", "spatial-staple", "separate", "prism", "mrnet", "luw"]
)
def test_one_rater_only(tmp_path, method):
    data = study(n_raters=1)
    run = train(data, tmp_path / "run", config(method=method))
    assert np.isfinite(run.best_nll)
    predict(tmp_path / "run", data, tmp_path / "out", raters=True)
    assert len(predicted_arrays(tmp_path / "out")) == 6


@pytest.mark.parametrize("space", [(5, 7), (1, 23), (33, 2), (3, 9, 5), (1, 13, 7)])
def test_odd_sizes(tmp_path, space):
    data = study(n_cases=3, space=space)
    train(data, tmp_path / "run", config(epochs=1))
    predict(tmp_path / "run", data, tmp_path / "out", raters=True, confusion=True)
    assert all(label.shape == space for label in predicted_arrays(tmp_path / "out").values())


def test_images_of_many_sizes_train_and_predict_together(tmp_path):
    rng = np.random.default_rng(0)
    sizes = [(9, 13), (10, 13), (31, 6), (10, 13)]
    labels = [rng.integers(0, 2, (2, *size)) for size in sizes]
    images = [rng.normal(size=(1, *size)).astype(np.float32) for size in sizes]
    data = dataset_from_arrays(labels, images=images)
    train(data, tmp_path / "run", config(batch_size=2))
    predict(tmp_path / "run", data, tmp_path / "out")
    assert [label.shape for label in predicted_arrays(tmp_path / "out").values()] == sizes


@pytest.mark.parametrize("confusion", ["pixel", "global", "low-rank"])
def test_two_hundred_raters_of_whom_each_labels_one_case(tmp_path, confusion):
    n_raters = 200
    rng = np.random.default_rng(0)
    labels = np.full((24, n_raters, 8, 8), -1)
    for case, rater in enumerate(rng.permutation(n_raters)[:24]):
        labels[case, rater] = rng.integers(0, 2, (8, 8))
    labels[0, :, 0, 0] = rng.integers(0, 2, n_raters)  # everybody labelled something
    images = rng.normal(size=(24, 1, 8, 8)).astype(np.float32)
    data = dataset_from_arrays(labels, images=images)
    run = train(data, tmp_path / "run", config(confusion=confusion, epochs=1, warmup_epochs=0))
    assert np.isfinite(run.best_nll)
    predictor = Predictor(tmp_path / "run")
    assert predictor(images[1], raters=[7, 150]).confusion.shape == (2, 2, 2, 8, 8)


@pytest.mark.parametrize("method", ["cm", "prob-unet"])
def test_bfloat16(tmp_path, method):
    data = simulate_dataset(digits_dataset(n_train=12, n_test=0), seed=0)
    settings = {"method": method, "warmup_epochs": 0, "epochs": 1}
    whole = train(data, tmp_path / "whole", config(**settings))
    half = train(data, tmp_path / "half", config(**settings, precision="bf16-mixed"))
    assert half.best_nll == pytest.approx(whole.best_nll, rel=0.02)
    stored = read_run(tmp_path / "half")[2].state_dict()
    assert {value.dtype for value in stored.values()} == {torch.float32}


def test_a_learning_rate_that_explodes_stops_with_an_explanation(tmp_path):
    with pytest.raises(InputError, match=r"the loss became .* in epoch \d") as caught:
        train(study(), tmp_path / "run", config(method="mean", learning_rate=1e12, epochs=3))
    assert "--learning-rate" in str(caught.value)


def test_after_a_divergence_the_last_good_network_still_predicts(tmp_path, monkeypatch):
    from multirater.training.module import RaterModule

    original = RaterModule.training_step

    def exploding(self, batch, number):
        loss = original(self, batch, number)
        return loss * float("nan") if self.current_epoch == 1 else loss

    data = study()
    monkeypatch.setattr(RaterModule, "training_step", exploding)
    with pytest.raises(InputError, match="nan in epoch 2"):
        train(data, tmp_path / "run", config(epochs=3))
    for name in ("best", "last"):
        stored = torch.load(tmp_path / f"run/checkpoints/{name}.ckpt", weights_only=False)
        assert stored["epoch"] == 0
        assert all(torch.isfinite(value).all() for value in stored["state_dict"].values())
    predict(tmp_path / "run", data, tmp_path / "out", probability=True)
    assert np.isfinite(read_image(tmp_path / "out/probability/0.tif").array).all()


def test_labels_stored_as_other_values_are_predicted_as_indices(tmp_path):
    """Of a data set that stores the class fg as 7, the truth cannot stand beside the indices."""
    digits = simulate_dataset(digits_dataset(n_train=4, n_test=0), seed=0)
    write_dataset(digits, tmp_path / "data")
    data = read_dataset(tmp_path / "data")
    train(data, tmp_path / "run", config(method="mode", epochs=1))
    sevens = Classes((LabelClass("background", value=0), LabelClass("digit", value=7)))
    for name, classes, has_truth in (("plain", None, True), ("sevens", sevens, False)):
        predict(tmp_path / "run", replace(data, classes=classes), tmp_path / name)
        found = read_dataset(tmp_path / name)
        assert found.classes.names == ("background", "digit")
        assert set(np.unique(read_image(tmp_path / name / "truth/train-0000.png").array)) <= {0, 1}
        assert all((case.truth is not None) == has_truth for case in found)
