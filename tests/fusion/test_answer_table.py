import pandas as pd
import pytest

from multirater import fuse
from multirater.errors import InputError
from multirater.fusion.answer_table import fuse_table, is_answer_table


@pytest.fixture
def answers(tmp_path):
    frame = pd.DataFrame(
        [
            {"question": task, "worker": worker, "answer": truth if worker != "c" else "no"}
            for task, truth in enumerate(["yes", "no", "yes", "yes", "no"] * 4)
            for worker in "abc"
        ]
    )
    frame.to_csv(tmp_path / "answer.csv", index=False)
    return frame


def test_table_is_told_from_manifest(answers, tmp_path):
    assert is_answer_table(tmp_path / "answer.csv")
    (tmp_path / "other.csv").write_text("case,image,rater,label\n")
    assert not is_answer_table(tmp_path / "other.csv")
    assert not is_answer_table(tmp_path)


def test_files_hold_the_fusion(answers, tmp_path):
    fuse_table(tmp_path / "answer.csv", tmp_path / "out", method="dawid-skene")
    expected = fuse.dawid_skene(answers)
    labels = pd.read_csv(tmp_path / "out/labels.csv", index_col="question")
    assert (labels["label"] == expected.label).all()
    assert labels["P(yes)"].to_numpy() == pytest.approx(expected.probability["yes"].to_numpy())
    raters = pd.read_csv(tmp_path / "out/raters.csv", index_col="rater")
    assert raters.loc["c", "sensitivity"] < 0.1 < raters.loc["a", "sensitivity"]


def test_nothing_is_overwritten_unless_told(answers, tmp_path):
    fuse_table(tmp_path / "answer.csv", tmp_path / "out", method="mean")
    with pytest.raises(InputError, match="already exists"):
        fuse_table(tmp_path / "answer.csv", tmp_path / "out", method="mean")
    fuse_table(tmp_path / "answer.csv", tmp_path / "out", method="mean", overwrite=True)


def test_masks_only_methods_are_refused(answers, tmp_path):
    with pytest.raises(InputError, match="needs masks"):
        fuse_table(tmp_path / "answer.csv", tmp_path / "out", method="spatial-staple")


def test_spaces_are_stripped_and_nameless_answers_refused(tmp_path):
    (tmp_path / "a.csv").write_text("task,worker,label\n1,a,cat\n1,b, cat \n2,a, \n2,b,dog\n")
    done = fuse_table(tmp_path / "a.csv", tmp_path / "out", method="majority-vote")
    assert done.cases["label"].tolist() == ["cat", "dog"]
    (tmp_path / "b.csv").write_text("task,worker,label\n1,a,cat\n1,,dog\n")
    with pytest.raises(InputError, match="first line 3"):
        fuse_table(tmp_path / "b.csv", tmp_path / "out2", method="mean")


def test_semicolons_are_read_and_a_misspelt_column_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("task;worker;label\n1;a;cat\n1;b;cat\n2;a;dog\n")
    assert is_answer_table(tmp_path / "a.csv")
    done = fuse_table(tmp_path / "a.csv", tmp_path / "out", method="majority-vote")
    assert done.cases["label"].tolist() == ["cat", "dog"]
    (tmp_path / "b.csv").write_text("task,wroker,label\n1,a,cat\n")
    assert is_answer_table(tmp_path / "b.csv")
    with pytest.raises(InputError, match="rater: rater or worker or annotator"):
        fuse_table(tmp_path / "b.csv", tmp_path / "out2", method="mean")
