from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from multirater import dataset_from_arrays, read_dataset
from multirater.errors import InputError
from multirater.metrics import dice_score
from multirater.training import TrainConfig, predict, resume, train
from multirater.training.gold_targets import held_to_gold
from multirater.training.targets import as_they_are, fused
from multirater.types import Classes, Drawing, Geometry, LabelMap, Source


def study():
    """Two cases of three raters; the first is decided, but for one pixel."""
    labels = np.zeros((2, 3, 2, 4), dtype=np.int16)
    labels[:, :2, :, :2] = 1
    labels[0, 2] = -1
    data = dataset_from_arrays(labels, raters=["anna", "bert", "cleo"])
    gold = np.array([[0, 0, 1, 1], [0, 0, 1, -1]], dtype=np.int16)
    geometry = data[0].read_label("anna").geometry
    first = replace(data[0], gold=Source(lambda: LabelMap(gold, geometry)))
    return replace(data, cases=(first, data[1]))


def test_every_rater_of_a_decided_case_has_come_round():
    found = held_to_gold(as_they_are(study()))
    first = found[0].read_labels(found.raters).array
    assert first[:2].tolist() == [[[0, 0, 1, 1], [0, 0, 1, 0]]] * 2
    assert (first[2] == -1).all(), "who did not label it still did not"
    assert found[1].read_labels().array.tolist() == study()[1].read_labels().array.tolist()


def test_a_fused_target_is_the_decision():
    found = held_to_gold(fused("majority-vote")(study()))
    assert found[0].read_label("majority-vote").array.tolist() == [[0, 0, 1, 1], [0, 0, 1, 0]]


def test_coarse_drawings_stay():
    data = study()
    drawn = Source(lambda: LabelMap(np.full((2, 4), -1, np.int16), data[0].read_labels().geometry))
    labels = {**data[0].labels, "anna (negative)": drawn}
    case = replace(data[0], labels=labels, drawings=(Drawing("anna", "negative", drawn),))
    found = held_to_gold(replace(data, cases=(case,)))
    assert (found[0].read_label("anna (negative)").array == -1).all()


def test_nothing_decided_changes_nothing():
    data = dataset_from_arrays(np.zeros((1, 2, 2, 2), dtype=int))
    assert held_to_gold(data) is data


def test_a_network_learns_what_was_decided(tmp_path):
    """Raters drew nothing on any case; an expert decided for what is bright."""
    random = np.random.default_rng(0)
    bright = np.zeros((12, 16, 16), dtype=np.int16)
    for case in bright:
        row, column = random.integers(1, 9, 2)
        case[row : row + 6, column : column + 6] = 1
    data = dataset_from_arrays(
        np.zeros((12, 2, 16, 16), dtype=np.int16),
        images=(bright[:, None] * 200).astype(np.uint8),
        raters=["anna", "bert"],
        classes=Classes.numbered(2),
    )
    cases = tuple(
        replace(case, gold=Source(partial(_map_of, label)))
        for case, label in zip(data, bright, strict=True)
    )
    config = TrainConfig(
        method="mean",
        channels=(4, 8),
        n_features=4,
        epochs=30,
        batch_size=4,
        learning_rate=0.02,
        accelerator="cpu",
        validation=0,
    )
    decided = replace(data, cases=cases)
    run = train(decided, tmp_path / "run", config)
    predicted = read_dataset(predict(run.folder, data, tmp_path / "predicted"))
    (network,) = predicted.raters
    found = np.stack([case.read_label(network).array for case in predicted])
    assert dice_score(bright, found) > 0.8
    with pytest.raises(InputError, match="labels have changed"):
        resume(data, run.folder)


def _map_of(label):
    return LabelMap(label, Geometry.default(2))
