import numpy as np
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from multirater.fuse.rater_table import rater_table, rater_table_of_tasks


def counts_of(rng, n_cases, sensitivity, specificity, n_pixels=200):
    positives = rng.integers(20, n_pixels - 20, size=n_cases)
    hits = rng.binomial(positives, sensitivity)
    rejected = rng.binomial(n_pixels - positives, specificity)
    negatives = n_pixels - positives
    return np.stack(
        [
            np.stack([rejected, negatives - rejected], -1),
            np.stack([positives - hits, hits], -1),
        ],
        axis=1,
    ).astype(float)[:, None]


def test_figures_are_ratios_of_the_summed_counts(rng):
    counts = counts_of(rng, 30, 0.8, 0.9)
    table = rater_table(counts, ["anna"], ["no", "yes"])
    total = counts.sum(0)[0]
    assert table.loc["anna", "labels"] == 30
    assert np.isclose(table.loc["anna", "sensitivity"], total[1, 1] / total[1].sum())
    assert np.isclose(table.loc["anna", "specificity"], total[0, 0] / total[0].sum())
    assert np.isclose(table.loc["anna", "cm[yes,no]"], total[1, 0] / total[1].sum())
    both = table.loc["anna", ["sensitivity", "specificity"]].mean()
    assert np.isclose(table.loc["anna", "skill"], both)


def test_intervals_cover_the_truth_about_as_often_as_they_say(rng):
    covered = 0
    for _ in range(60):
        table = rater_table(counts_of(rng, 25, 0.8, 0.9), ["anna"], ["no", "yes"])
        covered += (
            table.loc["anna", "sensitivity_low"] <= 0.8 <= table.loc["anna", "sensitivity_high"]
        )
    assert covered >= binom.ppf(0.001, 60, 0.88)


def test_one_case_gives_no_interval(rng):
    table = rater_table(counts_of(rng, 1, 0.8, 0.9), ["anna"], ["no", "yes"])
    assert np.isnan(table.loc["anna", "skill_low"])
    assert 0 < table.loc["anna", "skill"] < 1


def test_a_rater_without_labels_is_unknown_not_zero(rng):
    counts = np.concatenate([counts_of(rng, 5, 0.8, 0.9), np.zeros((5, 1, 2, 2))], axis=1)
    table = rater_table(counts, ["anna", "bert"], ["no", "yes"])
    assert table.loc["bert", "labels"] == 0
    assert np.isnan(table.loc["bert", "skill"])
    assert np.isnan(table.loc["bert", "sensitivity"])


def test_three_classes_have_sensitivity_and_specificity_each():
    counts = np.zeros((2, 1, 3, 3))
    counts[:, 0] = [[8, 1, 1], [0, 5, 5], [2, 0, 8]]
    table = rater_table(counts, ["anna"], ["bg", "disc", "cup"])
    assert np.isclose(table.loc["anna", "sensitivity disc"], 0.5)
    assert np.isclose(table.loc["anna", "specificity disc"], 19 / 20)
    assert np.isclose(table.loc["anna", "specificity cup"], 14 / 20)


def test_tasks_get_beta_intervals():
    counts = np.array([[[9.0, 1.0], [0.0, 20.0]]])
    table = rater_table_of_tasks(counts, ["anna"], ["no", "yes"])
    assert table.loc["anna", "labels"] == 30
    assert np.isclose(table.loc["anna", "specificity"], 0.9)
    low, high = proportion_confint(9, 10, method="jeffreys")
    assert np.isclose(table.loc["anna", "specificity_low"], low)
    assert np.isclose(table.loc["anna", "specificity_high"], high)


def test_whoever_draws_too_much_is_seen_by_size():
    """Specificity hardly shows it where objects are small."""
    counts = np.array([[[[900.0, 60.0], [0.0, 40.0]], [[960.0, 0.0], [20.0, 20.0]]]] * 3)
    table = rater_table(counts, ["over", "under"], ["background", "cell"])
    assert table["size"].tolist() == [2.5, 0.5]
    assert table.loc["over", "specificity"] > 0.93


def test_matrices_of_many_classes_may_be_left_out_but_for_their_diagonals():
    counts = np.random.default_rng(0).random((2, 3, 3)) * 20
    whole = rater_table_of_tasks(counts, ["a", "b"], ["x", "y", "z"])
    short = rater_table_of_tasks(counts, ["a", "b"], ["x", "y", "z"], with_matrix=False)
    left_out = {name for name in whole if name not in short}
    assert {name.removesuffix("_low").removesuffix("_high") for name in left_out} == {
        f"cm[{t},{o}]" for t in "xyz" for o in "xyz" if t != o
    }
    assert short.equals(whole[list(short)])
