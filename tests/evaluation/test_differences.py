"""Paired differences between methods."""

import numpy as np
import pytest
from scipy import stats

from multirater import dataset_from_arrays, evaluate
from multirater.evaluation import paired_differences
from multirater.metrics import dice_score

N = 40


@pytest.fixture
def studies(rng):
    """Hard and easy cases, and two methods of which the first is a little better on all."""
    truth = (rng.random((N, 16, 16)) < 0.4).astype(int)
    hard = rng.uniform(0.02, 0.4, (N, 1, 1))
    drawn = [truth ^ (rng.random((N, 16, 16)) < hard + more) for more in (0.0, 0.03)]
    data = dataset_from_arrays(truth[:, None], truths=truth, raters=["anna"])
    return truth, drawn, data


def evaluated(drawn, data, cases=None):
    names = None if cases is None else [f"{case:02d}" for case in cases]
    return evaluate(dataset_from_arrays(drawn[:, None], raters=["net"], cases=names), data)


def test_differences_are_those_of_single_cases_and_intervals_as_wide_as_student(studies):
    truth, drawn, data = studies
    found = paired_differences({"a": evaluated(drawn[0], data), "b": evaluated(drawn[1], data)})
    row = found.loc[("a", "b", "Dice")]
    gaps = [
        dice_score(t, one) - dice_score(t, other)
        for t, one, other in zip(truth, *drawn, strict=True)
    ]
    assert row["difference"] == pytest.approx(np.mean(gaps))
    assert row["mean a"] - row["mean b"] == pytest.approx(np.mean(gaps))
    student = stats.ttest_1samp(gaps, 0).confidence_interval(0.95)
    assert (row["low"], row["high"]) == pytest.approx((student.low, student.high), abs=0.005)
    assert (row["a higher"], row["a lower"]) == (
        np.sum(np.array(gaps) > 0),
        np.sum(np.array(gaps) < 0),
    )


def test_pairs_tell_apart_what_two_intervals_do_not(studies):
    _, drawn, data = studies
    one, other = evaluated(drawn[0], data), evaluated(drawn[1], data)
    rows = [each.scores.loc[("Dice", "all")] for each in (one, other)]
    assert rows[0]["low"] < rows[1]["high"]  # the intervals overlap
    assert paired_differences({"a": one, "b": other}).loc[("a", "b", "Dice"), "low"] > 0


def test_only_common_cases_count(studies):
    _, drawn, data = studies
    some = evaluated(drawn[1][:10], data, range(10))
    found = paired_differences({"a": evaluated(drawn[0], data), "b": some})
    row = found.loc[("a", "b", "Dice")]
    assert row["n_cases"] == 10
    assert row["mean a"] == pytest.approx(evaluated(drawn[0], data).cases["Dice"][:10].mean())


def test_every_two_of_several(studies):
    _, drawn, data = studies
    each = {name: evaluated(drawn[0], data) for name in "abc"}
    found = paired_differences(each)
    pairs = {(a, b) for a, b, _ in found.index}
    assert pairs == {("a", "b"), ("a", "c"), ("b", "c")}
    assert (found["difference"] == 0).all()
