"""Bias and limits of agreement."""

import math

import numpy as np
import pytest

from multirater.metrics import bland_altman

LARGE = [494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427]
MINI = [512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451]
"""Peak flow (l/min) by two meters: Bland and Altman, Lancet 1986, table 1, first readings."""


def test_published_example():
    found = bland_altman(LARGE, MINI)
    assert found.n == 17
    assert found.bias == pytest.approx(-2.1, abs=0.05)
    assert found.sd == pytest.approx(38.8, abs=0.05)
    # The paper takes 2 standard deviations: -79.7 to 75.5.
    assert found.lower == pytest.approx(-2.1 - 1.96 * 38.8, abs=0.1)
    assert found.upper == pytest.approx(-2.1 + 1.96 * 38.8, abs=0.1)
    assert (found.bias_low, found.bias_high) == pytest.approx((-22.0, 17.8), abs=0.1)
    # Its intervals of the limits take their variance as 3 s² / n, which is 1 % smaller here.
    assert (found.upper_high - found.upper_low) / 2 == pytest.approx(34.6, rel=0.015)


def test_intervals_hold_the_true_values_as_often_as_they_say():
    rng = np.random.default_rng(0)
    held = np.zeros(3)
    for _ in range(2000):
        differences = rng.normal(1.0, 2.0, 15)
        found = bland_altman(differences, np.zeros(15), level=0.9)
        held += [
            found.bias_low <= 1.0 <= found.bias_high,
            found.lower_low <= 1 - 1.959964 * 2 <= found.lower_high,
            found.upper_low <= 1 + 1.959964 * 2 <= found.upper_high,
        ]
    assert held / 2000 == pytest.approx(0.9, abs=0.03)


def test_unknown_pairs_are_left_out_and_few_give_no_limits():
    found = bland_altman([1.0, math.nan, 4.0], [0.0, 1.0, math.nan])
    assert (found.n, found.bias) == (1, 1.0)
    assert math.isnan(found.lower)
    assert math.isnan(bland_altman([], []).bias)
