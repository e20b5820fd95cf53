from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from multirater.errors import InputError
from multirater.fuse import staple
from multirater.io import read_dataset, write_dataset
from multirater.samples import digits_dataset
from multirater.simulate import simulate_dataset
from multirater.training import TrainConfig, predict, train
from multirater.training.posterior import (
    LearnedOptions,
    NetworkFuser,
    fuse_by_network,
    posterior,
    settled,
)
from multirater.types import Classes, LabelClass, Source

SMALL = {"channels": (4, 8), "n_features": 4, "epochs": 1, "batch_size": 4, "accelerator": "cpu"}


def test_equals_the_posterior_of_staple_when_the_network_knows_only_frequencies():
    rng = np.random.default_rng(0)
    truth = rng.random((12, 12)) < 0.4
    labels = (truth ^ (rng.random((3, 12, 12)) < 0.2)).astype(np.int16)
    fused = staple(labels, 2)
    probability = np.broadcast_to(fused.prior[:, None, None], (2, 12, 12)).astype(np.float32)
    cm = np.broadcast_to(fused.cm[..., None, None], (3, 2, 2, 12, 12)).astype(np.float32)
    assert np.allclose(posterior(probability, cm, labels), fused.probability, atol=1e-4)


def test_missing_labels_leave_what_the_network_says():
    probability = np.array([[0.3, 0.8], [0.7, 0.2]], dtype=np.float32)
    cm = np.full((1, 2, 2, 2), 0.5, dtype=np.float32)
    cm[0, 0, :, 1], cm[0, 1, :, 1] = (0.9, 0.1), (0.2, 0.8)
    found = posterior(probability, cm, np.array([[-1, 1]], dtype=np.int16))
    assert np.allclose(found[:, 0], [0.3, 0.7])
    assert np.allclose(found[:, 1], np.array([0.8 * 0.1, 0.2 * 0.8]) / 0.24)


def test_what_all_agree_on_stands_and_the_network_speaks_where_nobody_did():
    probability = np.array([[0.9, 0.3, 0.6], [0.1, 0.7, 0.4]], dtype=np.float32)
    matrices = np.array([[[0.9, 0.1], [0.1, 0.9]], [[0.6, 0.4], [0.4, 0.6]]], dtype=np.float32)
    labels = np.array([[1, -1, 1], [1, -1, 0]], dtype=np.int16)
    found = settled(probability, matrices, labels)
    assert found[:, 0].tolist() == [0, 1]
    assert found[:, 1] == pytest.approx([0.3, 0.7])
    joint = np.array([0.6 * 0.1 * 0.6, 0.4 * 0.9 * 0.4])
    assert found[:, 2] == pytest.approx(joint / joint.sum())


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "data"
    write_dataset(simulate_dataset(digits_dataset(n_train=8, n_test=0), seed=1), folder)
    return read_dataset(folder)


def test_a_data_set_is_fused_by_a_run(data, tmp_path):
    train(data, tmp_path / "run", TrainConfig(method="cm", **SMALL))
    fuse_by_network(tmp_path / "run", data, tmp_path / "out", probability=True)
    fused = read_dataset(tmp_path / "out")
    assert fused.raters == ("learned",)
    assert fused[0].read_label("learned").array.shape == (28, 28)
    raters = pd.read_csv(tmp_path / "out/raters.csv", index_col="rater")
    assert list(raters.index) == list(data.raters)


def test_prior_and_labels_of_a_fusion_can_be_chosen(data, tmp_path):
    options = {"recurrences": 0, "calibration": "shuffle"}
    run = train(data, tmp_path / "run", TrainConfig(method="prism", options=options, **SMALL))
    case = data[0]
    labels = case.read_labels(data.raters)
    found = NetworkFuser(run.folder).predictor.of_cases([case], lambda _: range(5))
    predicted = next(iter(found)).prediction
    even = np.full_like(predicted.probability, 0.5)
    fused = NetworkFuser(run.folder, options=LearnedOptions(prior="uniform"))(case, labels)
    wanted = posterior(even, predicted.confusion, labels.array)
    assert np.allclose(fused.probability, wanted, atol=1e-6)
    by_itself = LearnedOptions(prior="uniform", labels="expected")
    fused = NetworkFuser(run.folder, options=by_itself)(case, labels)
    expected = np.stack([predicted.rater_label(number) for number in range(5)])
    wanted = posterior(even, predicted.confusion, expected)
    assert np.allclose(fused.probability, wanted, atol=1e-6)
    with pytest.raises(InputError, match="option prior = none"):
        fuse_by_network(run.folder, data, tmp_path / "out", options={"prior": "none"})


def test_a_network_without_raters_is_refused(data, tmp_path):
    train(data, tmp_path / "run", TrainConfig(method="mode", **SMALL))
    with pytest.raises(InputError, match="knows no raters"):
        fuse_by_network(tmp_path / "run", data, tmp_path / "out")


def test_a_fusion_does_not_go_on_with_other_images_or_another_network(data, tmp_path, monkeypatch):
    config = TrainConfig(method="cm", **SMALL)
    train(data, tmp_path / "run", config)
    fuse_case, fused = NetworkFuser.__call__, []

    def stopped(self, case, labels):
        if len(fused) == 3:
            raise KeyboardInterrupt
        fused.append(case.name)
        return fuse_case(self, case, labels)

    monkeypatch.setattr(NetworkFuser, "__call__", stopped)
    with pytest.raises(KeyboardInterrupt):
        fuse_by_network(tmp_path / "run", data, tmp_path / "out")
    monkeypatch.undo()
    first = data[0]
    image = first.read_image()
    changed = replace(first, image=Source(lambda: replace(image, array=image.array // 2)))
    other = replace(data, cases=(changed, *data.cases[1:]))
    with pytest.raises(InputError, match=f"images of {first.name} have changed since they were"):
        fuse_by_network(tmp_path / "run", other, tmp_path / "out", resume=True)
    train(data, tmp_path / "new/run", replace(config, seed=1))
    with pytest.raises(InputError, match="was begun with options"):
        fuse_by_network(tmp_path / "new/run", data, tmp_path / "out", resume=True)
    fuse_by_network(tmp_path / "run", data, tmp_path / "out", resume=True)


def in_classes(data, *names):
    return replace(data, classes=Classes(tuple(map(LabelClass, names))))


def test_masks_of_other_classes_than_the_network_learned_are_refused(data, tmp_path):
    named = in_classes(data, "background", "disc")
    train(named, tmp_path / "run", TrainConfig(method="cm", **SMALL))
    with pytest.raises(InputError, match=r"classes background and cup[^$]*order that"):
        fuse_by_network(tmp_path / "run", in_classes(data, "background", "cup"), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    fuser, case = NetworkFuser(tmp_path / "run"), data[0]
    labels = case.read_labels(data.raters)
    with pytest.raises(InputError, match="labels of class 2") as caught:
        fuser(case, replace(labels, array=labels.array + 1))
    assert caught.value.faults[0].case == case.name


def test_predictions_name_the_truth_only_where_classes_are_counted_alike(data, tmp_path):
    named = in_classes(data, "background", "disc")
    train(named, tmp_path / "run", TrainConfig(method="cm", **SMALL))
    numbered = replace(data, classes=Classes.numbered(2))
    swapped = in_classes(data, "disc", "background")
    for study, is_named in ((named, True), (numbered, True), (swapped, False)):
        predict(tmp_path / "run", study, tmp_path / "out", overwrite=True)
        found = read_dataset(tmp_path / "out")
        assert all((case.truth is not None) == is_named for case in found)
