"""What all EM methods share around their own step: priors, ties, going on from a result."""

import numpy as np
import pandas as pd
import pytest

from multirater import fuse
from multirater.errors import InputError
from multirater.fuse.fitting import is_map

pytestmark = pytest.mark.filterwarnings("ignore::multirater.errors.MultiraterWarning")

METHODS = [fuse.staple, fuse.dawid_skene, fuse.one_coin, fuse.mace]
TIGHT = {"tol": 1e-9, "max_iter": 20_000}


@pytest.fixture(params=METHODS, ids=lambda method: method.__name__)
def method(request):
    return request.param


@pytest.mark.parametrize("prior", ["estimated", "frequency", [0.5, 0.3, 0.2]])
def test_going_on_reaches_the_same_result_sooner(method, prior, plant):
    _, labels = plant(0, n_items=3000, skill=(0.4, 0.8), missing=0.3)
    options = {"prior": prior, "dirichlet": 0.1, **TIGHT}
    early = method(labels[:, :2950], **options)
    scratch = method(labels, **options)
    onward = method(labels, start=early, **options)
    assert onward.n_iter < scratch.n_iter
    assert np.allclose(onward.cm, scratch.cm, rtol=0, atol=1e-3)
    assert np.allclose(onward.prior, scratch.prior, rtol=0, atol=1e-3)
    assert np.array_equal(onward.label, scratch.label)
    assert onward.log_likelihood[-1] == pytest.approx(scratch.log_likelihood[-1], rel=1e-7)


def test_nothing_new_is_nothing_to_do(method, plant):
    _, labels = plant(1)
    done = method(labels, dirichlet=0.1)
    again = method(labels, dirichlet=0.1, start=done)
    assert again.n_iter <= 5 < done.n_iter
    assert again.log_likelihood[-1] >= done.log_likelihood[-1]


def test_new_raters_and_new_classes_may_join(method, plant, long_table):
    _, labels = plant(2, n_raters=6, n_items=500, n_classes=4, skill=(0.6, 0.9), missing=0.3)
    first = labels[:4].copy()
    first[first == 3] = -1
    early = method(long_table(first), dirichlet=0.1, **TIGHT)
    scratch = method(long_table(labels), dirichlet=0.1, **TIGHT)
    onward = method(long_table(labels), dirichlet=0.1, start=early, **TIGHT)
    assert onward.raters == scratch.raters
    assert set(onward.classes) == {0, 1, 2, 3}
    assert np.allclose(onward.cm, scratch.cm, atol=1e-3)
    assert (onward.label == scratch.label).mean() > 0.995


def test_raters_are_carried_over_by_name():
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 200)
    good, bad = (truth ^ (rng.random(200) < rate) for rate in (0.05, 0.4))
    table = pd.DataFrame(
        {
            "task": np.tile(np.arange(200), 3),
            "worker": np.repeat(["good", "fair", "bad"], 200),
            "label": np.concatenate([good, truth ^ (rng.random(200) < 0.15), bad]),
        }
    )
    known = fuse.dawid_skene(table)
    turned = table.iloc[::-1]
    result = fuse.dawid_skene(turned, start=known, max_iter=1)
    assert result.raters == ("bad", "fair", "good")
    by_name = dict(zip(result.raters, result.skill, strict=True))
    assert by_name["good"] > by_name["fair"] > by_name["bad"]


def test_a_given_prior_stands_when_going_on(plant):
    _, labels = plant(4)
    early = fuse.dawid_skene(labels)
    assert fuse.dawid_skene(labels, start=early, prior=[0.2, 0.3, 0.5]).prior.tolist() == [
        0.2,
        0.3,
        0.5,
    ]


def test_ties_of_probability_are_counted():
    labels = np.array([[0, 1, 0], [1, 0, 0]])
    result = fuse.one_coin(labels, prior=0.5)
    assert result.n_ties == 2
    assert result.label.tolist() == [0, 0, 0]


def test_what_is_a_map():
    assert is_map(np.full((2, 5), 0.5))
    assert is_map([np.full((2, 3, 3), 0.5), np.full((2, 4, 4), 0.5)])
    assert not is_map("frequency")
    assert not is_map(0.3)
    assert not is_map([0.2, 0.8])
    assert not is_map(np.array([0.2, 0.8]))


@pytest.mark.parametrize("prior", [np.nan, np.inf, -0.1, 0, 1, [np.nan, 0.5], [np.inf, -np.inf]])
def test_a_prior_that_is_no_probability_or_leaves_no_doubt_is_refused(prior):
    with pytest.raises(InputError, match="prior"):
        fuse.staple(np.array([[[0, 1]], [[0, 1]], [[1, 1]]]), prior=prior)
