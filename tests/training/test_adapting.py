from dataclasses import replace

import numpy as np
import pytest
import torch

from multirater.errors import InputError
from multirater.io import dataset_from_arrays
from multirater.training import TrainConfig, train
from multirater.training.adapting import on_vote_with_target, target_cases
from multirater.training.module import RaterModule
from multirater.training.predictor import Predictor

SMALL = {"channels": (4, 8), "n_features": 4, "epochs": 2, "batch_size": 4, "accelerator": "cpu"}


def study(n_cases=8, n_test=2, n_unlabelled=1, seed=0):
    """Bright squares, drawn by two raters; test images are of another camera."""
    rng = np.random.default_rng(seed)
    images = rng.normal(0, 0.3, (n_cases, 1, 16, 16)).astype(np.float32)
    truths = np.zeros((n_cases, 16, 16), dtype=int)
    for image, truth in zip(images, truths, strict=True):
        row, column = rng.integers(1, 8, 2)
        truth[row : row + 7, column : column + 7] = 1
        image[0] += 2 * truth
    labels = np.stack([truths, truths], 1)
    labels[n_cases - n_unlabelled - n_test : n_cases - n_test] = -1
    splits = ["train"] * (n_cases - n_test) + ["test"] * n_test
    return dataset_from_arrays(labels, images=images, truths=truths, splits=splits)


def test_the_target_is_what_is_not_trained_on_and_its_labels_are_left_out():
    data = study()
    found = target_cases(data, "unseen")
    assert [case.name for case in found] == ["5", "6", "7"]
    assert all(not case.labels and case.truth is None for case in found)
    assert [case.name for case in target_cases(data, "unlabelled")] == ["5"]


def test_a_study_without_such_images_is_refused_unless_nothing_is_adapted():
    data = study(n_test=0, n_unlabelled=0)
    with pytest.raises(InputError, match="no image to adapt to"):
        on_vote_with_target(data, target="unseen", adversarial_weight=0.01)
    labelled = study(n_unlabelled=0)
    with pytest.raises(InputError, match="without labels"):
        on_vote_with_target(labelled, target="unlabelled", adversarial_weight=0.01)
    assert on_vote_with_target(data, target="unseen", adversarial_weight=0).raters == (
        "majority-vote",
    )


def weights(data, folder, method, **options):
    config = TrainConfig(method=method, options=options, **SMALL)
    train(data, folder, config)
    return Predictor(folder).network.state_dict()


@pytest.mark.parametrize("method", ["p-osal", "beal"])
def test_images_of_the_target_count_and_their_labels_do_not(tmp_path, method):
    data = study()
    first = weights(data, tmp_path / "first", method)
    others = tuple(
        replace(case, labels={}) if case.split == "test" else case for case in data.cases
    )
    again = weights(replace(data, cases=others), tmp_path / "again", method)
    for name, value in first.items():
        assert torch.equal(value, again[name]), name
    without = weights(data, tmp_path / "without", method, adversarial_weight=0)
    assert any(not torch.equal(value, without[name]) for name, value in first.items())


@pytest.mark.parametrize("method", ["p-osal", "beal", "attention-guided"])
def test_squares_are_learned(tmp_path, method):
    data = study(n_cases=36, n_test=4)
    train(
        data,
        tmp_path / "run",
        TrainConfig(method=method, **{**SMALL, "epochs": 14, "learning_rate": 1e-2}),
    )
    predictor = Predictor(tmp_path / "run")
    for case in data.split("test"):
        found = predictor(case.read_image().array).label
        truth = case.read_truth().array
        assert 2 * (found * truth).sum() / (found.sum() + truth.sum()) > 0.8


def test_options_are_checked(tmp_path):
    for options, expected in (
        ({"target": "anything"}, "unseen"),
        ({"adversarial_weight": -1}, "0 or more"),
    ):
        config = TrainConfig(method="beal", options=options, **SMALL)
        with pytest.raises(InputError, match=expected):
            train(study(), tmp_path / "run", config)
    assert not (tmp_path / "run").exists()


def test_the_rehearsed_step_meets_a_target_too(tmp_path, monkeypatch):
    met, losses = [], RaterModule._losses

    def seen(module, batch):
        met.append(module.network.target)
        return losses(module, batch)

    monkeypatch.setattr(RaterModule, "_losses", seen)
    train(study(), tmp_path / "run", TrainConfig(method="p-osal", time=20.0, **SMALL))
    assert met[0].shape == (4, 1, 16, 16)
