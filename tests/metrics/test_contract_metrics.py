"""What holds for every metric, whatever it measures."""

import subprocess
import sys
import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from multirater import metrics


@dataclass(frozen=True)
class Pairwise:
    """A metric of one case: a reference, what is held against it, and the best value."""

    reference: np.ndarray
    worse: np.ndarray
    best: float
    options: tuple = ()


def _mask(*corner):
    mask = np.zeros((9, 10), dtype=np.int16)
    mask[corner[0] : corner[0] + 4, corner[1] : corner[1] + 5] = 1
    mask[0, 0] = 2
    return mask


MASK, MOVED = _mask(3, 3), _mask(4, 4)
SOFT, BLURRED = np.linspace(0, 1, 20), np.linspace(0.2, 0.6, 20)
CM = np.array([[0.9, 0.1], [0.3, 0.7]])

BEST = {"_score": 1.0, "_scores": 1.0, "_error": 0.0, "_distance": 0.0}
"""Best value by the end of a name."""

OF_OTHER_INPUT = {
    "class_dice_scores": Pairwise(MASK, MOVED, 1.0, options=(3,)),
    "class_iou_scores": Pairwise(MASK, MOVED, 1.0, options=(3,)),
    "soft_dice_score": Pairwise(SOFT, BLURRED, 1.0),
    "energy_distance": Pairwise(np.stack([MASK, MASK * 0]), np.stack([MOVED, MASK]), 0.0),
    "confusion_rms_error": Pairwise(CM, np.eye(2), 0.0),
    "confusion_frobenius_error": Pairwise(CM, np.eye(2), 0.0),
}
"""Metrics of a case that take something else than two label maps."""

NOT_COMPARED_WITH_A_BEST_VALUE = {
    "BlandAltman",
    "bland_altman",  # signed, in test_bland_altman
    "outline_offsets",  # signed: neither up nor down is better
    "Estimate",
    "calibration_error",  # of probabilities, in test_calibration
    "case_interval",
    "confusion_counts",
    "confusion_rates",
    "item_interval",
    "log_loss_error",  # of probabilities, in test_calibration
    "one_against_rest",
    "per_class",
    "skill_score",
}

COMPARED = [name for name in metrics.__all__ if name not in NOT_COMPARED_WITH_A_BEST_VALUE]
CASE_METRICS = {
    name: OF_OTHER_INPUT.get(name, Pairwise(MASK, MOVED, BEST["_" + name.split("_")[-1]]))
    for name in COMPARED
    if name.endswith(tuple(BEST)) and name != "pairwise_scores"
}
AGREEMENTS = [name for name in COMPARED if name not in CASE_METRICS]
"""Of the labels of several raters."""

OF_ALL_TOGETHER = sorted({*AGREEMENTS} - {"cohen_kappa", "pairwise_kappa", "pairwise_scores"})

every_case_metric = pytest.mark.parametrize("name", CASE_METRICS)
every_agreement = pytest.mark.parametrize("name", AGREEMENTS)
LABELS = arrays(np.int16, (2, 3, 4), elements=st.integers(-1, 2))


def agreement(name, labels, **options):
    """Call a coefficient; those of two raters get the first two."""
    return getattr(metrics, name)(*_as_taken(name, labels), **options)


def _as_taken(name, labels):
    return labels[:2] if name == "cohen_kappa" else (labels,)


def frozen(array):
    array = np.array(array)
    array.setflags(write=False)
    return array


def ends(estimate):
    return [np.asarray(part).tolist() for part in (estimate.value, estimate.low, estimate.high)]


def test_what_is_listed_is_there():
    assert {*OF_OTHER_INPUT, *NOT_COMPARED_WITH_A_BEST_VALUE} <= set(metrics.__all__)


@every_case_metric
def test_perfect_agreement_gives_the_best_value_and_error_a_worse_one(name):
    case, metric = CASE_METRICS[name], getattr(metrics, name)
    np.testing.assert_array_equal(metric(case.reference, case.reference, *case.options), case.best)
    worse = np.mean(metric(case.reference, case.worse, *case.options))
    assert worse < case.best if case.best == 1 else worse > case.best


@every_agreement
def test_raters_who_agree_get_one_and_others_less(name):
    same = np.tile([[0, 1, 2, 2, -1]], (3, 1))
    np.testing.assert_array_equal(agreement(name, same), 1.0)
    other = same.copy()
    other[0] = [1, 1, 2, 0, 0]
    assert np.min(agreement(name, other)) < 1


@every_case_metric
def test_inputs_of_case_metrics_are_never_written_to(name):
    case = CASE_METRICS[name]
    first, second = frozen(case.reference), frozen(case.worse)
    getattr(metrics, name)(first, second, *case.options)
    np.testing.assert_array_equal(first, case.reference)
    np.testing.assert_array_equal(second, case.worse)


@every_agreement
@pytest.mark.parametrize("dtype", [np.int16, np.float32])
def test_inputs_of_agreements_are_never_written_to(name, dtype):
    labels, weights = frozen(np.eye(3, 6, dtype=dtype)), frozen(np.arange(6.0))
    agreement(name, labels, weights=weights)
    metrics.item_interval(
        getattr(metrics, name), *_as_taken(name, labels), weights=weights, n_resamples=3
    )
    np.testing.assert_array_equal(labels, np.eye(3, 6))
    np.testing.assert_array_equal(weights, np.arange(6.0))


@every_case_metric
def test_same_seed_same_case_interval(name):
    case = CASE_METRICS[name]
    references = [case.reference] * 4
    found = [case.reference, case.worse, case.worse, case.reference]

    def metric(a, b):
        return getattr(metrics, name)(a, b, *case.options)

    first, again = (
        metrics.case_interval(metric, references, found, n_resamples=40, seed=7) for _ in range(2)
    )
    assert ends(first) == ends(again)
    value, low, high = map(np.array, ends(first))
    assert np.all((low <= value) & (value <= high))


@every_agreement
def test_same_seed_same_item_interval(name):
    labels = np.random.default_rng(0).integers(-1, 3, (3, 30))
    taken = _as_taken(name, labels)
    first, again = (
        metrics.item_interval(getattr(metrics, name), *taken, n_resamples=40, seed=7)
        for _ in range(2)
    )
    assert ends(first) == ends(again)
    value, low, high = map(np.array, ends(first))
    assert np.all((low <= value) & (value <= high))


@every_agreement
@settings(deadline=None, max_examples=50)
@given(LABELS, arrays(np.int64, (3, 4), elements=st.integers(0, 3)))
def test_a_weight_is_so_many_repetitions(name, labels, weights):
    repeated = np.repeat(labels.reshape(2, -1), weights.ravel(), axis=1)
    np.testing.assert_allclose(
        agreement(name, labels, weights=weights), agreement(name, repeated), atol=1e-12
    )


@every_agreement
@settings(deadline=None, max_examples=50)
@given(LABELS)
def test_order_of_raters_and_shape_of_items_do_not_matter(name, labels):
    found = agreement(name, labels)
    flat = agreement(name, labels.reshape(2, -1))
    np.testing.assert_allclose(flat, found, atol=1e-12)
    np.testing.assert_allclose(np.flip(agreement(name, labels[::-1])), found, atol=1e-12)


@pytest.mark.parametrize("name", OF_ALL_TOGETHER)
@settings(deadline=None, max_examples=50)
@given(arrays(np.int16, (4, 9), elements=st.integers(-1, 2)), st.permutations(range(4)))
def test_many_raters_in_any_order_and_an_absent_one(name, labels, order):
    absent = np.full((1, 9), -1, dtype=np.int16)
    changed = np.concatenate([labels[order], absent])
    np.testing.assert_allclose(agreement(name, changed), agreement(name, labels), atol=1e-12)


@every_agreement
def test_nan_and_minus_one_both_mean_missing(name):
    labels = np.array([[0, 1, -1, 1, 0], [0, 1, 1, 0, -1]])
    as_float = np.where(labels < 0, np.nan, labels)
    np.testing.assert_array_equal(agreement(name, as_float), agreement(name, labels))


@every_agreement
@pytest.mark.parametrize(
    "labels",
    [
        np.full((2, 3), -1),
        np.array([[0, -1], [-1, 1]]),
        np.zeros((2, 0), dtype=int),
        np.zeros((2, 4), dtype=int),
        np.full((3, 2), 5),
    ],
    ids=["all missing", "nothing shared", "no items", "one class", "one high class"],
)
def test_degenerate_labels_give_one_or_nan_and_no_warning(name, labels):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = np.asarray(agreement(name, labels))
    assert np.all(np.isnan(found) | (found == 1))


@pytest.mark.parametrize("name", OF_ALL_TOGETHER)
@pytest.mark.parametrize("n_raters", [0, 1])
def test_fewer_than_two_raters_cannot_agree(name, n_raters):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(agreement(name, np.zeros((n_raters, 5), dtype=int)))


@every_case_metric
def test_plain_numbers_come_back_as_python_floats(name):
    case = CASE_METRICS[name]
    found = getattr(metrics, name)(case.reference, case.worse, *case.options)
    assert type(found) is (np.ndarray if case.options else float)


def test_importing_the_metrics_loads_nothing_heavy():
    code = "import sys, multirater.metrics; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    heavy = {"scipy", "skimage", "SimpleITK", "pandas", "torch", "sklearn"}
    assert not heavy & set(loaded.stdout.split())
