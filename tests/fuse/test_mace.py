import numpy as np
import pandas as pd
import pytest

from multirater import fuse
from multirater.fuse.mace import decompose

pytestmark = pytest.mark.filterwarnings(
    "ignore::multirater.errors.MultiraterWarning", "ignore::DeprecationWarning"
)


def _spammers(seed, n_items=400):
    """Four raters who know with probability 0.9, 0.7, 0.4, 0.1 and else follow a habit."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n_items)
    competence = np.array([0.9, 0.7, 0.4, 0.1])
    habits = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0], [0.1, 0.8, 0.1], [0.0, 0.0, 1.0]])
    spam = np.stack([rng.choice(3, n_items, p=habit) for habit in habits])
    labels = np.where(rng.random(spam.shape) < competence[:, None], truth, spam)
    return truth, labels, competence, habits


def test_competence_and_habit_are_recovered():
    _, labels, competence, habits = _spammers(0, n_items=20_000)
    found, spam = decompose(fuse.mace(labels).cm)
    assert found == pytest.approx(competence, abs=0.03)
    assert np.abs(spam[2:] - habits[2:]).max() < 0.03


def test_decompose_undoes_the_matrices():
    competence, habit = 0.7, np.array([0.2, 0.5, 0.3])
    cm = competence * np.eye(3) + (1 - competence) * habit
    found, spam = decompose(cm[None])
    assert found == pytest.approx([competence])
    assert spam[0] == pytest.approx(habit)


def test_no_worse_than_crowdkit_and_than_voting():
    crowdkit = pytest.importorskip("crowdkit.aggregation")
    truth, labels, _, _ = _spammers(1)
    rater, task = np.indices(labels.shape).reshape(2, -1)
    table = pd.DataFrame({"task": task, "worker": rater, "label": labels.ravel()})
    theirs = crowdkit.MACE(n_restarts=2, random_state=0).fit_predict(table).sort_index()
    ours = fuse.mace(labels).label
    right = (ours == truth).mean()
    assert right >= (theirs.to_numpy() == truth).mean() - 0.01
    assert right > (fuse.majority_vote(labels).label == truth).mean()
