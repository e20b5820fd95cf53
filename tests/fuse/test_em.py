"""The driver against a dense EM over uncompressed items, and its guarantees."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from multirater import fuse
from multirater.errors import InputError
from multirater.fuse.em import confusion_of
from multirater.fuse.expectation import (
    expected_counts,
    log_likelihood_of,
    posterior_counts,
    posterior_of,
)
from multirater.fuse.problem import pose

pytestmark = pytest.mark.filterwarnings("ignore::multirater.errors.MultiraterWarning")

METHODS = {
    "staple": fuse.staple,
    "dawid_skene": fuse.dawid_skene,
    "one_coin": fuse.one_coin,
    "mace": fuse.mace,
}

problems = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 100_000),
        "n_raters": st.integers(1, 6),
        "n_items": st.integers(1, 60),
        "n_classes": st.integers(2, 4),
        "skill": st.sampled_from([(0.0, 1.0), (0.5, 0.9)]),
        "missing": st.sampled_from([0.0, 0.3, 0.7]),
    }
)
priors = st.sampled_from(["frequency", "estimated", "given"])


def _prior(kind, n_classes, seed):
    return np.random.default_rng(seed).dirichlet(np.ones(n_classes)) if kind == "given" else kind


def _some_gold(truth, seed):
    return np.where(np.random.default_rng(seed).random(truth.shape) < 0.2, truth, -1)


@settings(max_examples=150)
@given(
    method=st.sampled_from(list(METHODS)),
    problem=problems,
    prior=priors,
    dirichlet=st.sampled_from([0.0, 0.01, 0.5, 2.0]),
    with_gold=st.booleans(),
)
def test_log_likelihood_never_decreases(method, problem, prior, dirichlet, with_gold, plant):
    truth, labels = plant(**problem)
    result = METHODS[method](
        labels,
        problem["n_classes"],
        prior=_prior(prior, problem["n_classes"], problem["seed"]),
        dirichlet=dirichlet,
        gold=_some_gold(truth, problem["seed"]) if with_gold else None,
        # A negative tolerance keeps EM going where it would have stopped.
        tol=-1.0,
        max_iter=30,
    )
    trace = result.log_likelihood
    assert len(trace) == 30
    float_noise = 1e-13 * (np.abs(trace).max() + labels.size)
    assert np.diff(trace).min() >= -float_noise


@settings(max_examples=40)
@given(
    problem=problems,
    prior=priors,
    dirichlet=st.sampled_from([0.0, 0.3]),
    with_gold=st.booleans(),
    step=st.sampled_from(["free", "coin"]),
    n_iter=st.integers(1, 6),
)
def test_patterns_equal_uncompressed_items(
    problem, prior, dirichlet, with_gold, step, n_iter, plant, dense_em
):
    truth, labels = plant(**problem)
    n_classes = problem["n_classes"]
    assume(set(range(n_classes)) <= set(labels.ravel().tolist()))
    gold = _some_gold(truth, problem["seed"]) if with_gold else None
    # The only rater there is is followed, which plain EM does not do.
    is_alone = (labels != -1).any(1).sum() < 2
    assume(not is_alone or prior == "given" or (gold is not None and (gold != -1).any()))
    options = {
        "prior": _prior(prior, n_classes, problem["seed"]),
        "dirichlet": dirichlet,
        "gold": gold,
    }
    fuser = fuse.staple if step == "free" else fuse.one_coin
    result = fuser(labels, n_classes, max_iter=n_iter, tol=-1.0, **options)
    dense = dense_em(labels, n_classes, n_iter=n_iter, step=step, **options)
    assert np.allclose(result.cm, dense.cm, rtol=0, atol=1e-9)
    assert np.allclose(result.prior, dense.prior, rtol=0, atol=1e-9)
    assert np.allclose(result.probability.T, dense.posterior, rtol=0, atol=1e-6)
    if dirichlet == 0:
        assert np.allclose(result.log_likelihood, dense.log_likelihood, rtol=1e-9, atol=1e-9)


def test_rows_of_a_table_equal_uncompressed_items(plant, long_table, dense_em):
    _, labels = plant(5, n_items=70, missing=0.3)
    result = fuse.dawid_skene(long_table(labels), raters=range(5), max_iter=12, tol=-1.0)
    dense = dense_em(labels, 3, n_iter=12, prior="estimated")
    posterior = result.probability.loc[range(70)].to_numpy()
    assert np.allclose(posterior, dense.posterior, rtol=0, atol=1e-9)
    assert np.allclose(result.cm, dense.cm, rtol=0, atol=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_rows_of_several_blocks_equal_their_patterns(missing, plant, long_table):
    """With and without the same number of answers in every row."""
    _, labels = plant(6, n_items=40_000, n_raters=4, n_classes=2, missing=missing)
    result = fuse.dawid_skene(long_table(labels), raters=range(4), max_iter=3, tol=-1.0)
    together = fuse.dawid_skene(labels, max_iter=3, tol=-1.0)
    assert np.allclose(result.cm, together.cm, rtol=0, atol=1e-9)
    assert result.log_likelihood == pytest.approx(together.log_likelihood, rel=1e-12)


@pytest.mark.parametrize("with_gold", [False, True])
def test_products_too_small_for_floats(with_gold, plant):
    """A hundred raters who are hardly ever wrong, of whom half contradict the others."""
    truth, labels = plant(8, n_raters=100, n_items=300, skill=(0.999, 1.0))
    labels[50:, -3:] = (labels[50:, -3:] + 1) % 3
    gold = np.where(np.arange(300) < 20, truth, -1) if with_gold else None
    result = fuse.staple(labels, gold=gold)
    assert np.isfinite(result.log_likelihood).all()
    log_joint = np.log(result.prior) + sum(
        np.log(cm)[:, label].T for cm, label in zip(result.cm, labels, strict=True)
    )
    assert log_joint.min() < -745  # exp of this is zero
    expected = np.exp(log_joint - np.logaddexp.reduce(log_joint, axis=1, keepdims=True))
    assert np.allclose(result.predict_proba(labels).T, expected, atol=1e-6)
    assert np.array_equal(result.label[:-3], truth[:-3])


def test_log_likelihood_alone_equals_that_of_the_step(plant):
    _, labels = plant(9, missing=0.3)
    answers = pose(labels).answers
    cm = np.random.default_rng(0).dirichlet(np.ones(3), (5, 3))
    prior = np.array([0.2, 0.3, 0.5])
    counts, mass, log_likelihood = expected_counts(answers, cm, prior)
    assert log_likelihood_of(answers, cm, prior) == [pytest.approx(log_likelihood, rel=1e-12)]
    posterior = posterior_of(answers, cm, prior)
    assert np.allclose(posterior_counts(answers, posterior), counts)
    assert np.allclose(answers.weight @ posterior, mass)


def test_relative_tolerance_decides_when_to_stop(plant):
    _, labels = plant(7, skill=(0.5, 0.8))
    loose, tight = fuse.staple(labels, tol=1e-4), fuse.staple(labels, tol=1e-10)
    assert loose.converged
    assert tight.converged
    assert loose.n_iter < tight.n_iter
    last = np.diff(loose.log_likelihood)[-1] / abs(loose.log_likelihood[-1])
    before = np.diff(loose.log_likelihood)[-2] / abs(loose.log_likelihood[-2])
    assert last <= 1e-4 < before


def test_no_step_at_all_gives_the_vote():
    labels = np.array([[0, 1, 1], [0, 1, 0], [0, 0, 0]])
    result = fuse.staple(labels, max_iter=0)
    assert result.n_iter == 0
    assert not result.converged
    assert np.allclose(result.probability[1], [0, 2 / 3, 1 / 3])


def test_confusion_of_counts():
    counts = np.array([[[3.0, 1.0], [0.0, 0.0]]])
    assert confusion_of(counts).tolist() == [[[0.75, 0.25], [0.5, 0.5]]]


@pytest.mark.parametrize(
    ("method", "option"),
    [
        (fuse.staple, {"max_iter": -5}),
        (fuse.spatial_staple, {"max_iter": -5}),
        (fuse.dawid_skene, {"dirichlet": -1.0}),
        (fuse.staple, {"dirichlet": float("nan")}),
        (fuse.one_coin, {"dirichlet": float("inf")}),
        (fuse.mace, {"tol": float("nan")}),
    ],
)
def test_options_that_cannot_be_are_refused(method, option):
    with pytest.raises(InputError, match=next(iter(option))):
        method(np.eye(4, dtype=int)[None].repeat(3, 0), **option)
