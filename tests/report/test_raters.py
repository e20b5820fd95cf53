import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import confusion_matrix

from multirater import dataset_from_arrays, read_dataset
from multirater.report.contents import gather_subject
from multirater.report.subject import Subject


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
    found = gather_subject(Subject("x", ("data set",), data))
    majority = np.where((answers == "y").sum(1) > 1, "y", "x")
    true = answers[:, 0] if with_truth else majority
    expected = [confusion_matrix(true, answers[:, r], normalize="true") for r in range(3)]
    np.testing.assert_allclose([rater.cm for rater in found.raters], expected)
    assert found.reference.name == ("the truth" if with_truth else "the majority")


def test_a_rater_who_left_a_case_out_is_not_counted_there():
    labels = np.zeros((2, 2, 4, 4), dtype=np.int16)
    labels[0, 1] = -1
    labels[1, 1, 0] = 1
    data = dataset_from_arrays(labels, truths=labels[:, 0])
    found = gather_subject(Subject("x", ("data set",), data))
    np.testing.assert_allclose(found.raters[1].cm[0], [0.75, 0.25])
    assert np.isnan(found.raters[1].cm[1]).all()
