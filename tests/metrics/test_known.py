"""Means and ratios with unknown parts."""

import warnings

import numpy as np

from multirater.metrics.known import mean_of_known, ratio_or_nan


def test_mean_leaves_unknown_values_out_without_a_warning():
    values = np.array([[1.0, np.nan], [3.0, np.nan]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(mean_of_known(values, axis=0), [2.0, np.nan])
        np.testing.assert_array_equal(mean_of_known(values, axis=1), [1.0, 3.0])


def test_mean_keeps_infinity():
    assert mean_of_known(np.array([1.0, np.inf]), axis=0) == np.inf


def test_ratio_is_nan_where_the_whole_is_nothing():
    ratio = ratio_or_nan(np.array([[1, 3], [0, 0]]), np.array([[4], [0]]))
    np.testing.assert_array_equal(ratio, [[0.25, 0.75], [np.nan, np.nan]])
