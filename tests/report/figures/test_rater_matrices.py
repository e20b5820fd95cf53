from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import confusion_matrix

from multirater import dataset_from_arrays, read_dataset
from multirater.errors import InputError
from multirater.fuse.rater_table import rater_table
from multirater.io.survey import survey
from multirater.report.figures.rater_matrices import count_matrices, read_matrices
from multirater.report.reference import choose_reference
from multirater.report.subject import Subject


def test_matrices_come_back_from_the_file_whatever_the_classes_are_called(tmp_path):
    counts = np.random.default_rng(0).integers(1, 50, (5, 2, 3, 3)).astype(float)
    classes = ["a,b", "c]d", "cm[x,y]"]
    rater_table(counts, ["007", "NA"], classes).to_csv(tmp_path / "raters.csv")
    found = read_matrices(tmp_path / "raters.csv", "somewhere")
    assert found.classes == tuple(classes)
    assert found.raters == ("007", "NA")
    total = counts.sum(0)
    np.testing.assert_allclose(found.cm, total / total.sum(-1, keepdims=True))


def test_another_table_is_refused(tmp_path):
    pd.DataFrame({"rater": ["a"], "score": [1]}).to_csv(tmp_path / "raters.csv", index=False)
    with pytest.raises(InputError, match="skill"):
        read_matrices(tmp_path / "raters.csv", "somewhere")


@pytest.mark.parametrize("with_truth", [True, False])
def test_answers_are_counted_against_truth_or_vote(with_truth):
    rng = np.random.default_rng(0)
    answers = rng.choice(list("xy"), size=(20, 3))
    columns = {
        "case": np.repeat(np.arange(20), 3),
        "rater": list("abc") * 20,
        "label": answers.ravel(),
    }
    if with_truth:
        columns["truth"] = np.repeat(answers[:, 0], 3)  # the first rater is always right
    data = read_dataset(pd.DataFrame(columns))
    reference = choose_reference(Subject("x", ("data set",), data), 2)
    found = count_matrices(survey(data), reference)
    majority = np.where((answers == "y").sum(1) > 1, "y", "x")
    true = answers[:, 0] if with_truth else majority
    expected = [confusion_matrix(true, answers[:, r], normalize="true") for r in range(3)]
    np.testing.assert_allclose(found.cm, expected)
    assert found.source == ("against the truth" if with_truth else "against the majority")


def test_a_rater_who_left_a_case_out_is_not_counted_there():
    labels = np.zeros((2, 2, 4, 4), dtype=np.int16)
    labels[0, 1] = -1
    labels[1, 1, 0] = 1
    data = dataset_from_arrays(labels, truths=labels[:, 0])
    reference = choose_reference(Subject("x", ("data set",), data), 2)
    found = count_matrices(survey(data), reference)
    np.testing.assert_allclose(found.cm[1, 0], [0.75, 0.25])
    assert np.isnan(found.cm[1, 1]).all()
