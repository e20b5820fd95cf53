import json

import numpy as np
import pandas as pd
import pytest
import torch

from multirater.errors import InputError
from multirater.io import dataset_from_arrays, read_dataset, read_image
from multirater.training import TrainConfig, read_run, resume, train
from multirater.training.methods import METHODS
from multirater.training.prediction import predict
from multirater.training.predictor import Predictor

SMALL = {"channels": (4, 8), "n_features": 4, "epochs": 2, "batch_size": 4, "accelerator": "cpu"}
OF_KIND = {"masks": SMALL, "classes": {**SMALL, "backbone_options": {"channels": (4, 4)}}}

both_kinds = pytest.mark.parametrize("kind", OF_KIND)


@pytest.mark.parametrize(
    ("kind", "method"),
    [(kind, name) for kind in OF_KIND for name in sorted(set(METHODS[kind]) - {"cm"})],
)
def test_every_method_trains_and_predicts(studies, tmp_path, kind, method):
    data = studies[kind]
    options = {"diagnosis-first": {"steps": 5}}.get(method, {})
    config = TrainConfig(method=method, options=options, **OF_KIND[kind])
    run = train(data, tmp_path / "run", config)
    assert np.isfinite(run.best_nll)
    predicted = Predictor(tmp_path / "run")(data[0].read_image().array)
    assert predicted.probability.shape == ((2, 28, 28) if kind == "masks" else (3,))
    assert np.allclose(predicted.probability.sum(0), 1, atol=1e-5)


@pytest.mark.parametrize(
    "changes",
    [
        {"confusion": "global"},
        {"confusion": "low-rank", "rank": 1},
        {"confusion": "product", "rank": 2, "augment": True, "augmentation": "flips"},
        {"likelihood": "joint", "warmup_epochs": 0},
        {"backbone": "SegResNet", "augment": True, "patch": (16, 16), "class_weights": "balanced"},
    ],
)
def test_variants_of_cm(data, tmp_path, changes):
    settings = {**SMALL, "epochs": 1, **changes}
    run = train(data, tmp_path / "run", TrainConfig(method="cm", **settings))
    assert np.isfinite(run.best_nll)


@both_kinds
def test_the_run_folder_tells_what_was_done(run_folders, studies, kind):
    run_folder = run_folders[kind]
    config, described, network = read_run(run_folder)
    assert config.method == "cm"
    assert config.learning_rate == {"masks": 3e-3, "classes": 1e-3}[kind]
    assert config.confusion_learning_rate == {"masks": 3e-3, "classes": 3e-2}[kind]
    assert described.kind == kind
    assert described.raters == studies[kind].raters
    assert described.classes == studies[kind].classes.names
    assert described.space == {"masks": (), "classes": (28, 28)}[kind]
    curves = pd.read_csv(run_folder / "curves.csv")
    assert {"train_nll", "val_nll", "epoch"} <= set(curves.columns)
    assert not network.training


def test_learning_lowers_the_held_out_loss(data, tmp_path):
    settings = {**SMALL, "epochs": 12, "learning_rate": 1e-2}
    train(data, tmp_path / "run", TrainConfig(method="mode", **settings))
    curve = pd.read_csv(tmp_path / "run/curves.csv")["val_nll"].dropna().to_numpy()
    assert curve[-1] < 0.7 * curve[0]


def test_the_best_checkpoint_is_the_one_with_the_lowest_held_out_loss(run_folder):
    curve = pd.read_csv(run_folder / "curves.csv")["val_nll"].dropna().to_numpy()
    stored = torch.load(run_folder / "checkpoints" / "best.ckpt", weights_only=False)
    assert stored["epoch"] == int(np.argmin(curve))


def test_options_of_a_method_are_kept_and_checked(data, tmp_path):
    config = TrainConfig(method="prism", options={"recurrences": "1"}, **{**SMALL, "epochs": 1})
    train(data, tmp_path / "run", config)
    predictor = Predictor(tmp_path / "run")
    assert predictor.config.options == {"recurrences": "1"}
    assert len(predictor.recurrences(data[0].read_image())) == 2
    for method, options, expected in (
        ("prism", {"recurrences": 9}, "from 0 to 4"),
        ("prism", {"colour": "red"}, "no option 'colour'"),
        ("mean", {"recurrences": 1}, "it has no options"),
    ):
        with pytest.raises(InputError, match=expected):
            train(data, tmp_path / "other", TrainConfig(method=method, options=options, **SMALL))
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("method", ["prism", "mrnet"])
def test_given_confidences_are_followed(data, tmp_path, method):
    train(data, tmp_path / "run", TrainConfig(method=method, **{**SMALL, "epochs": 1}))
    image = data[0].read_image().array
    own = Predictor(tmp_path / "run")(image).probability
    told = Predictor(tmp_path / "run", confidences={"over": 0.9})(image).probability
    assert told.shape == own.shape
    assert not np.allclose(told, own)
    with pytest.raises(InputError, match="confidence in 'nobody'"):
        Predictor(tmp_path / "run", confidences={"nobody": 0.5})
    with pytest.raises(InputError, match="0 to 1"):
        Predictor(tmp_path / "run", confidences={"over": 1.5})
    with pytest.raises(InputError, match="one of them"):
        predict(
            tmp_path / "run", data, tmp_path / "out", recurrences=True, confidences={"over": 0.5}
        )


def test_methods_that_follow_no_confidences_say_so(data, run_folder):
    with pytest.raises(InputError, match="prism or mrnet"):
        Predictor(run_folder, confidences={"over": 0.9})(data[0].read_image().array)


def test_training_stops_early_when_nothing_is_gained(data, tmp_path, monkeypatch):
    from multirater.training.module import RaterModule

    def worse_and_worse(self, batch, _):
        self._log("val_nll", torch.tensor(float(self.current_epoch)), batch)

    monkeypatch.setattr(RaterModule, "validation_step", worse_and_worse)
    run = train(
        data, tmp_path / "run", TrainConfig(method="mean", **{**SMALL, "patience": 2, "epochs": 9})
    )
    assert len(pd.read_csv(tmp_path / "run/curves.csv")) == 3
    assert run.best_epoch == 0


def test_tensorboard_has_the_curves(run_folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(run_folder / "tensorboard"))
    events.Reload()
    curves = pd.read_csv(run_folder / "curves.csv")
    for name in ("train_nll", "train_trace", "val_nll"):
        logged = [event.value for event in events.Scalars(name)]
        assert np.allclose(logged, curves[name])


def test_a_long_epoch_says_how_far_it_is(data, tmp_path, monkeypatch, capsys):
    from multirater import progress
    from multirater.training import callbacks

    monkeypatch.setattr(callbacks, "_SECONDS_BETWEEN_LINES", 0.0)
    monkeypatch.setattr(progress, "_shown", True)
    train(data, tmp_path / "run", TrainConfig(method="mean", **SMALL))
    said = capsys.readouterr().err
    assert "epoch 1 of 2, step 1 of 3, about " in said
    assert "epoch 2 of 2, step 3 of 3, about 0 s left" in said


@both_kinds
def test_same_seed_same_weights_other_seed_others(studies, tmp_path, kind):
    states = []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        config = TrainConfig(method="mean", **{**OF_KIND[kind], "seed": seed})
        train(studies[kind], tmp_path / name, config)
        states.append(read_run(tmp_path / name)[2].truth_head.weight)
    assert torch.equal(states[0], states[1])
    assert not torch.equal(states[0], states[2])


def test_predictions_are_files_in_the_family_of_the_image(data, run_folder, tmp_path):
    predict(
        run_folder,
        data.split("test"),
        tmp_path / "out",
        probability=True,
        raters=True,
        confusion=True,
    )
    found = read_dataset(tmp_path / "out")
    assert [case.name for case in found] == ["test-0000", "test-0001", "test-0002"]
    mask = read_image(tmp_path / "out/truth/test-0000.png").array[0]
    probability = read_image(tmp_path / "out/probability/test-0000.tif").array
    assert np.array_equal(mask, probability.argmax(0))
    assert (tmp_path / "out/raters/over/test-0002.png").exists()
    cm = read_image(tmp_path / "out/confusion/blank/test-0001.tif").array
    assert cm.shape == (4, 28, 28)
    assert np.allclose(cm[0] + cm[1], 1, atol=1e-5)


def test_large_images_go_through_in_windows(run_folder, monkeypatch):
    from multirater.training import predictor as module

    image = np.random.default_rng(0).normal(size=(1, 40, 48)).astype(np.float32)
    predictor = Predictor(run_folder)
    whole = predictor(image).probability
    monkeypatch.setattr(module, "_WINDOW", 24)
    parts = predictor(image).probability
    assert parts.shape == whole.shape
    assert np.abs(parts - whole).mean() < 0.1


def test_odd_sizes_and_cases_without_labels(tmp_path):
    rng = np.random.default_rng(0)
    labels = [rng.integers(0, 2, (2, 9 + n, 13)) for n in range(4)]
    labels[3][:] = -1
    images = [rng.normal(size=(1, *each.shape[1:])).astype(np.float32) for each in labels]
    data = dataset_from_arrays(labels, images=images)
    train(data, tmp_path / "run", TrainConfig(method="cm", **{**SMALL, "batch_size": 1}))
    assert Predictor(tmp_path / "run")(images[1]).label.shape == (10, 13)


@pytest.mark.parametrize("view", ["3d", "slices"])
def test_volumes_as_patches_and_as_slices(tmp_path, view):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, (3, 2, 6, 12, 12))
    images = rng.normal(size=(3, 2, 6, 12, 12)).astype(np.float32)
    patch = (4, 8, 8) if view == "3d" else (8, 8)
    config = TrainConfig(method="cm", **{**SMALL, "view": view, "patch": patch, "epochs": 1})
    train(dataset_from_arrays(labels, images=images), tmp_path / "run", config)
    predicted = Predictor(tmp_path / "run")(images[0], raters=[1])
    assert predicted.probability.shape == (3, 6, 12, 12)
    assert predicted.confusion.shape == (1, 3, 3, 6, 12, 12)


def test_settings_survive_the_way_through_json(run_folder):
    stored = json.loads((run_folder / "config.json").read_text())
    assert tuple(stored["channels"]) == read_run(run_folder)[0].channels


@pytest.mark.parametrize(
    "changes", [{"epochs": 0}, {"validation": 1.0}, {"batch_size": 3, "devices": 2}]
)
def test_wrong_settings_are_refused(changes):
    with pytest.raises(InputError, match=next(iter(changes)).replace("_", ".")):
        TrainConfig(**changes)


@both_kinds
def test_methods_of_another_task_are_refused_with_those_there_are(studies, tmp_path, kind):
    wrong, there_is = {"masks": ("mbem", "staple"), "classes": ("staple", "mbem")}[kind]
    with pytest.raises(InputError, match=rf"no training method '{wrong}' for .*") as caught:
        train(studies[kind], tmp_path / "a", TrainConfig(method=wrong, **OF_KIND[kind]))
    assert there_is in str(caught.value)
    assert not (tmp_path / "a").exists()


def test_wrong_names_and_folders_are_refused(data, tmp_path, run_folder):
    with pytest.raises(InputError, match="no training method"):
        train(data, tmp_path / "a", TrainConfig(method="magic", **SMALL))
    with pytest.raises(InputError, match="already exists"):
        train(data, run_folder, TrainConfig(method="cm", **SMALL))
    with pytest.raises(InputError, match="does not exist"):
        resume(data, tmp_path / "nowhere")
    with pytest.raises(InputError, match="1, as in training"):
        Predictor(run_folder)(np.zeros((3, 8, 8)))


def test_a_diverging_loss_stops_with_an_explanation(data, tmp_path, monkeypatch):
    from multirater.training.module import RaterModule

    original = RaterModule.training_step

    def exploding(self, batch, number):
        loss = original(self, batch, number)
        return loss * float("nan") if self.current_epoch == 1 else loss

    monkeypatch.setattr(RaterModule, "training_step", exploding)
    with pytest.raises(InputError, match="loss became nan in epoch 2"):
        train(data, tmp_path / "run", TrainConfig(method="mean", **SMALL))
    kept = torch.load(tmp_path / "run/checkpoints/last.ckpt", weights_only=False)["state_dict"]
    assert all(torch.isfinite(value).all() for value in kept.values())


def test_raters_csv_has_a_row_per_rater(run_folder, data):
    table = pd.read_csv(run_folder / "raters.csv", index_col="rater")
    assert list(table.index) == list(data.raters)
    assert table["sensitivity"].between(0, 1).all()
    assert (table["labels"] == 12).all()


def test_what_is_no_run_is_told_apart(tmp_path):
    (tmp_path / "study").mkdir()
    (tmp_path / "study/manifest.csv").write_text("case,image\n")
    (tmp_path / "other").mkdir()
    for name, found, fix in (
        ("nowhere", "does not exist", "check the path"),
        ("study", "is a data set, not a run", "RUN DATA"),
        ("other", "is a folder without config.json", "multirater train -o"),
    ):
        with pytest.raises(InputError) as caught:
            read_run(tmp_path / name)
        (fault,) = caught.value.faults
        assert found in fault.found
        assert fix in fault.fix
        assert fault.file == str(tmp_path / name)


def test_a_mistyped_method_is_guessed(studies, tmp_path):
    with pytest.raises(InputError, match="'outo'; did you mean auto"):
        train(studies["masks"], tmp_path / "run", TrainConfig(method="outo"))


def test_the_truth_alone_trains_no_method_that_learns_from_raters(tmp_path):
    for folder in ("images", "raters/anna", "raters/bert", "truth"):
        (tmp_path / "study" / folder).mkdir(parents=True)
        for case in "abcd":
            said = np.full((16, 16), -1 if folder.startswith("raters") else 1, np.int16)
            np.save(tmp_path / "study" / folder / f"{case}.npy", said)
    with pytest.raises(InputError, match="no pixel of any case is labelled"):
        train(read_dataset(tmp_path / "study"), tmp_path / "run")
    assert not (tmp_path / "run").exists()
