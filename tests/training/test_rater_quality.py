import numpy as np
import pytest

from multirater.fuse.quality import quality_of_drawings
from multirater.training.rater_quality import class_quality_in_run, judged_case, quality_in_run


def _study(n_cases=12, n_raters=4, side=16, seed=0):
    """Square objects; each rater draws them larger than the one before."""
    rng = np.random.default_rng(seed)
    labels = np.zeros((n_cases, n_raters, side, side), dtype=np.int16)
    for case in labels:
        row, column = rng.integers(3, side - 8, 2)
        for grow, own in enumerate(case):
            own[row - grow // 2 : row + 5 + grow, column : column + 5 + grow] = 1
    return labels


def test_where_others_labelled_a_case_they_judge_as_everywhere():
    labels = _study()
    raters = list("abcd")
    # A network that repeats one rater has no say.
    cases = [judged_case(case, None, (), case[3]) for case in labels]
    found = quality_in_run(cases, raters, 2, ())
    known = [(case.labels, case.counts) for case in cases]
    expected = quality_of_drawings(known, raters, 2)
    np.testing.assert_array_equal(found.to_numpy(dtype=float), expected.to_numpy(dtype=float))


def test_with_one_label_per_case_the_heads_of_the_others_judge():
    """Heads that know each rater exactly: quality is as if all had labelled every case."""
    labels = _study()
    cases, alone = [], []
    for number, case in enumerate(labels):
        own = np.full_like(case, -1)
        own[number % 4] = case[number % 4]
        cases.append(judged_case(own, case, range(4), None))
        alone.append(judged_case(own, None, (), None))
    found = quality_in_run(cases, list("abcd"), 2, (0.25,) * 4)
    assert found.loc[["b", "c"], "quality"].min() > found.loc[["a", "d"], "quality"].max()
    assert quality_in_run(alone, list("abcd"), 2, ())["quality"].isna().all()


def test_the_rater_s_own_head_has_no_say():
    labels = _study(n_cases=3, n_raters=3)
    cases = []
    for case in labels:
        own = np.full_like(case, -1)
        own[2] = case[2]
        heads = case.copy()
        heads[2] = 1 - case[2]  # what is expected of the judged rater does not matter
        cases.append(judged_case(own, heads, range(3), None))
    found = quality_in_run(cases, list("abc"), 2, (0.05, 0.05, 0.9))
    # Of the two others, who are nested and level, the smaller decides by the tie.
    scores = [2 * (case[0] & case[2]).sum() / (case[0].sum() + case[2].sum()) for case in labels]
    assert found.loc["c", "quality"] == pytest.approx(np.mean(scores))


def test_a_network_without_heads_judges_what_it_has_not_seen():
    labels = _study(n_cases=8, n_raters=3)
    cases = []
    for number, case in enumerate(labels):
        own = np.full_like(case, -1)
        own[number % 2] = case[number % 2]
        cases.append(judged_case(own, None, (), case[0] if number < 4 else None))
    found = quality_in_run(cases, list("abc"), 2, ())
    assert found.loc["a", "quality"] == 1.0
    assert found.loc["b", "quality"] < 1.0
    assert np.isnan(found.loc["c", "quality"])


def test_class_labels_with_company_are_judged_as_everywhere():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 300)
    right = np.array([0.95, 0.8, 0.5])
    said = np.where(rng.random((300, 3)) < right, truth[:, None], rng.integers(0, 3, (300, 3)))
    wrong = (truth + 1) % 3  # the network has no say
    found = class_quality_in_run(said, wrong, [False] * 300, None, list("abc"))
    assert found["quality"].sort_values(ascending=False).index.tolist() == list("abc")


def test_class_labels_alone_are_judged_by_matrices_or_by_cases_held_out():
    labels = np.full((8, 2), -1)
    labels[:4, 0], labels[4:, 1] = [0, 1, 0, 1], [0, 0, 1, 1]
    answer = np.array([0, 1, 1, 0, 1, 1, 1, 1])
    held_out = [True, True, False, False, True, True, True, False]
    found = class_quality_in_run(labels, answer, held_out, None, ["a", "b"])
    assert found["quality"].tolist() == [1.0, pytest.approx(1 / 3)]
    own = np.array([[[3.0, 1.0], [0.0, 4.0]], [[1.0, 1.0], [1.0, 1.0]]])
    found = class_quality_in_run(labels, answer, held_out, own, ["a", "b"])
    assert found["quality"].tolist() == [7 / 8, 0.5]
