"""The matrix of every two raters."""

import numpy as np
import pytest

from multirater.report.pair_matrix import MOST_RATERS, cluster_order, lay_out


def grouped(n_raters, rng):
    """Raters of two groups, shuffled: alike within, apart between."""
    group = rng.permutation(n_raters) % 2
    matrix = np.where(group[:, None] == group[None, :], 0.9, 0.4)
    matrix = matrix + rng.normal(0, 0.01, matrix.shape)
    matrix = (matrix + matrix.T) / 2
    np.fill_diagonal(matrix, np.nan)
    return matrix, group


@pytest.mark.parametrize(
    ("n_raters", "density"), [(2, "wide"), (3, "wide"), (15, "compact"), (60, "colour")]
)
def test_numbers_stand_where_they_fit(n_raters, density, rng):
    matrix, _ = grouped(n_raters, rng)
    found = lay_out(matrix, [1] * n_raters)
    assert found.density == density
    assert sorted(found.order) == list(range(n_raters))
    assert found.text(0.5) == ("0.50" if density == "wide" else ".50")
    known = matrix[~np.isnan(matrix)]
    assert (found.low, found.high) == (known.min(), known.max())


@pytest.mark.parametrize("n_raters", [4, 15, 60])
def test_raters_who_agree_stand_side_by_side(n_raters, rng):
    matrix, group = grouped(n_raters, rng)
    ordered = group[cluster_order(matrix)]
    assert np.count_nonzero(np.diff(ordered)) == 1


def test_the_scale_runs_from_the_lowest_to_the_highest(rng):
    found = lay_out(grouped(5, rng)[0], [1] * 5)
    assert found.heat(found.low) == "8%"
    assert found.heat(found.high) == "60%"  # text on it can still be read
    assert lay_out(grouped(40, rng)[0], [1] * 40).heat(1.0) == "100%"


def test_of_too_many_raters_those_with_most_labels_stay(rng):
    n_raters = MOST_RATERS + 5
    labels = [1 if i < 5 else 9 for i in range(n_raters)]
    found = lay_out(grouped(n_raters, rng)[0], labels)
    assert sorted(found.order) == list(range(5, n_raters))
    assert found.n_raters == n_raters


def test_pairs_without_a_case_are_gaps_and_do_not_break_the_order(rng):
    matrix, _ = grouped(6, rng)
    assert not lay_out(matrix, [1] * 6).has_gaps
    matrix[0, 1:] = matrix[1:, 0] = np.nan
    found = lay_out(matrix, [1] * 6)
    assert found.has_gaps
    assert sorted(found.order) == list(range(6))
    assert sorted(lay_out(np.full((3, 3), np.nan), [1] * 3).order) == [0, 1, 2]
