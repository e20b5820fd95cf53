import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from multirater import metrics
from multirater.errors import InputError
from multirater.evaluation import cm_errors
from multirater.evaluation.cm_errors import squared_cm_error
from multirater.simulate import true_confusion


def maps():
    """Two label maps of the same size."""
    elements = st.integers(-1, 2)
    return npst.array_shapes(min_dims=2, max_dims=3, max_side=4).flatmap(
        lambda shape: st.tuples(*[npst.arrays(np.int16, shape, elements=elements)] * 2)
    )


def random_cm(seed, shape):
    cm = np.random.default_rng(seed).random((3, 3, *shape)) + 0.01
    return cm / cm.sum(1, keepdims=True)


@given(maps(), st.integers(0, 99), st.integers(1, 20))
def test_cm_error_is_that_of_the_metrics_whatever_the_block(pair, seed, block):
    truth, label = pair
    cm = random_cm(seed, truth.shape)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cm_errors, "_BLOCK", block)
        squares, n = squared_cm_error(truth, label, cm)
    known = np.moveaxis(true_confusion(truth, label, 3), (0, 1), (-2, -1))
    expected = metrics.confusion_rms_error(known, np.moveaxis(cm, (0, 1), (-2, -1)))
    assert n == 3 * ((truth >= 0) & (label >= 0)).sum()
    assert np.isclose(math.sqrt(squares / n) if n else math.nan, expected, equal_nan=True)


@given(maps(), st.integers(0, 99))
def test_one_matrix_stands_for_all_pixels(pair, seed):
    truth, label = pair
    cm = random_cm(seed, ())
    everywhere = np.broadcast_to(cm.reshape(3, 3, *[1] * truth.ndim), (3, 3, *truth.shape))
    assert squared_cm_error(truth, label, cm) == pytest.approx(
        squared_cm_error(truth, label, everywhere)
    )


def test_cm_error_by_hand():
    truth, label = np.array([0, 1, 1, 0]), np.array([0, 1, 0, 0])
    squares, n = squared_cm_error(truth, label, np.array([[0.9, 0.1], [0.2, 0.8]]))
    assert n == 8
    assert squares == pytest.approx(2 * 0.02 + 0.08 + 1.28)


def test_matrices_the_other_way_round_are_refused():
    turned = np.array([[0.9, 0.4], [0.1, 0.6]])
    with pytest.raises(InputError, match="rows that do not sum to one"):
        squared_cm_error(np.array([0, 1]), np.array([0, 1]), turned)
