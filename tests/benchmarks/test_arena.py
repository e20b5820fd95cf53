import numpy as np
import pandas as pd
import pytest

from arena import METHODS, grid, margins, work
from arena_regimes import REGIMES, Regime, arena_dataset, digits, margin_where_disputed

N_TRAIN, N_TEST = 12, 4


@pytest.fixture
def few(monkeypatch):
    """Regimes of few cases."""
    monkeypatch.setattr("arena_regimes.N_TRAIN", N_TRAIN)
    monkeypatch.setattr("arena_regimes.N_TEST", N_TEST)


@pytest.mark.parametrize("job", [job for job in grid(quick=True) if job["method"] == "auto"])
def test_the_default_is_not_below_majority_vote(monkeypatch, job):
    monkeypatch.setattr("arena_regimes.N_TRAIN", 120)
    monkeypatch.setattr("arena_regimes.N_TEST", 60)
    default = work(job)
    vote = work({**job, "method": "mode"})
    assert default["Dice"] > vote["Dice"] - 0.02


@pytest.mark.parametrize("name", REGIMES)
def test_regimes_have_their_labels_and_truth(few, name):
    data = arena_dataset(name, "one", 0)
    n_train = REGIMES[name].n_train()
    assert [len(case.labels) for case in data] == [1] * n_train + [0] * N_TEST
    assert all(case.truth is not None for case in data)
    assert len(data.classes) == REGIMES[name].n_classes


def test_dense_means_every_rater(few):
    assert {len(case.labels) for case in arena_dataset("clean", "dense", 0)} == {5, 0}


def test_of_forty_raters_up_to_three_label_an_image():
    many = arena_dataset("many, sparse", "dense", 0)
    assert len(many.raters) == 40
    assert {len(case.labels) for case in many} == {0, 1, 2, 3}


def test_the_same_seed_gives_the_same_labels(few):
    one, again, other = (arena_dataset("spammers", "one", seed)[7] for seed in (0, 0, 1))
    assert np.array_equal(one.read_labels().array, again.read_labels().array)
    assert not np.array_equal(one.read_labels().array, other.read_labels().array)


def test_the_grid_leaves_out_what_only_repeats():
    jobs = grid(quick=False)
    one = {job["method"] for job in jobs if job["supply"] == "one"}
    assert one == set(METHODS) - {"mean", "staple", "pooled-staple", "spatial-staple"}
    once, few, long = (3 + 6), (3 + 6), (2 + 2)
    assert len(jobs) == len(REGIMES) * (3 * once + 3 * few + long)


def test_few_cases_make_few_steps_and_long_training_many():
    for regime in REGIMES.values():
        assert regime.n_train("few") * 4 == pytest.approx(regime.n_train(), abs=3)
        assert regime.epochs("few") == regime.epochs()
        assert regime.epochs("long") == 5 * regime.epochs()
        assert regime.n_train() * regime.epochs() == pytest.approx(320 * 6, rel=0.02)


def test_margins_compare_with_the_best_baseline_and_the_ceiling():
    rows = [
        {"form": "", "regime": "five", "supply": supply, "seed": 0}
        | {"method": method, "Dice": dice}
        for supply, method, dice in (
            ("one", "truth", 0.99),
            ("one", "mode", 0.90),
            ("one", "auto", 0.97),
            ("dense", "mean", 0.93),
            ("dense", "mode", 0.95),
            ("dense", "auto", 0.94),
        )
    ]
    found = margins(pd.DataFrame(rows))
    assert found["best baseline"].tolist() == ["mode", "mode"]
    assert found["above it"].tolist() == pytest.approx([7, -1])
    assert found["below the ceiling"].tolist() == pytest.approx([2, 5])


def test_the_right_class_leads_among_good_raters_and_not_among_bad_ones(monkeypatch):
    assert margin_where_disputed("clean", 0) > 0.5
    blank = lambda truth, *_: np.zeros_like(truth)  # noqa: E731
    over = REGIMES["five"].raters(0)[1]
    poor = Regime(digits, lambda _: [blank, blank, blank, over])
    monkeypatch.setitem(REGIMES, "poor", poor)
    assert margin_where_disputed("poor", 0) < 0
