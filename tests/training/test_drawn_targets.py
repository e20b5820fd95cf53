from dataclasses import replace

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io import dataset_from_arrays
from multirater.metrics import mean_iou_score
from multirater.samples import digits_dataset
from multirater.simulate import SimulatedRater, simulate_dataset
from multirater.training import Predictor, TrainConfig, train
from multirater.training.drawn_targets import (
    BOXES,
    SEEDS,
    as_drawn,
    on_boxes,
    on_mask_of_drawings,
    on_seeds,
)

SMALL = {"channels": (8, 16), "n_features": 8, "batch_size": 4, "accelerator": "cpu"}


def drawn(*kinds, n_train=12, supply="dense", seed=1):
    raters = [SimulatedRater(kind, 0.5) for kind in kinds]
    data = digits_dataset(n_train=n_train, n_test=20)
    return simulate_dataset(data, raters, supply=supply, seed=seed)


def mean_iou(folder, data):
    predictor = Predictor(folder)
    return np.mean(
        [
            mean_iou_score(case.read_truth().array, predictor(case.read_image().array).label)
            for case in data.split("test")
        ]
    )


def test_every_drawing_is_the_label_of_a_rater_of_its_own():
    data = drawn("good", "coarse", "positive")
    found = as_drawn(data)
    assert found.raters == ("good", "coarse (negative)", "coarse (positive)", "positive (positive)")
    assert set(found[0].labels) == set(found.raters)
    assert data[0].labels.keys() == {"good"}


def test_masks_stay_and_drawings_become_masks():
    data = drawn("good", "coarse", supply="one")
    found = on_mask_of_drawings(data, "grabcut")
    for case, before in zip(found, data, strict=True):
        assert list(case.labels) == (["good"] if before.labels else ["grabcut"])
        label = case.read_labels().array
        assert set(np.unique(label)) == {0, 1}


def test_seeds_are_what_the_drawings_say_and_boxes_hold_it():
    data = drawn("good", "coarse", supply="one")
    for case, seeds, boxes in zip(data, on_seeds(data), on_boxes(data), strict=True):
        if case.labels:
            assert list(seeds.labels) == list(boxes.labels) == ["good"]
            continue
        said = {each.kind: case.read_drawing(each).array for each in case.drawings}
        positive, negative = said["positive"] == 1, said["negative"] == 1
        label = seeds.read_label(SEEDS).array
        assert (label[positive & ~negative] == 1).all()
        assert (label[negative & ~positive] == 0).all()
        assert (label[~positive & ~negative] == -1).all()
        inside = boxes.read_label(BOXES).array == 1
        rows, columns = np.nonzero(positive)
        assert inside.sum() == (np.ptp(rows) + 1) * (np.ptp(columns) + 1)
        assert inside[positive].all()


def test_boxes_of_views_train_and_predict(tmp_path):
    data = drawn("coarse", n_train=6)
    config = TrainConfig(method="local-to-global", epochs=1, **SMALL)
    train(data, tmp_path / "run", config)
    assert 0 < mean_iou(tmp_path / "run", data) < 1


def test_names_that_look_like_drawings_are_refused():
    data = drawn("good")
    cases = tuple(replace(case, labels={"x (negative)": case.truth}) for case in data)
    with pytest.raises(InputError, match="ends like that of a kind of drawing"):
        as_drawn(replace(data, cases=cases, raters=("x (negative)",)))


@pytest.mark.parametrize("method", ["coarse", "partial", "grabcut"])
def test_a_data_set_without_drawings_and_labels_is_refused(tmp_path, method):
    data = digits_dataset(n_train=4, n_test=0)
    with pytest.raises(InputError, match="no case has a drawing or a label"):
        train(data, tmp_path / "run", TrainConfig(method=method, epochs=1, **SMALL))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "method",
    [
        "coarse",
        "partial",
        "positive-only",
        "grabcut",
        "random-walker",
        "lazy-snapping",
        "grabcut-boxes",
        "cycle-mix",
        "box-sup",
        "scribble-sup",
        "coarse-sup",
        "label-cleaning-mil",
    ],
)
def test_methods_for_drawings_learn_from_drawings_alone(tmp_path, method):
    """Background alone has a mean IoU of 0.45 on these digits."""
    data = drawn("coarse", n_train=32)
    known = replace(data, cases=tuple(replace(case, truth=None) for case in data))
    config = TrainConfig(method=method, epochs=8, learning_rate=1e-2, **SMALL)
    train(known, tmp_path / "run", config)
    assert mean_iou(tmp_path / "run", data) > 0.6


@pytest.mark.parametrize("method", ["positive-only", "grabcut-boxes", "box-sup", "local-to-global"])
def test_drawings_that_a_method_does_not_look_at_are_refused(tmp_path, method):
    with pytest.raises(InputError, match="only negative drawings"):
        train(drawn("negative", n_train=4), tmp_path / "run", TrainConfig(method=method, **SMALL))
    assert not (tmp_path / "run").exists()


def test_drawings_of_other_splits_are_nothing_to_train_on(tmp_path):
    data = drawn("coarse", n_train=4)
    cases = tuple(
        replace(case, drawings=case.drawings if case.split == "test" else ()) for case in data
    )
    with pytest.raises(InputError, match="no labelled case to train on"):
        train(replace(data, cases=cases), tmp_path / "run", TrainConfig(method="coarse", **SMALL))


@pytest.mark.parametrize("method", ["auto", "mode", "cm"])
def test_other_methods_do_not_take_drawings_alone(tmp_path, method):
    with pytest.raises(InputError, match="no case has a label") as error:
        train(drawn("coarse", n_train=4), tmp_path / "run", TrainConfig(method=method, **SMALL))
    assert "--method coarse" in error.value.faults[0].fix
    assert not (tmp_path / "run").exists()


def test_images_with_only_negative_drawings_help(tmp_path):
    """Positive drawings alone never say what is background."""
    data = drawn("positive", "negative", n_train=32, supply="one")
    without = tuple(
        replace(case, drawings=tuple(d for d in case.drawings if d.kind == "positive"))
        for case in data
    )
    assert all(len(case.drawings) == 1 for case in data)
    config = TrainConfig(method="coarse", epochs=8, learning_rate=1e-2, **SMALL)
    train(data, tmp_path / "both", config)
    train(replace(data, cases=without), tmp_path / "positive", config)
    assert mean_iou(tmp_path / "both", data) > mean_iou(tmp_path / "positive", data) + 0.3


@pytest.mark.parametrize("method", ["coarse", "positive-only"])
def test_classes_can_be_balanced(tmp_path, method):
    """Little is drawn of the digits, and much of what they are not."""
    data, found = drawn("coarse", n_train=8), {}
    for weights in ("none", "balanced"):
        config = TrainConfig(method=method, epochs=1, class_weights=weights, **SMALL)
        train(data, tmp_path / weights, config)
        predictor = Predictor(tmp_path / weights)
        found[weights] = np.mean(
            [predictor(case.read_image().array).probability[1].mean() for case in data]
        )
    assert found["balanced"] > found["none"] + 0.01


@pytest.mark.parametrize("ndim", [2, 3])
def test_any_number_of_classes_and_axes(tmp_path, ndim):
    truths = np.zeros((4, *(16,) * ndim), dtype=np.int16)
    for k in range(1, 4):
        truths[(..., slice(4 * k, 4 * k + 4))] = k
    nobody = np.zeros((4, 0, *(16,) * ndim), dtype=np.int16)
    images = truths[:, None].astype(np.float32)
    data = dataset_from_arrays(nobody, images=list(images), truths=truths)
    drawn_on = simulate_dataset(data, [SimulatedRater("coarse", 0.5)], seed=0)
    config = TrainConfig(method="coarse", epochs=30, learning_rate=1e-2, **SMALL)
    train(drawn_on, tmp_path / "run", config)
    found = Predictor(tmp_path / "run")(images[0], raters=[0, 1])
    assert mean_iou_score(truths[0], found.label) > 0.8
    assert found.confusion.shape == (2, 4, 4, *(16,) * ndim)


def test_masks_drawings_and_several_raters_train_together(tmp_path):
    data = drawn("good", "coarse", "negative", supply=(1, 2), n_train=16)
    config = TrainConfig(method="coarse", epochs=2, augment=True, patch=(16, 16), **SMALL)
    train(data, tmp_path / "run", config)
    predictor = Predictor(tmp_path / "run")
    assert predictor.data.raters[0] == "good"
    found = predictor(data[0].read_image().array, raters=range(len(predictor.data.raters)))
    assert found.confusion.shape[:3] == (len(predictor.data.raters), 2, 2)
    np.testing.assert_allclose(found.drawn[0], found.probability, atol=1e-5)
