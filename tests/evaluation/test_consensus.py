import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy import stats
from sklearn.metrics import jaccard_score

from multirater.evaluation.consensus import (
    GROUPS,
    consensus_correlations,
    consensus_group,
    consensus_level,
)


def test_level_is_the_mean_iou_of_every_two_raters(rng):
    labels = rng.integers(0, 2, size=(4, 6, 7))
    pairs = [(a, b) for a in range(4) for b in range(a)]
    expected = np.mean([jaccard_score(labels[a].ravel(), labels[b].ravel()) for a, b in pairs])
    assert consensus_level(labels) == pytest.approx(expected)


def test_several_classes_are_averaged_without_background():
    # Class 1: 1 of 2 pixels in common; class 2: 1 of 2.
    assert consensus_level([[0, 1, 1, 2], [0, 1, 2, 2]]) == pytest.approx(0.5)


@pytest.mark.parametrize("labels", [[[0, 1, 1]], [[0, 1, -1], [-1, -1, 0]]])
def test_level_is_unknown_without_two_raters_of_a_pixel(labels):
    assert math.isnan(consensus_level(labels))


def test_raters_who_labelled_nothing_do_not_count():
    two = [[0, 1, 1], [0, 1, 0]]
    assert consensus_level([*two, [-1, -1, -1]]) == consensus_level(two) == 0.5


SOME_LABELS = npst.arrays(
    np.int8, st.tuples(st.integers(2, 4), st.integers(1, 8)), elements=st.integers(0, 2)
)


@given(SOME_LABELS)
def test_level_is_between_0_and_1_and_1_only_for_equal_foregrounds(labels):
    level = consensus_level(labels)
    assert 0 <= level <= 1
    assert (level == 1) == bool((labels == labels[:1]).all())


@pytest.mark.parametrize(
    ("level", "group"),
    [
        (0.0, "below"),
        (0.2999, "below"),
        (0.30, "low"),
        (0.6499, "low"),
        (0.65, "middle"),
        (0.75, "high"),
        (0.90, "high"),
        (0.9001, "above"),
        (1.0, "above"),
        (math.nan, "unknown"),
    ],
)
def test_groups_are_those_of_the_paper_and_what_lies_outside(level, group):
    assert consensus_group(level) == group


@given(st.floats(0, 1))
def test_a_group_contains_its_level(level):
    start, end = GROUPS[consensus_group(level)]
    assert start <= level <= end


def test_correlations_equal_those_of_scipy(rng):
    real = rng.random(30)
    predicted = (real + rng.normal(0, 0.3, 30)).round(1)  # with ties
    found = consensus_correlations(predicted, real)
    assert found["Pearson"].value == pytest.approx(stats.pearsonr(predicted, real).statistic)
    assert found["Spearman"].value == pytest.approx(stats.spearmanr(predicted, real).statistic)


def test_the_interval_is_that_of_scipys_bootstrap(rng):
    real = rng.random(40)
    predicted = real + rng.normal(0, 0.3, 40)
    found = consensus_correlations(predicted, real, level=0.9, n_resamples=1000)["Spearman"]
    expected = stats.bootstrap(
        (predicted, real),
        lambda x, y: np.corrcoef(stats.rankdata(x), stats.rankdata(y))[0, 1],
        paired=True,
        confidence_level=0.9,
        n_resamples=1000,
        method="percentile",
        vectorized=False,
        rng=np.random.default_rng(1),
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=0.05)


def test_spearman_sees_the_order_alone():
    real = [0.1, 0.2, 0.3, 0.9]
    found = consensus_correlations(np.exp(real), real)
    assert found["Spearman"].value == pytest.approx(1)
    assert found["Pearson"].value < 1


def test_unknown_levels_do_not_count():
    known = consensus_correlations([0.1, 0.5, 0.6, 0.7], [0.2, 0.3, 0.9, 0.8])
    more = consensus_correlations(
        [0.1, 0.5, math.nan, 0.6, 0.7, 0.4], [0.2, 0.3, 0.1, 0.9, 0.8, math.nan]
    )
    assert more["Pearson"].value == known["Pearson"].value


@pytest.mark.parametrize("levels", [[0.5, 0.6], [0.7] * 5, [0.5, math.nan, math.nan, 0.6]])
def test_no_correlation_of_few_or_equal_levels(levels):
    found = consensus_correlations(levels, np.arange(len(levels)) / 10)
    assert all(math.isnan(each.value) for each in found.values())
