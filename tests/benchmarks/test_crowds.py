import numpy as np
import pandas as pd
import pytest

import crowds


@pytest.fixture
def folder(tmp_path):
    """A crowd of three raters, two of them good."""
    random = np.random.default_rng(0)
    truth = random.integers(0, 2, 300)
    right = random.random((3, 300)) < np.array([[0.95], [0.9], [0.6]])
    labels = np.where(right, truth, 1 - truth)
    rows = [
        (task, f"w{who}", label) for who, of in enumerate(labels) for task, label in enumerate(of)
    ]
    answers = pd.DataFrame(rows, columns=["question", "worker", "answer"])
    answers.to_csv(tmp_path / "answer.csv", index=False)
    known = pd.DataFrame({"question": range(200), "truth": truth[:200]})
    known.to_csv(tmp_path / "truth.csv", index=False)
    return tmp_path


def test_counts_are_those_of_known_questions(folder):
    answers, truth = crowds.read_crowd(folder)
    counts = crowds.true_counts(answers, truth, ["w2", "w0", "w1"], [0, 1])
    assert counts.sum((1, 2)).tolist() == [200, 200, 200]
    of_w0 = answers[(answers["worker"] == "w0") & (answers["task"] < 200)]
    joined = of_w0.set_index("task")["label"]
    assert counts[1, 1, 0] == ((truth == 1) & (joined == 0)).sum()


def test_rows_count_by_their_answers():
    counts = np.array([[[9.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [10.0, 20.0]]])
    cm = np.array([[[0.9, 0.1], [0.3, 0.7]], [[0.5, 0.5], [1.0, 0.0]]])
    assert crowds.matrix_error(counts, cm) == pytest.approx(0.75 * 2 * (2 / 3) ** 2)


def test_every_method_is_compared(folder):
    pytest.importorskip("crowdkit")
    found = crowds.compare(folder)
    assert list(found.index) == list(crowds.METHODS)
    assert (found["accuracy"].astype(float) > 0.8).all()
    assert (found["CM error"].astype(float) < 0.05).all()
