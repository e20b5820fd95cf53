"""Errors of predicted confusion matrices, read from a folder of predictions."""

import math
from functools import partial

import numpy as np
import pytest

from multirater import metrics
from multirater.errors import InputError
from multirater.evaluation.scoring import evaluate
from multirater.io import dataset_from_arrays, write_image, write_label
from multirater.io.tables.manifest import Row, write_rows
from multirater.samples import digits_dataset
from multirater.simulate import simulate_dataset, true_confusion
from multirater.types import Geometry, Image, LabelMap

quick = partial(evaluate, n_resamples=10)
"""For all but intervals."""


def value(found, measure):
    return found.scores.loc[(measure, "all"), "value"]


def write_predictions(folder, data, labels, cms):
    """Write predictions with matrix maps, (true, observed, *space) by case and rater."""
    grid = Geometry.default(2)
    rows = []
    for case, label in zip(data, labels, strict=True):
        write_label(LabelMap(label, grid), folder / f"truth/{case.name}.png")
        rows.append(Row(case.name, "", "network", f"truth/{case.name}.png"))
        for rater, cm in cms[case.name].items():
            maps = cm.reshape(-1, *label.shape).astype(np.float32)
            write_image(Image(maps, grid), folder / f"confusion/{rater}/{case.name}.tif")
    write_rows(rows, folder / "manifest.csv")


@pytest.fixture(scope="module")
def digits():
    return simulate_dataset(digits_dataset(n_train=3, n_test=0), seed=1)


def test_constant_matrices_by_hand(tmp_path):
    truth, drawn = [[0, 1, 1, 0]], [[0, 1, 0, 0]]
    data = dataset_from_arrays(np.array([[drawn]]), truths=np.array([truth]), raters=["anna"])
    cm = np.broadcast_to(np.array([[0.9, 0.1], [0.2, 0.8]])[..., None, None], (2, 2, 1, 4))
    write_predictions(tmp_path, data, [np.array(truth, dtype=np.int16)], {"0": {"anna": cm}})
    found = quick(tmp_path, data)
    assert value(found, "CM RMSE") == pytest.approx(math.sqrt((4 * 0.01 + 2 * 0.04 + 2 * 0.64) / 8))
    # The rater's own matrix is [[1, 0], [0.5, 0.5]].
    assert value(found, "global CM RMSE") == pytest.approx(math.sqrt((2 * 0.01 + 2 * 0.09) / 4))
    assert value(found, "global CM error") == pytest.approx((2 * 0.01 + 2 * 0.09) / 2)
    assert found.raters["value"]["anna", "CM RMSE", "all"] == value(found, "CM RMSE")
    assert "no rater is marked as simulated" in found.notes[0]


def test_map_errors_are_those_of_the_metrics(tmp_path, digits, rng):
    cms, expected, per_rater = {}, [], []
    for case in digits:
        cms[case.name], true, guess = {}, [], []
        for rater in digits.raters:
            cm = rng.random((2, 2, 28, 28)) + 0.1
            cms[case.name][rater] = (cm / cm.sum(1, keepdims=True)).astype(np.float32)
            guess.append(np.moveaxis(cms[case.name][rater], (0, 1), (-2, -1)))
            known = true_confusion(case.read_truth().array, case.read_label(rater).array, 2)
            true.append(np.moveaxis(known, (0, 1), (-2, -1)))
        expected.append(metrics.confusion_rms_error(np.stack(true), np.stack(guess)))
        per_rater.append(metrics.confusion_rms_error(true[1], guess[1]))
    drawn = [case.read_truth().array for case in digits]
    write_predictions(tmp_path, digits, drawn, cms)
    found = quick(tmp_path, digits)
    assert found.cases["CM RMSE"].tolist() == pytest.approx(expected, rel=1e-5)
    assert found.raters["value"]["over", "CM RMSE", "all"] == pytest.approx(np.mean(per_rater))
    assert found.notes == ()


def test_true_matrices_have_no_error(tmp_path, digits):
    cms = {}
    for case in digits:
        truth = case.read_truth().array
        cms[case.name] = {
            rater: np.nan_to_num(true_confusion(truth, case.read_label(rater).array, 2), nan=0.5)
            for rater in digits.raters
        }
    drawn = [case.read_truth().array for case in digits]
    write_predictions(tmp_path, digits, drawn, cms)
    found = quick(tmp_path, digits)
    for measure in ("CM RMSE", "global CM RMSE", "global CM error"):
        assert value(found, measure) == pytest.approx(0, abs=1e-6)


def test_a_broken_matrix_names_case_rater_and_file(tmp_path, digits):
    first = digits[0]
    cm = np.full((2, 2, 28, 28), 0.9)
    write_predictions(tmp_path, [first], [first.read_truth().array], {first.name: {"over": cm}})
    with pytest.raises(InputError, match="do not sum to one") as error:
        quick(tmp_path, digits)
    (fault,) = error.value.faults
    assert (fault.case, fault.rater) == (first.name, "over")
    assert fault.file.endswith(".tif")
