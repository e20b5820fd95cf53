import numpy as np
import pytest

import next_labels
import next_labels_report


def study(seed=0):
    """One who is always right, and three who guess."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 3, 60)
    labels = np.stack([truth, *(random.integers(0, 3, 60) for _ in range(3))], axis=1)
    return next_labels.class_replay(labels, truth, 3)


@pytest.mark.parametrize("name", ["random", "even", "multirater"])
def test_a_replay_spends_the_budget_and_shows_no_label_that_was_not_asked_for(name):
    curve = next_labels.replay(study(), next_labels.STRATEGIES[name], 0, np.inf)
    assert curve[0][0] == 30
    assert curve[-1][0] == 120
    assert all(0 <= score <= 1 for _, score, _ in curve)


def test_strategies_begin_with_the_same_labels():
    first = {
        name: next_labels.replay(study(), strategy, 3, np.inf)[0]
        for name, strategy in next_labels.STRATEGIES.items()
        if name != "ActiveLab"
    }
    assert len(set(first.values())) == 1


def test_labels_needed_lie_between_points_or_are_never_enough():
    curve = [(10, 0.5, 0.0), (20, 0.7, 0.0)]
    assert next_labels_report.needed(curve, 0.6) == pytest.approx(15)
    assert next_labels_report.needed(curve, 0.4) == 10
    assert next_labels_report.needed(curve, 0.9) == np.inf
