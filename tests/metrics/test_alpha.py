"""Krippendorff's alpha against published values and the krippendorff package."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from multirater.errors import InputError
from multirater.metrics import krippendorff_alpha

NONE = np.nan

WIKIPEDIA = [
    [NONE, NONE, NONE, NONE, NONE, 3, 4, 1, 2, 1, 1, 3, 3, NONE, 3],
    [1, NONE, 2, 1, 3, 3, 4, 3, NONE, NONE, NONE, NONE, NONE, NONE, NONE],
    [NONE, NONE, 2, 1, 3, 4, 4, NONE, 2, 1, 1, 3, 3, NONE, 4],
]
"""The worked example of Wikipedia's page: three coders, 15 units."""

FOUR_OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
    [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
]
"""Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, example C."""

LEVELS = ["nominal", "ordinal", "interval"]


@pytest.mark.parametrize(("level", "expected"), [("nominal", 0.6914), ("interval", 0.8108)])
def test_wikipedias_example(level, expected):
    assert krippendorff_alpha(WIKIPEDIA, level=level) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("level", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_krippendorffs_own_example(level, expected):
    assert krippendorff_alpha(FOUR_OBSERVERS, level=level) == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("level", LEVELS)
@settings(deadline=None)
@given(
    arrays(np.int64, (4, 8), elements=st.integers(-1, 4)),
    arrays(np.int64, 8, elements=st.integers(0, 3)),
)
def test_agrees_with_the_krippendorff_package(level, labels, weights):
    import krippendorff

    repeated = np.repeat(labels, weights, axis=1)
    pairable = repeated[:, (repeated >= 0).sum(axis=0) >= 2]
    assume(len(np.unique(pairable[pairable >= 0])) > 1)
    expected = krippendorff.alpha(
        np.where(repeated < 0, np.nan, repeated), level_of_measurement=level
    )
    found = krippendorff_alpha(labels, level=level, weights=weights)
    assert found == pytest.approx(expected, abs=1e-10)


def test_classes_nobody_used_make_no_difference_but_to_intervals():
    close, far = np.array([[0, 1, 2, 1], [0, 1, 2, 2]]), np.array([[0, 1, 9, 1], [0, 1, 9, 9]])
    for level in ("nominal", "ordinal"):
        assert krippendorff_alpha(close, level=level) == krippendorff_alpha(far, level=level)
    assert krippendorff_alpha(close, level="interval") > krippendorff_alpha(far, level="interval")


@pytest.mark.parametrize("level", LEVELS)
def test_undefined_where_no_disagreement_could_be_expected(level):
    assert np.isnan(krippendorff_alpha([[1, 1], [1, 1]], level=level))
    assert np.isnan(krippendorff_alpha([[1, -1], [-1, 0]], level=level))
    assert np.isnan(krippendorff_alpha([[0, 1, 2]], level=level))


def test_refuses_an_unknown_level():
    with pytest.raises(InputError, match="'nominal', 'ordinal' or 'interval'"):
        krippendorff_alpha(WIKIPEDIA, level="ratio")
