"""Simulated raters for a whole data set."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io import dataset_from_arrays, read_dataset, survey, write_dataset
from multirater.metrics import dice_score
from multirater.simulate import (
    MaskError,
    SimulatedRater,
    apply_mask_error,
    parse_rater,
    simulate_dataset,
)
from multirater.simulate.simulated_dataset import rater_cm
from multirater.types import MISSING, Classes


def squares(n_cases=6, ndim=2, n_classes=2):
    truths = np.zeros((n_cases, *(20,) * ndim), int)
    truths[(slice(None), *[slice(4, 14)] * ndim)] = 1
    truths[(slice(None), *[slice(14, 18)] * ndim)] = n_classes - 1
    nobody = np.zeros((n_cases, 0, *(20,) * ndim), int)
    return dataset_from_arrays(nobody, truths=truths, spacing=(1.5,) * ndim)


def answers(n_cases=4000, n_classes=3):
    truths = np.arange(n_cases) % n_classes
    return dataset_from_arrays(np.zeros((n_cases, 0), int), truths=truths)


def labels_of(data):
    return np.stack([case.read_labels(data.raters).array for case in data])


def fault_of(*args, **options):
    with pytest.raises(InputError) as caught:
        simulate_dataset(*args, **options)
    return caught.value.faults[0]


def test_five_raters_label_every_case():
    data = simulate_dataset(squares(), seed=0)
    assert data.raters == ("good", "over", "under", "wrong", "blank")
    assert all(tuple(case.labels) == data.raters for case in data)
    survey(data)


def test_labels_follow_from_the_recorded_parameters_and_the_truth():
    data = simulate_dataset(squares(n_classes=3), seed=1)
    for case in data:
        truth = case.read_truth()
        for rater in data.raters:
            error = MaskError.from_dict(json.loads(case.simulated[rater]))
            again = apply_mask_error(truth.array, error, truth.geometry.spacing)
            assert np.array_equal(again, case.read_label(rater).array)


def test_same_seed_same_labels_and_another_seed_others():
    data = squares()
    assert np.array_equal(
        labels_of(simulate_dataset(data, seed=3)), labels_of(simulate_dataset(data, seed=3))
    )
    assert not np.array_equal(
        labels_of(simulate_dataset(data, seed=3)), labels_of(simulate_dataset(data, seed=4))
    )


def test_reading_twice_and_in_another_process_gives_the_same():
    data = simulate_dataset(squares(2, ndim=3), seed=0)
    back = pickle.loads(pickle.dumps(data))
    assert np.array_equal(labels_of(data), labels_of(back))
    assert np.array_equal(labels_of(data), labels_of(data))


def test_strength_is_felt_and_zero_is_the_truth():
    raters = [SimulatedRater("over", strength) for strength in (0.0, 0.5, 2.0)]
    data = simulate_dataset(squares(), raters, seed=0)
    assert data.raters == ("over", "over-2", "over-3")
    dice = [
        np.mean([dice_score(case.read_truth().array, case.read_label(r).array) for case in data])
        for r in data.raters
    ]
    assert dice[0] == 1.0
    assert dice[0] > dice[1] > dice[2]


def test_one_rater_per_case_survives_a_round_trip(tmp_path):
    data = simulate_dataset(squares(10), supply="one", seed=0)
    assert all(len(case.labels) == len(case.simulated) == 1 for case in data)
    write_dataset(data, tmp_path / "out")
    found = read_dataset(tmp_path / "out")
    assert set(found.raters) == set(data.raters)
    for one, two in zip(found, data, strict=True):
        assert one.simulated == two.simulated
        (rater,) = two.labels
        assert np.array_equal(one.read_label(rater).array, two.read_label(rater).array)
        assert one.read_label(rater).geometry.spacing == (1.5, 1.5)


def test_own_labels_are_dropped_and_the_rest_is_kept():
    images = np.zeros((2, 8, 8), np.uint8)
    data = dataset_from_arrays(
        np.ones((2, 1, 8, 8), int), images=images, truths=np.ones((2, 8, 8), int),
        splits=["train", "test"], raters=["jo"], classes=Classes.numbered(4),
    )  # fmt: skip
    simulated = simulate_dataset(data, [SimulatedRater("blank")], seed=0)
    assert simulated.raters == ("blank",)
    assert not labels_of(simulated).any()
    assert [case.split for case in simulated] == ["train", "test"]
    assert simulated.classes == data.classes
    assert simulated[0].read_image().array.shape == (1, 8, 8)


def test_classes_are_counted_from_the_truth_when_undeclared(tmp_path):
    write_dataset(squares(2, n_classes=4), tmp_path / "data")
    (tmp_path / "data/classes.csv").unlink()
    assert len(simulate_dataset(read_dataset(tmp_path / "data"), seed=0).classes) == 4


@pytest.mark.parametrize("kind", ["hammer-spammer", "pairwise-flipper"])
def test_class_labels_err_by_the_recorded_matrix(kind):
    data = simulate_dataset(answers(), [SimulatedRater(kind, 0.7)], seed=0)
    assert data.kind == "classes"
    (recorded,) = {case.simulated[kind] for case in data}
    cm = rater_cm(json.loads(recorded))
    truths = np.array([int(case.read_truth().array) for case in data])
    drawn = np.array([int(case.read_label(kind).array) for case in data])
    found = [[np.mean(drawn[truths == t] == o) for o in range(3)] for t in range(3)]
    assert np.allclose(found, cm, atol=0.05)
    assert abs(np.diag(cm).mean() - 0.7) < 0.05


def test_raters_of_class_labels_differ_from_each_other_and_between_seeds():
    two = [SimulatedRater("pairwise-flipper", 0.6)] * 2
    cms = {}
    for seed in (0, 1):
        case = simulate_dataset(answers(2, 8), two, seed=seed)[0]
        assert list(case.labels) == ["pairwise-flipper", "pairwise-flipper-2"]
        cms[seed] = [rater_cm(json.loads(text)) for text in case.simulated.values()]
    assert not np.allclose(*cms[0])
    assert not np.allclose(cms[0][1], cms[1][0])


def test_a_case_without_a_known_class_is_not_labelled():
    data = dataset_from_arrays(np.zeros((3, 0), int), truths=np.array([0, MISSING, 1]))
    simulated = simulate_dataset(data, [SimulatedRater("hammer-spammer", 0.9)], seed=0)
    assert [len(case.labels) for case in simulated] == [1, 0, 1]


def test_cases_without_truth_are_all_named():
    with pytest.raises(InputError) as caught:
        simulate_dataset(dataset_from_arrays(np.zeros((2, 1, 3, 3), int)), seed=0)
    assert [fault.case for fault in caught.value.faults] == ["0", "1"]
    assert "column `truth`" in caught.value.faults[0].fix
    assert "truth/<case>.*" in caught.value.faults[0].fix


def test_an_empty_data_set():
    assert "empty" in fault_of(squares().split("nowhere"), seed=0).found


@pytest.mark.parametrize(
    ("data", "raters", "found"),
    [
        (squares(1), [SimulatedRater("lazy")], "no simulated rater 'lazy'"),
        (squares(1), [SimulatedRater("goood")], "no simulated rater 'goood'; did you mean good?"),
        (squares(1), [SimulatedRater("hammer-spammer")], "no simulated rater 'hammer-spammer'"),
        (answers(2), [SimulatedRater("over")], "no simulated rater 'over'"),
        (squares(1), [], "no raters to simulate"),
        (squares(1), [SimulatedRater("over", -1.0)], "strength"),
        (squares(1), [SimulatedRater("over", float("nan"))], "strength"),
        (answers(2), [SimulatedRater("hammer-spammer", 1.5)], "skill"),
    ],
)
def test_raters_that_there_are_not(data, raters, found):
    fault = fault_of(data, raters, seed=0)
    assert found in fault.found
    assert fault.expected


def test_the_four_raters_of_cifar_go_by_one_name():
    from multirater.simulate import cifar10_raters_cm
    from multirater.simulate.simulated_dataset import CLASS_KINDS, parse_raters

    four = parse_raters(" cifar10 ")
    assert [rater.strength for rater in four] == [0.6, 0.6, 0.6, 0.0]
    cms = [CLASS_KINDS[rater.kind](10, rater.strength, seed=0) for rater in four]
    np.testing.assert_allclose(cms, cifar10_raters_cm(), atol=0.05)
    assert len(parse_raters("over, cifar10,blank")) == 6
    with pytest.raises(InputError, match="the 10 of CIFAR-10"):
        CLASS_KINDS["similar-classes"](3, 0.6, seed=0)


def test_parse_rater():
    assert parse_rater("over") == SimulatedRater("over", 1.0)
    assert parse_rater(" under:0.25 ") == SimulatedRater("under", 0.25)
    with pytest.raises(InputError, match="over:much"):
        parse_rater("over:much")


def test_coarse_raters_draw_and_label_nothing():
    raters = [SimulatedRater("good"), SimulatedRater("coarse", 0.5, 0.0)]
    data = simulate_dataset(squares(), raters, seed=3)
    assert data.raters == ("good",)
    for case in data:
        truth = case.read_truth().array
        positive, negative = (case.read_drawing(each).array for each in case.drawings)
        assert list(case.labels) == ["good"]
        assert (truth[positive == 1] == 1).all()
        assert (truth[negative == 1] == 0).all()
        assert (positive == 1).sum() == pytest.approx((truth == 1).sum() / 2, abs=1)
        assert json.loads(case.drawings[0].simulated)["ratio"] == 0.5


def test_with_one_rater_per_case_some_have_masks_and_some_drawings():
    raters = [SimulatedRater("good"), SimulatedRater("coarse", 0.3)]
    data = simulate_dataset(squares(12), raters, supply="one", seed=0)
    assert all(bool(case.labels) != bool(case.drawings) for case in data)
    assert 0 < sum(bool(case.labels) for case in data) < len(data)


@pytest.mark.parametrize("suffix", [None, ".nii.gz"])
@pytest.mark.parametrize(
    ("rater", "n_classes", "n_empty"),
    [("coarse:1:1", 2, 1), ("coarse:1:0", 3, 0), ("coarse:0.3:1", 3, 1), ("coarse:1:0", 2, 2)],
)
def test_drawings_survive_being_written(tmp_path, rater, n_classes, n_empty, suffix):
    truths = np.zeros((2, 20, 20), int)
    truths[n_empty:, 4:14, 4:14] = 1
    truths[n_empty:, 14:18, 4:18] = n_classes - 1
    known = dataset_from_arrays(np.zeros((2, 0, 20, 20), int), truths=truths)
    data = simulate_dataset(known, [parse_rater(rater)], seed=0)
    again = survey(read_dataset(write_dataset(data, tmp_path / "out", suffix=suffix))).dataset
    for case, twin in zip(data, again, strict=True):
        for drawing, copy in zip(case.drawings, twin.drawings, strict=True):
            assert np.array_equal(case.read_drawing(drawing).array, twin.read_drawing(copy).array)


@pytest.mark.parametrize("text", ["coarse:a", "coarse:0.5:1:2", "coarse:2"])
def test_drawings_that_cannot_be_are_refused(text):
    with pytest.raises(InputError):
        simulate_dataset(squares(), [parse_rater(text)], seed=0)


def test_what_is_said_of_real_raters_is_not_said_of_simulated_ones():
    digits = replace(squares(), rater_info={"anna": {"group": "expert"}})
    assert simulate_dataset(digits, seed=0).rater_info == {}
