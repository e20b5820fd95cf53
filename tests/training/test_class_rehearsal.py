"""What labels cost, rehearsed without truth."""

import numpy as np

from multirater.simulate import hammer_spammer_cm, simulate_class_labels
from multirater.training.class_answers import ClassAnswers
from multirater.training.class_raters import judge_by_looks
from multirater.training.class_rehearsal import believed, expected_loss
from multirater.training.near_cases import NearCases

N = 300


def items(seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, N)
    looks = np.eye(3)[truth] + rng.normal(0, 0.45, (N, 3))
    return truth, NearCases(looks, [str(place) for place in range(N)])


def everybody(labels):
    """Return labels (n_raters, n_cases) as a table."""
    case, rater = np.nonzero(np.ones(labels.T.shape))
    return ClassAnswers(case, rater, labels[rater, case].astype(np.int64))


def losses(labels, near, kinds):
    answers = everybody(labels)
    judged = judge_by_looks(answers, near, len(labels), 3)
    world = believed(answers, judged)
    return world, [
        expected_loss(world, answers, near, judged.matrices if kind == "matrices" else kind)
        for kind in kinds
    ]


def test_right_labels_cost_nothing():
    truth, near = items()
    _, found = losses(np.stack([truth] * 3), near, ("vote", "labels", "fusion", "matrices"))
    assert np.abs(found).max() < 0.02


def test_a_vote_of_bad_raters_costs_more_than_matrices_that_find_the_good_one():
    truth, near = items()
    cms = np.stack([hammer_spammer_cm(3, p, seed=s) for s, p in enumerate((0.95, 0.35, 0.35))])
    _, (vote, matrices) = losses(
        simulate_class_labels(truth, cms, seed=0), near, ("vote", "matrices")
    )
    assert vote > 0.02 > matrices


def test_raters_who_err_on_some_cases_only_are_judged_by_what_they_dispute():
    truth, near = items()
    rng = np.random.default_rng(0)
    hard = rng.random(N) < 0.4
    errs = hard & (rng.random((5, N)) < 0.6)
    labels = np.where(errs, (truth + rng.integers(1, 3, (5, N))) % 3, truth)
    world, _ = losses(labels, near, ())
    assert world.in_dispute is not None
    skill = [
        np.diagonal(each, axis1=1, axis2=2).mean() for each in (world.matrices, world.in_dispute)
    ]
    assert skill[1] < skill[0] - 0.15
    assert world.agreed[~hard].all()
