import numpy as np
import pandas as pd
import pytest

from multirater.fuse.answers import answers_from_rows
from multirater.fuse.quality import (
    case_quality,
    quality_of_answers,
    quality_of_cases,
    quality_of_class_labels,
    quality_of_drawings,
    ranks_of,
    with_quality,
)
from multirater.metrics import dice_score
from multirater.patterns import encode_patterns
from multirater.simulate import simulate_mask


def _small_objects(n_cases=12, side=40):
    truth = np.zeros((n_cases, side, side), dtype=np.int16)
    for number, each in enumerate(truth):
        each[5 + number : 12 + number, 8:15] = 1
    return truth


def _patterns(labels):
    found = [encode_patterns(case) for case in labels]
    return [(each.rows, each.counts) for each in found]


def test_quality_of_a_case_is_dice():
    rng = np.random.default_rng(0)
    labels, truth = rng.integers(0, 2, (3, 20, 20)), rng.integers(0, 2, (20, 20))
    found = encode_patterns([*labels, truth])
    scores = case_quality(found.rows[:, :3], found.counts, found.rows[:, 3], 2, is_mask=True)
    np.testing.assert_allclose(scores, [dice_score(truth, each) for each in labels])


def test_whoever_draws_too_much_of_small_objects_is_not_best():
    truth = _small_objects()
    kinds = [("good", 2), ("good", 2), ("good", 3), ("over", 1.5), ("under", 0.4)]
    labels = np.array(
        [
            [
                simulate_mask(each, kind, strength=s, seed=9 * n + r)[0]
                for r, (kind, s) in enumerate(kinds)
            ]
            for n, each in enumerate(truth)
        ]
    )
    table = quality_of_drawings(_patterns(labels), list("abcde"), 2)
    true = [
        np.mean([dice_score(t, case[r]) for t, case in zip(truth, labels, strict=True)])
        for r in range(5)
    ]
    assert table["quality"].idxmin() == "d" == "abcde"[int(np.argmin(true))]
    assert table.loc["d", "rank"] > table.loc["a", "rank"]
    assert (table["quality_low"] <= table["quality"]).all()
    assert (table["quality"] <= table["quality_high"]).all()


def test_the_judged_rater_has_no_say():
    """Three raters, one draws what nobody else does: their own vote does not help them."""
    rows, counts = np.array([[0, 0, 0], [1, 1, 0], [0, 0, 1]]), np.array([50, 5, 5])
    table = quality_of_drawings([(rows, counts)] * 3, list("abc"), 2)
    assert table["quality"].tolist() == [1.0, 1.0, 0.0]
    assert table["rank"].tolist() == [1, 1, 3]


def test_raters_who_cannot_be_told_apart_are_level():
    rng = np.random.default_rng(1)
    scores = rng.normal(0.8, 0.1, (20, 3))
    scores[:, 2] -= 0.3
    table = quality_of_cases(scores, list("abc"))
    assert table["rank"].tolist() == [1, 1, 3]


@pytest.mark.parametrize("seed", range(5))
def test_no_two_of_one_rank_can_be_told_apart_and_ranks_follow_quality(seed):
    """Also where of some raters little is known."""
    rng = np.random.default_rng(seed)
    value, better = rng.random(12), np.zeros((12, 12), dtype=bool)
    width = rng.uniform(0.01, 0.5, 12)
    better[:] = value[:, None] - value > np.hypot(width[:, None], width)
    value[5] = np.nan
    ranks = pd.Series(ranks_of(value, better))
    assert ranks.isna().tolist() == np.isnan(value).tolist()
    assert ranks[np.argsort(-value)].dropna().is_monotonic_increasing
    for _, raters in ranks.dropna().groupby(ranks):
        assert not better[np.ix_(raters.index, raters.index)].any()


def test_one_case_tells_nobody_apart():
    table = quality_of_cases(np.array([[0.9, 0.2]]), ["a", "b"])
    assert table["rank"].tolist() == [1, 1]
    assert table["quality_low"].isna().all()


def test_a_rater_without_company_is_not_judged():
    rows = np.array([[0, 0, -1], [1, 1, -1]])
    alone = np.array([[-1, -1, 0], [-1, -1, 1]])
    counts = np.array([9, 3])
    table = quality_of_drawings([(rows, counts)] * 3 + [(alone, counts)] * 2, list("abc"), 2)
    assert np.isnan(table.loc["c", "quality"])
    assert table.loc["c", "rank"] is pd.NA
    assert table["quality"].tolist()[:2] == [1.0, 1.0]


@pytest.mark.parametrize("seed", range(3))
def test_class_labels_are_judged_by_accuracy(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, 400)
    right = np.array([0.95, 0.8, 0.65, 0.5, 0.34])
    said = np.where(rng.random((400, 5)) < right, truth[:, None], rng.integers(0, 3, (400, 5)))
    answers = answers_from_rows(said, np.ones(400), 3)
    table = quality_of_class_labels(answers, list("abcde"))
    assert table["quality"].sort_values(ascending=False).index.tolist() == list("abcde")
    assert table["rank"].is_monotonic_increasing
    assert table.loc["e", "rank"] > table.loc["a", "rank"]


def test_few_answers_have_wide_intervals():
    table = quality_of_answers(
        np.array([4.0, 400.0, 0.0]), np.array([5.0, 500.0, 0.0]), list("abc")
    )
    width = table["quality_high"] - table["quality_low"]
    assert width["a"] > 5 * width["b"]
    assert table["rank"].tolist()[:2] == [1, 1]
    assert np.isnan(table.loc["c", "quality"])


def test_quality_comes_first():
    table = pd.DataFrame(
        {"labels": [1, 2], "skill": [0.5, 0.6]}, index=pd.Index(["a", "b"], name="rater")
    )
    joined = with_quality(table, quality_of_cases(np.array([[0.9, 0.2], [0.8, 0.1]]), ["a", "b"]))
    assert list(joined) == ["labels", "quality", "quality_low", "quality_high", "rank", "skill"]


def test_empty_cases_raise_nobody():
    rng = np.random.default_rng(1)
    truth = _small_objects()
    labels = np.stack([truth ^ (rng.random(truth.shape) < 0.02) for _ in range(4)], axis=1)
    with_empty = np.concatenate([labels, np.zeros((9, 4, 40, 40), dtype=labels.dtype)])
    with_empty[-1, 0, 3:9, 3:9] = 1  # who draws where there is nothing is still held to account
    plain = quality_of_drawings(_patterns(labels), list("abcd"), 2)["quality"]
    found = quality_of_drawings(_patterns(with_empty), list("abcd"), 2)["quality"]
    np.testing.assert_allclose(found[1:], plain[1:], atol=0.01)
    assert found["a"] < plain["a"] - 0.02


def test_ranks_of_many_raters_are_those_of_the_definition():
    random = np.random.default_rng(0)
    value = random.random(60)
    value[random.random(60) < 0.1] = np.nan
    better = value[:, None] - value > random.random((60, 60)) * 0.3
    expected, begins = [None] * 60, 0
    order = [r for r in np.argsort(-value, kind="stable") if not np.isnan(value[r])]
    for place, rater in enumerate(order):
        begins = place if any(better[o, rater] for o in order[begins:place]) else begins
        expected[rater] = begins + 1
    found = ranks_of(value, better)
    assert [None if pd.isna(rank) else int(rank) for rank in found] == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[0, 1]] * 20, [0.0, 0.0]),
        ([[1, 0]] * 20, [0.0, 0.0]),
        ([[0, 1, 2]] * 20, [0.0, 0.0, 0.0]),
        ([[0, 0]] * 15 + [[0, 1]] * 5, [0.75, 0.75]),
        ([[0, 0]] * 10 + [[1, 1]], [1.0, 1.0]),  # a class that occurs once
        ([[0, 0, -1]] * 10 + [[-1, 1, 1]], [1.0, 1.0, 1.0]),
        ([[0, -1], [1, 1], [1, 1]], [1.0, 1.0]),
    ],
)
def test_neither_the_order_of_classes_nor_a_rare_one_decides_who_is_better(rows, expected):
    said = np.array(rows)
    answers = answers_from_rows(said, np.ones(len(said)), int(said.max()) + 1)
    found = quality_of_class_labels(answers, range(said.shape[1]))
    assert found["quality"].tolist() == expected
    assert set(found["rank"]) == {1}
