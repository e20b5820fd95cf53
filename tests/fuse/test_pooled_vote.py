import numpy as np
import pytest

from multirater.fuse import majority_vote, pattern_blocks, weighted_vote
from multirater.fuse.pattern_blocks import PatternBlocks
from multirater.fuse.pooled_vote import pooled_majority_vote, pooled_weighted_vote


@pytest.mark.parametrize(
    ("in_blocks", "at_once"),
    [(pooled_weighted_vote, weighted_vote), (pooled_majority_vote, majority_vote)],
)
@pytest.mark.parametrize("has_gold", [False, True])
def test_blocks_say_the_same_of_raters_as_all_patterns_at_once(
    in_blocks, at_once, has_gold, monkeypatch
):
    monkeypatch.setattr(pattern_blocks, "_AT_ONCE", 2000)
    random = np.random.default_rng(1)
    truth = random.integers(0, 3, size=400)
    said = np.where(
        random.random((400, 30)) < 0.3, random.integers(-1, 3, (400, 30)), truth[:, None]
    )
    gold = np.where(random.random(400) < 0.1, truth, -1)
    counts = random.integers(1, 100, size=400)
    rows = np.column_stack([said, gold]) if has_gold else said
    raters, classes = tuple(range(30)), ("a", "b", "c")
    blocks = PatternBlocks.of([(rows, counts)], 30, 3, has_gold=has_gold)
    assert len(blocks.blocks) > 3
    found = in_blocks(blocks, raters, classes)
    known = {"gold": gold} if has_gold else {}
    if at_once is weighted_vote:
        known["background"] = True
    whole = at_once(said.T, 3, raters=raters, classes=classes, weights=counts, **known)
    for name in ("cm", "counts", "prior", "weight"):
        assert np.array_equal(getattr(found, name), getattr(whole, name)), name
    assert found.n_ties == whole.n_ties
    report, expected = found.identifiability, whole.identifiability
    assert report.swap == expected.swap
    assert report.swap_drop == pytest.approx(expected.swap_drop, rel=1e-9)
    assert np.array_equal(report.dominance, expected.dominance)
    assert report.uncertain == expected.uncertain
    assert report.follows is None
