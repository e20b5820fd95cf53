import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multirater.errors import InputError
from multirater.simulate import label_supply


@given(st.integers(1, 40), st.integers(1, 8), st.integers(0, 1000), st.data())
def test_counts_per_case_and_equal_load(n_cases, n_raters, seed, data):
    fewest = data.draw(st.integers(0, n_raters))
    most = data.draw(st.integers(fewest, n_raters))
    given_labels = label_supply(n_cases, n_raters, (fewest, most), seed=seed)
    assert given_labels.shape == (n_cases, n_raters)
    assert given_labels.dtype == bool
    per_case, per_rater = given_labels.sum(axis=1), given_labels.sum(axis=0)
    assert fewest <= per_case.min() <= per_case.max() <= most
    assert np.ptp(per_rater) <= 1


def test_dense_is_everything_and_one_is_one():
    assert label_supply(5, 3, seed=0).all()
    assert (label_supply(50, 3, "one", seed=0).sum(axis=1) == 1).all()


def test_every_number_between_occurs():
    assert set(label_supply(100, 5, (2, 4), seed=0).sum(axis=1)) == {2, 3, 4}


def test_who_labels_a_case_is_random_and_seeded():
    first = label_supply(500, 4, "one", seed=0)
    np.testing.assert_array_equal(first, label_supply(500, 4, "one", seed=0))
    assert not np.array_equal(first, label_supply(500, 4, "one", seed=1))
    # The rater of one case says nothing of the rater of the next.
    chosen = first.argmax(axis=1)
    pairs = np.zeros((4, 4))
    np.add.at(pairs, (chosen[:-1], chosen[1:]), 1)
    np.testing.assert_allclose(pairs / 499, 1 / 16, atol=0.04)


@pytest.mark.parametrize("supply", ["two", (2, 1), (0, 4), (-1, 2), 2])
def test_impossible_supply_is_named(supply):
    with pytest.raises(InputError, match="label supply"):
        label_supply(3, 3, supply, seed=0)
