"""The matrix of scores between raters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from multirater.errors import InputError
from multirater.metrics import (
    cohen_kappa,
    dice_score,
    iou_score,
    pairwise_kappa,
    pairwise_scores,
)

LABELS = arrays(np.int16, (3, 4, 5), elements=st.integers(-1, 2))


@settings(deadline=None)
@given(
    LABELS, st.sampled_from([("dice", dice_score), ("iou", iou_score)]), st.sampled_from([None, 1])
)
def test_each_entry_is_the_score_of_its_pair(labels, named_score, foreground):
    name, score = named_score
    expected = [[score(a, b, foreground=foreground) for b in labels] for a in labels]
    np.testing.assert_array_equal(
        pairwise_scores(labels, score=name, foreground=foreground), expected
    )


@settings(deadline=None)
@given(LABELS, arrays(np.int64, (4, 5), elements=st.integers(0, 3)))
def test_each_kappa_is_that_of_its_pair(labels, weights):
    expected = [[cohen_kappa(a, b, weights=weights) for b in labels] for a in labels]
    np.testing.assert_allclose(pairwise_kappa(labels, weights=weights), expected, atol=1e-12)


@settings(deadline=None)
@given(LABELS, st.permutations(range(3)))
def test_permuting_raters_permutes_rows_and_columns(labels, order):
    expected = pairwise_scores(labels)[np.ix_(order, order)]
    np.testing.assert_array_equal(pairwise_scores(labels[order]), expected)


@settings(deadline=None)
@given(LABELS, arrays(np.int64, (4, 5), elements=st.integers(0, 3)))
def test_weights_are_repetitions(labels, weights):
    repeated = np.repeat(labels.reshape(3, -1), weights.ravel(), axis=1)
    np.testing.assert_allclose(
        pairwise_scores(labels, weights=weights), pairwise_scores(repeated), rtol=1e-12
    )


def test_raters_who_share_no_item_have_no_score():
    scores = pairwise_scores([[0, 1, -1], [-1, -1, 1], [-1, -1, -1]])
    np.testing.assert_array_equal(scores[np.eye(3, dtype=bool)], [1, 1, np.nan])
    assert np.isnan(scores[~np.eye(3, dtype=bool)]).all()


def test_refuses_an_unknown_score():
    with pytest.raises(InputError, match="'dice' or 'iou'"):
        pairwise_scores([[0, 1], [1, 1]], score="kappa")


@pytest.mark.parametrize("share", [0.02, 0.9])
def test_dense_and_sparse_products_count_alike(share, rng):
    """Few labels of many raters are counted by a sparse product, many by a dense one."""
    labels = np.where(rng.random((40, 600)) < share, rng.integers(0, 4, (40, 600)), -1)
    expected = [[dice_score(a, b) for b in labels[:6]] for a in labels[:6]]
    np.testing.assert_allclose(pairwise_scores(labels)[:6, :6], expected)
