import numpy as np
import pandas as pd
import pytest

import multirater
from multirater import fuse, read_dataset
from multirater.errors import InputError
from multirater.fusion.answer_table import fuse_table, is_answer_table
from multirater.fusion.fused_dataset import fuse_dataset


def labels_of(done):
    return pd.read_csv(done.folder / "manifest.csv")["label"].tolist()


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
    fused = read_dataset(tmp_path / "out")
    assert fused.raters == ("dawid-skene",)
    names = [fused.classes.names[case.read_label("dawid-skene").array] for case in fused]
    assert names == expected.label.tolist()
    cases = pd.read_csv(tmp_path / "out/cases.csv", index_col="case")
    assert cases["yes"].to_numpy() == pytest.approx(expected.probability["yes"].to_numpy())
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
    assert labels_of(done) == ["cat", "dog"]
    (tmp_path / "b.csv").write_text("task,worker,label\n1,a,cat\n1,,dog\n")
    with pytest.raises(InputError, match="first line 3"):
        fuse_table(tmp_path / "b.csv", tmp_path / "out2", method="mean")


def test_semicolons_are_read_and_a_misspelt_column_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("task;worker;label\n1;a;cat\n1;b;cat\n2;a;dog\n")
    assert is_answer_table(tmp_path / "a.csv")
    done = fuse_table(tmp_path / "a.csv", tmp_path / "out", method="majority-vote")
    assert labels_of(done) == ["cat", "dog"]
    (tmp_path / "b.csv").write_text("task,wroker,label\n1,a,cat\n")
    assert is_answer_table(tmp_path / "b.csv")
    with pytest.raises(InputError, match="rater: rater or worker or annotator"):
        fuse_table(tmp_path / "b.csv", tmp_path / "out2", method="mean")


def test_the_way_a_table_is_read_does_not_change_what_is_written(tmp_path, rng):
    """Opened case by case, or at once: the same folder."""
    truth = rng.integers(0, 3, 40)
    said = np.where(rng.random((40, 4)) < 0.7, truth[:, None], rng.integers(0, 3, (40, 4)))
    lines = [f"{i},r{j},{said[i, j]},{truth[i]},train" for i in range(40) for j in range(4)]
    for name, header in (("tasks", "task,worker,answer"), ("cases", "case,rater,label")):
        table = "\n".join([f"{header},truth,split", *lines])
        (tmp_path / f"{name}.csv").write_text(table)
    at_once = fuse_table(tmp_path / "tasks.csv", tmp_path / "a")
    opened = fuse_dataset(read_dataset(tmp_path / "cases.csv"), tmp_path / "b")
    assert at_once.method == opened.method
    for name in ("manifest.csv", "cases.csv", "raters.csv", "classes.csv"):
        one, other = (pd.read_csv(done.folder / name) for done in (at_once, opened))
        pd.testing.assert_frame_equal(one, other, check_like=True, rtol=1e-6)
    told = [[(each.code, each.text) for each in done.findings] for done in (at_once, opened)]
    assert told[0] == told[1]


def test_every_verb_takes_a_table_of_answers(answers, tmp_path):
    asked = read_dataset(tmp_path / "answer.csv")
    assert asked.raters == ("a", "b", "c")
    assert multirater.info(asked).summary["cases"] == 20
    assert 0 < multirater.agreement(asked).coefficients["value"].iloc[0] < 1
    fuse_table(tmp_path / "answer.csv", tmp_path / "out", method="majority-vote")
    found = multirater.evaluate(tmp_path / "out", reference=tmp_path / "answer.csv")
    assert len(found.cases) == 20


@pytest.mark.parametrize("method", ["majority-vote", "weighted-vote", "dawid-skene"])
def test_a_task_that_nobody_answered_has_no_label(tmp_path, method):
    text = "task,worker,label\nt,a,nan\nt,b,nan\nu,a,y\nu,b,y\nq,a,\nq,b,\n"
    (tmp_path / "answers.csv").write_text(text)
    fuse_table(tmp_path / "answers.csv", tmp_path / "out", method=method)
    fused = read_dataset(tmp_path / "out")
    said = {case.name: case.read_labels(tuple(case.labels)).array for case in fused if case.labels}
    names = fused.classes.names
    assert {name: names[label.item()] for name, label in said.items()} == {"t": "nan", "u": "y"}
    assert sorted(names) == ["nan", "y"]
    assert {case.name for case in fused} == {"t", "u", "q"}


def test_hundreds_of_classes_are_fused_without_their_matrices_and_no_page_is_made(tmp_path):
    file = tmp_path / "answers.csv"
    said = "".join(f"t{k},w{r},L{k}\n" for k in range(300) for r in range(3))
    file.write_text("task,worker,label\n" + said)
    done = fuse_table(file, tmp_path / "out", method="majority-vote")
    assert labels_of(done) == [f"L{k}" for k in range(300)]
    assert done.raters["skill"].tolist() == [1.0, 1.0, 1.0]
    assert "cm[L1,L1]" in done.raters
    assert "cm[L1,L2]" not in done.raters
    with pytest.raises(InputError, match="300 classes are too many for a page"):
        multirater.write_report(file, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def written(folder, *lines):
    folder.mkdir(exist_ok=True)
    (folder / "a.csv").write_text("\n".join(["task,rater,label,truth", *lines, ""]))
    return folder / "a.csv"


def test_classes_beside_a_table_are_those_of_its_answers(tmp_path):
    path = written(tmp_path / "in", "1,a,0,cat", "1,b,-1,", "2,a,dog,bird", "2,b,1,")
    (tmp_path / "in/classes.csv").write_text("index,name\n0,cat\n1,dog\n2,bird\n")
    done = fuse_table(path, tmp_path / "out", method="majority-vote")
    assert labels_of(done) == ["cat", "dog"]
    fused = read_dataset(tmp_path / "out")
    assert fused.classes.names == ("cat", "dog", "bird")
    assert int(fused["2"].read_truth().array) == 2
    written(tmp_path / "in", "1,a,7,")
    with pytest.raises(InputError, match="unknown class '7'"):
        fuse_table(path, tmp_path / "other")


def test_a_truth_that_nobody_answered_is_a_class(tmp_path):
    path = written(tmp_path / "in", "1,a,cat,bird", "1,b,cat,bird", "2,a,dog,", "2,b,dog,")
    fuse_table(path, tmp_path / "out", method="majority-vote")
    assert read_dataset(tmp_path / "out").classes.names == ("cat", "dog", "bird")


def test_two_truths_of_a_task_are_refused(tmp_path):
    path = written(tmp_path / "in", "1,a,cat,cat", "1,b,cat,dog")
    with pytest.raises(InputError, match="task 1 has the truth cat and dog"):
        fuse_table(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_table_of_files_is_one_of_masks(tmp_path):
    assert is_answer_table(written(tmp_path / "in", "1,a,cat,"))
    assert not is_answer_table(written(tmp_path / "in", "1,a,masks/a.png,"))


def test_columns_of_parquet_go_by_small_letters(tmp_path):
    pytest.importorskip("pyarrow")
    table = {"Task": ["1", "1"], "Rater": ["a", "b"], "Label": ["x", "x"], "Truth": ["x", "x"]}
    pd.DataFrame(table).to_parquet(tmp_path / "a.parquet")
    fuse_table(tmp_path / "a.parquet", tmp_path / "out")
    assert read_dataset(tmp_path / "out")["1"].truth is not None
