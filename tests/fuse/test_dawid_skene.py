"""Dawid-Skene against crowd-kit, and on answers of real crowds."""

import numpy as np
import pandas as pd
import pytest

from multirater import fuse

pytestmark = pytest.mark.filterwarnings(
    "ignore::multirater.errors.MultiraterWarning", "ignore::DeprecationWarning"
)

ACCURACY = {"bluebird": 0.898, "product": 0.940}
FROM_VOTE = {"bluebird": 0.759, "product": 0.897}


@pytest.fixture(scope="module")
def crowdkit():
    return pytest.importorskip("crowdkit.aggregation")


@pytest.fixture(params=ACCURACY)
def crowd(request, shared_data):
    """Name, answers (task, worker, label) and truth of a real crowd."""
    folder = shared_data / "crowd" / request.param
    if not folder.is_dir():
        pytest.skip(f"no crowd answers beside the checkout ({folder.name})")
    answers = pd.read_csv(folder / "answer.csv").set_axis(["task", "worker", "label"], axis=1)
    truth = pd.read_csv(folder / "truth.csv").set_axis(["task", "truth"], axis=1)
    return request.param, answers, truth.set_index("task")["truth"]


def _their_parameters(model, table):
    """crowd-kit's matrices as [rater, true, observed], and its prior, in our order of names."""
    classes = list(model.errors_.columns)
    raters = list(dict.fromkeys(table["worker"]))
    pairs = pd.MultiIndex.from_product([raters, classes])
    observed_first = model.errors_.reindex(pairs, fill_value=0.0).to_numpy()
    cm = observed_first.reshape(len(raters), len(classes), len(classes)).transpose(0, 2, 1)
    return cm, model.priors_.reindex(classes).to_numpy(), raters, classes


def _assert_same_posteriors(model, result):
    theirs = model.probas_.reindex(result.label.index)[list(result.classes)]
    assert np.allclose(result.probability.to_numpy(), theirs.to_numpy(), rtol=0, atol=1e-6)


@pytest.mark.parametrize("n_iter", [1, 2, 7, 25])
@pytest.mark.parametrize("seed", range(3))
def test_equal_steps_give_crowdkits_posteriors(seed, n_iter, crowdkit, plant, long_table):
    _, labels = plant(
        seed, n_raters=8, n_items=120, n_classes=2 + seed, skill=(0.3, 0.9), missing=0.5
    )
    table = long_table(labels)
    model = crowdkit.DawidSkene(n_iter=n_iter, tol=-np.inf).fit(table)
    _assert_same_posteriors(model, fuse.dawid_skene(table, max_iter=n_iter, tol=-1.0))


@pytest.mark.parametrize("seed", range(6))
def test_log_likelihood_is_at_least_crowdkits(
    seed, crowdkit, plant, long_table, table_log_likelihood
):
    _, labels = plant(
        seed, n_raters=10, n_items=150, n_classes=2 + seed % 3, skill=(0.2, 0.9), missing=0.6
    )
    table = long_table(labels)
    result = fuse.dawid_skene(table)
    ours = table_log_likelihood(table, result.cm, result.prior, result.raters, result.classes)
    theirs = table_log_likelihood(
        table, *_their_parameters(crowdkit.DawidSkene().fit(table), table)
    )
    assert ours >= theirs - 1e-9 * abs(theirs)
    # The trace holds the likelihood before each step, so the result is at its end or beyond.
    assert ours >= result.log_likelihood[-1] - 1e-9


def test_real_crowds_equal_steps(crowd, crowdkit):
    _, answers, _ = crowd
    model = crowdkit.DawidSkene(n_iter=30, tol=-np.inf).fit(answers)
    _assert_same_posteriors(model, fuse.dawid_skene(answers, max_iter=30, tol=-1.0))


def test_real_crowds_log_likelihood(crowd, crowdkit, table_log_likelihood):
    _, answers, _ = crowd
    result = fuse.dawid_skene(answers)
    ours = table_log_likelihood(answers, result.cm, result.prior, result.raters, result.classes)
    model = crowdkit.DawidSkene().fit(answers)
    assert ours > table_log_likelihood(answers, *_their_parameters(model, answers))


def test_real_crowds_accuracy(crowd):
    name, answers, truth = crowd
    result = fuse.dawid_skene(answers)
    assert result.converged
    assert round((result.label.reindex(truth.index) == truth).mean(), 3) == ACCURACY[name]
    vote = fuse.majority_vote(answers).label.reindex(truth.index)
    assert round((vote == truth).mean(), 3) == FROM_VOTE[name]


def test_matrices_of_planted_raters_are_recovered():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 20_000)
    cm = rng.dirichlet(np.ones(3), (6, 3)) * 0.4 + 0.6 * np.eye(3)
    drawn = rng.random((6, 20_000, 1))
    labels = (drawn > cm[:, truth].cumsum(2)).sum(2)
    result = fuse.dawid_skene(labels)
    assert np.abs(result.cm - cm).max() < 0.02
    assert result.prior == pytest.approx(np.bincount(truth) / 20_000, abs=0.01)


def test_no_probability_is_exactly_zero(plant, long_table):
    _, labels = plant(1, n_raters=6, n_items=40, missing=0.7)
    assert fuse.dawid_skene(long_table(labels)).cm.min() > 0


def test_raters_who_are_never_wrong_may_contradict_each_other():
    labels = np.array([[0, 1, 0, 1, 0], [0, 1, 0, 1, -1], [-1, -1, -1, -1, 1]])
    result = fuse.dawid_skene(labels, 2)
    assert np.isfinite(result.log_likelihood).all()
    assert result.label[:4].tolist() == [0, 1, 0, 1]


def test_an_answer_given_twice_counts_twice():
    table = pd.DataFrame(
        {"task": [1, 1, 1, 2, 2], "worker": list("aabab"), "label": [0, 0, 1, 1, 1]}
    )
    votes = fuse.mean(table).probability
    assert votes.loc[1].to_numpy() == pytest.approx([2 / 3, 1 / 3])
    assert fuse.dawid_skene(table).counts.sum() == pytest.approx(5)
