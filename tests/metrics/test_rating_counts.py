from functools import partial

import numpy as np
import pytest

from multirater.metrics import (
    fleiss_kappa,
    gwet_ac1,
    item_interval,
    krippendorff_alpha,
    one_against_rest,
    percent_agreement,
)
from multirater.metrics.rating_counts import RatingCounts

COEFFICIENTS = [
    percent_agreement,
    fleiss_kappa,
    partial(gwet_ac1, n_classes=4),
    partial(krippendorff_alpha, level="ordinal"),
]


@pytest.fixture
def labels():
    return np.random.default_rng(0).integers(-1, 3, size=(5, 60))


def counted(labels, n_classes=4):
    counts = np.stack([(labels == k).sum(0) for k in range(n_classes)]).astype(float)
    return RatingCounts(counts, np.ones(labels.shape[1]), np.arange(n_classes))


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_counted_ratings_give_what_labels_do(coefficient, labels):
    weights = np.arange(60) % 3
    given = {"weights": weights, "groups": np.arange(60) // 6, "n_resamples": 20}
    found, expected = (
        item_interval(coefficient, each, **given) for each in (counted(labels), labels)
    )
    assert (found.value, found.low, found.high) == (expected.value, expected.low, expected.high)


def test_one_class_against_the_rest(labels):
    rest = one_against_rest(labels, 2)
    assert fleiss_kappa(counted(labels).against_rest(2)) == fleiss_kappa(rest)
    assert np.isnan(fleiss_kappa(counted(labels).against_rest(3)))
