"""Intervals: their coverage, their units, and what they do with unknown values."""

from functools import partial

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.metrics import (
    case_interval,
    class_dice_scores,
    cohen_kappa,
    fleiss_kappa,
    hausdorff_distance,
    item_interval,
    pairwise_scores,
    per_class,
    percent_agreement,
)


def noisy_raters(n_items, seed=0, n_raters=3):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n_items)
    noise = rng.integers(0, 3, (n_raters, n_items))
    return np.where(rng.random((n_raters, n_items)) < 0.8, truth, noise)


def test_interval_of_a_mean_is_the_normal_one():
    values = np.random.default_rng(0).normal(5, 2, 400)
    found = case_interval(float, values, n_resamples=4000)
    half = 1.96 * values.std() / np.sqrt(400)
    assert found.value == pytest.approx(values.mean())
    assert found.low == pytest.approx(values.mean() - half, abs=0.1 * half)
    assert found.high == pytest.approx(values.mean() + half, abs=0.1 * half)


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    draws = np.random.default_rng(1).exponential(1.0, (200, 50))
    found = [case_interval(float, draw, n_resamples=200, level=0.9) for draw in draws]
    covered = np.mean([each.low <= 1 <= each.high for each in found])
    assert 0.8 < covered < 0.96


def test_interval_of_an_agreement_is_the_binomial_one():
    labels = noisy_raters(2000, n_raters=2)
    found = item_interval(percent_agreement, labels)
    half = 1.96 * np.sqrt(found.value * (1 - found.value) / 2000)
    assert found.value == percent_agreement(labels)
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.15)
    assert found.low < found.value < found.high


def test_a_higher_level_is_wider():
    labels = noisy_raters(200)
    narrow = item_interval(fleiss_kappa, labels, level=0.5)
    wide = item_interval(fleiss_kappa, labels, level=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high
    assert (narrow.level, wide.level) == (0.5, 0.99)


def test_copies_inside_a_group_do_not_narrow_the_interval():
    labels = noisy_raters(60)
    plain = item_interval(fleiss_kappa, labels)
    copied = np.repeat(labels, 25, axis=1)
    grouped = item_interval(fleiss_kappa, copied, groups=np.repeat(np.arange(60), 25))
    alone = item_interval(fleiss_kappa, copied)
    assert grouped.low == pytest.approx(plain.low)
    assert grouped.high == pytest.approx(plain.high)
    assert plain.high - plain.low > 4 * (alone.high - alone.low)


def test_weights_stand_for_items_drawn_one_by_one():
    labels = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])
    weights = np.array([400, 50, 60, 300])
    short = item_interval(fleiss_kappa, labels, weights=weights)
    long = item_interval(fleiss_kappa, np.repeat(labels, weights, axis=1))
    assert short.value == pytest.approx(long.value)
    assert short.low == pytest.approx(long.low, abs=0.01)
    assert short.high == pytest.approx(long.high, abs=0.01)


def test_groups_may_have_names_and_items_any_shape():
    labels = noisy_raters(60).reshape(3, 4, 15)
    names = np.repeat([["a"], ["b"], ["c"], ["d"]], 15, axis=1)
    numbers = np.repeat(np.arange(4), 15)
    by_name = item_interval(fleiss_kappa, labels, groups=names, n_resamples=50)
    by_number = item_interval(fleiss_kappa, labels.reshape(3, -1), groups=numbers, n_resamples=50)
    assert (by_name.low, by_name.high) == (by_number.low, by_number.high)


def test_two_raters_given_one_by_one():
    labels = noisy_raters(100, n_raters=2)
    found = item_interval(cohen_kappa, *labels)
    assert found.value == cohen_kappa(*labels)
    assert found.low < found.value < found.high


def test_arrays_get_an_interval_per_entry():
    labels = noisy_raters(80)
    classes = item_interval(partial(per_class, fleiss_kappa, n_classes=3), labels)
    assert classes.low.shape == classes.high.shape == (3,)
    assert (classes.low < classes.value).all()
    pairs = item_interval(pairwise_scores, labels)
    np.testing.assert_array_equal(np.diag(pairs.low), 1)
    off = ~np.eye(3, dtype=bool)
    assert (pairs.low[off] < pairs.high[off]).all()
    cases = case_interval(
        partial(class_dice_scores, n_classes=3), labels[0].reshape(8, 10), labels[1].reshape(8, 10)
    )
    assert cases.value.shape == (3,)
    assert (cases.low < cases.high).all()


@pytest.mark.parametrize(
    "interval",
    [
        partial(item_interval, fleiss_kappa, noisy_raters(50)),
        partial(case_interval, float, np.linspace(0, 1, 50) ** 2),
    ],
    ids=["items", "cases"],
)
def test_seed_decides(interval):
    first, again, other = (interval(seed=seed) for seed in (3, 3, 4))
    assert (first.low, first.high) == (again.low, again.high)
    assert (first.low, first.high) != (other.low, other.high)


def test_undefined_cases_leave_the_mean():
    found = case_interval(float, [0.2, np.nan, 0.4])
    assert found.value == pytest.approx(0.3)
    assert found.low == pytest.approx(0.2)
    assert found.high == pytest.approx(0.4)


def test_only_undefined_values_give_nan():
    found = item_interval(fleiss_kappa, [[0, 0], [0, 0]], n_resamples=10)
    assert np.isnan([found.value, found.low, found.high]).all()


def test_an_infinite_case_stays_infinite():
    references = [np.ones((2, 2)), np.ones((2, 2))]
    found = case_interval(hausdorff_distance, references, [np.ones((2, 2)), np.zeros((2, 2))])
    assert (found.value, found.low, found.high) == (np.inf, 0, np.inf)


def test_a_single_case_has_no_spread():
    found = case_interval(float, [0.7])
    assert found.low == found.value == found.high == 0.7


@pytest.mark.parametrize("samples", [([1], [1, 2]), ([], []), ()])
def test_refuses_samples_that_do_not_match(samples):
    with pytest.raises(InputError, match="same number of cases"):
        case_interval(float, *samples)


@pytest.mark.parametrize("options", [{"level": 0}, {"level": 1.5}, {"n_resamples": 0}])
def test_refuses_levels_and_counts_that_make_no_interval(options):
    with pytest.raises(InputError, match="resample"):
        case_interval(float, [1, 2], **options)


def test_refuses_fractional_weights_where_items_are_drawn():
    labels, weights = [[0, 1], [0, 1]], [0.5, 1.5]
    with pytest.raises(InputError, match="give groups"):
        item_interval(fleiss_kappa, labels, weights=weights)
    found = item_interval(percent_agreement, labels, weights=weights, groups=[0, 1])
    assert found.value == 1.0


def test_refuses_groups_of_another_shape():
    with pytest.raises(InputError, match="group of every item"):
        item_interval(fleiss_kappa, [[0, 1], [0, 1]], groups=[0, 1, 2])


def test_refuses_an_empty_draw():
    with pytest.raises(InputError, match="no item"):
        item_interval(fleiss_kappa, [[0, 1], [0, 1]], weights=[0, 0])
