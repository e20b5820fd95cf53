import numpy as np

from multirater import fuse
from multirater.fuse.answers import answers_from_rows
from multirater.fuse.expectation import posterior_of
from multirater.fuse.left_out import alike_without, left_out_vote
from multirater.types import MISSING


def test_the_vote_without_a_rater_is_the_vote_of_the_others():
    rng = np.random.default_rng(0)
    rows = rng.integers(-1, 3, (60, 4))
    found = left_out_vote(rows, np.ones(4), 3)
    for rater in range(4):
        others = np.delete(rows, rater, axis=1)
        expected = fuse.majority_vote(others.T, 3).label
        np.testing.assert_array_equal(found[:, rater], expected)


def test_nobody_else_is_nothing():
    assert left_out_vote(np.array([[1, -1]]), np.ones(2), 2).tolist() == [[MISSING, 1]]


def test_answers_without_one_follow_from_the_others(plant):
    _, labels = plant(3, n_raters=4, n_items=80, skill=(0.5, 0.9), missing=0.2)
    result = fuse.dawid_skene(labels, 3)
    answers = answers_from_rows(labels.T.astype(np.int64), np.ones(80), 3)
    right, total = alike_without(answers, posterior_of(answers, result.cm, result.prior), result.cm)
    for rater in range(4):
        others = labels.T.astype(np.int64).copy()
        others[:, rater] = MISSING
        alone = answers_from_rows(others, np.ones(80), 3)
        likeliest = posterior_of(alone, result.cm, result.prior).argmax(1)
        said = labels[rater].astype(np.int64)
        together = ((others == said[:, None]) | (others == MISSING)).all(1)
        judged = (said != MISSING) & (others != MISSING).any(1)
        assert total[rater] == judged.sum()
        assert right[rater] == ((likeliest == said) | together)[judged].sum()
