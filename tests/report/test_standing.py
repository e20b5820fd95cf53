import numpy as np
import pandas as pd
import pytest

from multirater.fuse.quality import quality_of_cases
from multirater.report.contents import gather
from multirater.report.standing import Standing


def _table(*columns):
    scores = np.stack([np.random.default_rng(n).normal(mean, 0.02, 20) for n, mean in columns], 1)
    return quality_of_cases(scores, [f"r{n}" for n, _ in columns])


def test_raters_stand_by_the_truth_where_it_came_with_the_data(kinds):
    found = gather([kinds["truth"]])
    assert found.standing.by_truth
    scores = {each.name: each.score.value for each in found.raters}
    known = found.standing.table["quality"].dropna()
    assert known.to_dict() == pytest.approx({name: scores[name] for name in known.index})


def test_raters_stand_by_the_others_where_it_did_not(kinds):
    found = gather([kinds["no truth"]])
    assert not found.standing.by_truth
    pd.testing.assert_frame_equal(found.standing.table, found.quality)


def test_two_raters_are_told_apart_by_the_truth_alone():
    table = _table((0, 0.9), (1, 0.6))
    assert Standing(table).best_and_least() == ""
    said = Standing(table, by_truth=True).best_and_least()
    assert said == ". Closest to the truth: r0 (0.90); farthest: r1 (0.60)"


def test_level_raters_are_named_together():
    said = Standing(_table((0, 0.9), (1, 0.9), (2, 0.5))).best_and_least()
    assert said.startswith(". Of best quality: r1 and r0 (level, up to") or said.startswith(
        ". Of best quality: r0 and r1 (level, up to"
    )
    assert said.endswith("of least: r2 (0.50)")


def test_one_case_tells_nobody_apart():
    table = quality_of_cases(np.array([[0.9, 0.5, 0.2]]), ["a", "b", "c"])
    assert "one case does not tell the raters apart" in Standing(table).best_and_least()
