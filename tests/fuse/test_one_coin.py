import numpy as np
import pytest

from multirater import fuse
from multirater.fuse.one_coin import one_coin_cm

pytestmark = pytest.mark.filterwarnings(
    "ignore::multirater.errors.MultiraterWarning", "ignore::DeprecationWarning"
)


def test_matrix_of_a_skill():
    assert np.allclose(one_coin_cm(np.array([0.8]), 3)[0], np.full((3, 3), 0.1) + 0.7 * np.eye(3))


def test_every_matrix_has_one_number(plant):
    cm = fuse.one_coin(plant(0, skill=(0.4, 0.9))[1]).cm
    for matrix in cm:
        assert np.allclose(matrix, one_coin_cm(np.array([matrix[0, 0]]), 3)[0])


def test_skills_of_planted_raters_are_recovered():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 4, 5000)
    skill = np.array([0.9, 0.8, 0.6, 0.45])
    wrong = (truth + rng.integers(1, 4, (4, 5000))) % 4
    labels = np.where(rng.random((4, 5000)) < skill[:, None], truth, wrong)
    assert fuse.one_coin(labels).skill == pytest.approx(skill, abs=0.03)


@pytest.mark.parametrize("seed", range(3))
def test_equal_steps_give_crowdkits_labels(seed, plant, long_table):
    crowdkit = pytest.importorskip("crowdkit.aggregation")
    table = long_table(plant(seed, n_raters=8, n_items=100, missing=0.4)[1])
    model = crowdkit.OneCoinDawidSkene(n_iter=10, tol=-np.inf).fit(table)
    result = fuse.one_coin(table, dirichlet=0, max_iter=10, tol=-1.0)
    theirs = model.probas_.reindex(result.label.index)[list(result.classes)]
    assert np.allclose(result.probability.to_numpy(), theirs.to_numpy(), rtol=0, atol=1e-6)


def test_safer_than_full_matrices_with_few_labels_per_rater():
    """Thirty raters with ten answers each, eight classes: a matrix each is too much to learn."""
    rng = np.random.default_rng(2)
    hits = {fuse.one_coin: 0.0, fuse.dawid_skene: 0.0}
    for _ in range(5):
        truth = rng.integers(0, 8, 100)
        labels = np.full((30, 100), -1)
        skill = rng.uniform(0.3, 0.95, 30)
        for task in range(100):
            who = rng.choice(30, 3, replace=False)
            right = rng.random(3) < skill[who]
            labels[who, task] = np.where(right, truth[task], rng.integers(0, 8, 3))
        for method in hits:
            hits[method] += (method(labels, 8).label == truth).mean() / 5
    assert hits[fuse.one_coin] > hits[fuse.dawid_skene]
