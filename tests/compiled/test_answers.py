import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba")

from multirater import compiled
from multirater.fuse import expectation
from multirater.fuse.answers import answers_from_rows
from multirater.fuse.methods import METHODS


def made_up(seed, n_raters, n_classes):
    rng = np.random.default_rng(seed)
    rows = rng.integers(-1, n_classes, size=(rng.integers(1, 60), n_raters))
    answers = answers_from_rows(rows, rng.integers(0, 5, len(rows)), n_classes)
    cm = rng.dirichlet(np.full(n_classes, 0.3), (n_raters, n_classes))
    return answers, cm, rng.dirichlet(np.ones(n_classes))


def both_ways(monkeypatch, function):
    found = []
    for worth in (1 << 62, 0):
        monkeypatch.setattr(expectation, "_WORTH_COMPILING", worth)
        found.append(function())
    return found


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 7), st.integers(1, 37))
def test_compiled_steps_equal_those_in_numpy(seed, n_raters, n_classes):
    answers, cm, prior = made_up(seed, n_raters, n_classes)
    with pytest.MonkeyPatch.context() as patch:
        for step in (
            lambda: expectation.expected_counts(answers, cm, prior),
            lambda: expectation.vote_counts(answers, prior),
            lambda: [expectation.posterior_of(answers, cm, prior)],
            lambda: expectation.log_likelihood_of(answers, cm, prior, prior[::-1].copy()),
        ):
            for plain, quick in zip(*both_ways(patch, step), strict=True):
                assert np.allclose(quick, plain, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("method", ["dawid-skene", "one-coin", "mace"])
def test_a_whole_fusion_is_the_same(method, monkeypatch):
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, (200, 1))
    label = np.where(rng.random((200, 5)) < 0.7, truth, rng.integers(0, 3, (200, 5)))
    task, rater = np.nonzero(rng.random(label.shape) < 0.6)
    table = pd.DataFrame({"task": task, "rater": rater, "label": label[task, rater]})
    plain, quick = both_ways(monkeypatch, lambda: METHODS[method](table))
    assert quick.n_iter == plain.n_iter
    assert np.allclose(quick.probability, plain.probability, atol=1e-9)
    assert np.allclose(quick.cm, plain.cm, atol=1e-9)


def test_answers_that_are_not_plain_are_left_to_numpy(monkeypatch):
    answers, cm, prior = made_up(1, 3, 2)
    gold = np.zeros(len(answers), dtype=np.int64)
    known = answers_from_rows(
        np.zeros((len(answers), 3), dtype=np.int64), answers.weight, 2, gold=gold
    )
    plain, quick = both_ways(monkeypatch, lambda: expectation.posterior_of(known, cm, prior))
    assert np.array_equal(plain, quick)
    assert (quick[:, 0] == 1).all()


def test_work_is_added_up_before_anything_is_loaded():
    tally = compiled.Tally(worth=100)
    assert [tally.pays(60), tally.pays(60), tally.pays(0)] == [False, True, True]


def test_without_numba_nothing_pays(monkeypatch):
    monkeypatch.setattr(compiled, "is_there", lambda: False)
    assert not compiled.Tally(worth=0).pays(1000)
