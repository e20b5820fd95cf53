import numpy as np
import pytest

from multirater.fuse import pattern_blocks
from multirater.fuse.pattern_blocks import PatternBlocks


def parts_of(n_cases, n_raters, seed=0):
    random = np.random.default_rng(seed)
    return [
        (random.integers(-1, 3, size=(40, n_raters)), random.integers(1, 9, size=40))
        for _ in range(n_cases)
    ]


def totals(parts):
    found = {}
    for rows, counts in parts:
        for row, count in zip(rows.tolist(), counts.tolist(), strict=True):
            found[tuple(row)] = found.get(tuple(row), 0) + count
    return found


@pytest.mark.parametrize("n_raters", [2, 40])
def test_blocks_hold_every_pattern_as_often_as_the_cases_do(n_raters, monkeypatch):
    monkeypatch.setattr(pattern_blocks, "_AT_ONCE", 1000)
    parts = parts_of(12, n_raters)
    found = PatternBlocks.of(iter(parts), n_raters, 3)
    assert totals((rows.unpack(), counts) for rows, counts in found.blocks) == totals(parts)
    # Few raters share patterns, which are held once; those of many are held in pieces.
    assert (len(found.blocks) > 1) == (n_raters == 40)
    assert all(rows.shape[0] * n_raters <= 1000 for rows, _ in found.blocks)


def test_the_known_class_is_a_column_of_its_own():
    rows = np.array([[0, 1, 1], [0, 1, -1]])
    (answers,) = PatternBlocks.of([(rows, np.array([2, 5]))], 2, 2, has_gold=True)
    assert sorted(zip(answers.gold.tolist(), answers.weight.tolist(), strict=True)) == [
        (-1, 5.0),
        (1, 2.0),
    ]
    assert answers.matrix.shape == (2, 4)
