from dataclasses import replace

import numpy as np
import pytest

from multirater.fusion.answer_table import fuse_table
from multirater.fusion.company import alone_findings, judged_counts
from multirater.fusion.fused_dataset import fuse_dataset
from multirater.io import dataset_from_arrays

pytestmark = pytest.mark.filterwarnings("ignore::multirater.errors.MultiraterWarning")

FIGURES = ["size", "sensitivity", "specificity", "skill"]
DISJOINT = [[1, 0], [1, 0], [0, 1], [0, 1]]
ONE_RATER = [[1], [1], [1]]
THIRD_ALONE = [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
SHARED = [[1, 1], [1, 0], [0, 1], [1, 1]]


def counts_of(given):
    """Labels that agree with the truth, of those who gave any."""
    return np.asarray(given, dtype=float)[:, :, None, None] * np.eye(2)


def study(given, rng):
    given = np.asarray(given, dtype=bool)
    truth = rng.random((len(given), 1, 12, 12)) < 0.4
    labels = (truth ^ (rng.random((*given.shape, 12, 12)) < 0.1)).astype(int)
    labels[~given] = -1
    return dataset_from_arrays(labels)


@pytest.mark.parametrize("method", ["staple", "weighted-vote", "majority-vote"])
@pytest.mark.parametrize("given", [DISJOINT, ONE_RATER])
def test_pooled_raters_who_share_no_case_have_no_figures(given, method, tmp_path, rng):
    done = fuse_dataset(study(given, rng), tmp_path / "out", method=method, pooled=True)
    assert done.raters[FIGURES].isna().all(axis=None)
    assert done.raters["labels"].tolist() == np.sum(given, axis=0).tolist()
    assert [each.numbers for each in done.findings if each.code == "alone"] == [
        {"alone": len(given)}
    ]


def test_pooled_raters_who_share_a_case_are_judged_by_the_model(tmp_path, rng):
    some = fuse_dataset(study(THIRD_ALONE, rng), tmp_path / "a", method="staple", pooled=True)
    assert some.raters["skill"].isna().tolist() == [False, False, True]
    all_of_them = fuse_dataset(study(SHARED, rng), tmp_path / "b", method="staple", pooled=True)
    assert all_of_them.raters[FIGURES].notna().all(axis=None)
    assert not [each for each in all_of_them.findings if each.code == "alone"]


def test_what_an_expert_decided_judges_a_rater_who_is_alone(tmp_path, rng):
    truth = (rng.random((2, 12, 12)) < 0.4).astype(int)
    labels = truth[:, None] ^ (rng.random((2, 1, 12, 12)) < 0.1)
    data = dataset_from_arrays(labels, truths=truth)
    decided = [replace(case, gold=case.truth) for case in data]
    data = replace(data, cases=tuple(decided))
    done = fuse_dataset(data, tmp_path / "out", method="staple", pooled=True)
    hits = (labels[:, 0] == 1) & (truth == 1)
    assert done.raters["sensitivity"].item() == pytest.approx(hits.sum() / truth.sum())


def test_pooled_counts_of_a_rater_stay_where_any_case_is_shared():
    counts = counts_of(SHARED)
    nothing = [False] * len(SHARED)
    assert np.array_equal(judged_counts(counts, nothing, pooled=True), counts)
    alone = judged_counts(counts, nothing, pooled=False).sum((1, 2, 3)) == 0
    assert alone.tolist() == [False, True, True, False]


@pytest.mark.parametrize(
    ("given", "method", "helps"),
    [
        (SHARED, "staple", True),
        (SHARED, "dawid-skene", True),
        (SHARED, "majority-vote", False),
        (SHARED, "spatial-staple", False),
        (SHARED, "learned", False),
        (DISJOINT, "staple", False),
        (ONE_RATER, "staple", False),
        (THIRD_ALONE, "staple", False),
    ],
)
def test_pooling_is_recommended_only_where_it_helps(given, method, helps):
    nothing = [False] * len(given)
    (found,) = alone_findings(counts_of(given), nothing, method, pooled=False)
    assert ("--pooled" in found.text) == helps


def test_class_labels_of_raters_who_are_alone_have_no_figures(tmp_path):
    rows = [f"t{i},w{i % 3},{'ab'[i % 2]}" for i in range(30)]
    (tmp_path / "answers.csv").write_text("\n".join(["task,worker,label", *rows]))
    alone = fuse_table(tmp_path / "answers.csv", tmp_path / "alone", method="dawid-skene").raters
    assert alone[["sensitivity", "cm[a,a]", "skill"]].isna().all(axis=None)
    assert alone["labels"].tolist() == [10, 10, 10]
    shared = [*rows, *(f"t{i},w{(i + 1) % 2},{'ab'[i % 2]}" for i in (0, 1, 6, 7, 12))]
    (tmp_path / "answers.csv").write_text("\n".join(["task,worker,label", *shared]))
    found = fuse_table(tmp_path / "answers.csv", tmp_path / "shared", method="dawid-skene").raters
    assert found["sensitivity"].isna().tolist() == [False, False, True]


def test_class_labels_of_a_data_set_of_raters_who_are_alone_have_no_figures(tmp_path):
    labels = np.full((6, 2), -1)
    labels[:3, 0], labels[3:, 1] = [0, 1, 0], [1, 0, 1]
    done = fuse_dataset(dataset_from_arrays(labels), tmp_path / "out", method="majority-vote")
    assert done.raters["sensitivity"].isna().all()
