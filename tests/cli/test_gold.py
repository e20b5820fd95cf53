import json

import numpy as np
import pytest

from multirater import dataset_from_arrays, write_dataset


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """A study of two cases, and a gold label of the second."""
    labels = np.zeros((2, 3, 8, 8), dtype=np.int16)
    labels[:, :, 2:4, 2:4] = 1
    labels[:, 0, 2:6, 2:6] = 1
    write_dataset(dataset_from_arrays(labels, cases=["a", "b"]), tmp_path / "study")
    gold = dataset_from_arrays(labels[1:, :1], cases=["b"], raters=["eva"])
    write_dataset(gold, tmp_path / "gold")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_fuse_and_report_take_gold_labels(run, folders):
    status, _, said = run("fuse", "study", "--gold", "gold", "-o", "fused", "-j", "1")
    assert status == 0
    assert "gold labels of 1 case" in said
    assert json.loads((folders / "fused" / "fusion.json").read_text())["gold"] == 1
    status, _, _ = run("report", "study", "fused", "--gold", "gold", "-o", "r.html", "-j", "1")
    assert status == 0
    assert "An expert decided 1 case" in (folders / "r.html").read_text()


@pytest.mark.parametrize("verb", ["fuse", "report", "train"])
def test_what_is_no_gold_label_is_refused_and_nothing_is_written(run, folders, verb):
    out = "out.html" if verb == "report" else "out"
    for gold, words in (("nowhere", "does not exist"), ("study", "gold labels of 3 raters")):
        status, _, errors = run(verb, "study", "--gold", gold, "-o", out)
        assert status == 2
        assert words in errors
    assert not (folders / out).exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("study", "--adjudicate", "study"), "holds no decisions"),
        (("study", "gold", "--adjudicate", "g"), "one data set alone"),
        (("study", "--gold", "gold", "--adjudicate", "g"), "one data set alone"),
        (("nowhere", "--adjudicate", "g"), "does not exist"),
        (("gold", "--adjudicate", "g"), "no case is disputed"),
    ],
)
def test_what_cannot_be_adjudicated_is_said(run, folders, words, said):
    status, _, errors = run("view", *words, "-j", "1")
    assert status == 2
    assert said in errors
    assert not (folders / "g").exists()


def table_of(path, *lines):
    path.write_text("\n".join(["task,worker,label", *lines]) + "\n")


def test_gold_labels_that_are_read_are_not_written_over(run, folders):
    table_of(folders / "expert.csv", "t0,eva,no")
    answers = ("t0,a,yes", "t0,b,yes", "t0,c,no", "t1,a,no", "t1,b,no", "t1,c,no")
    table_of(folders / "answers.csv", *answers)
    (folders / "study.csv").write_text("case,rater,label\n" + "\n".join(answers) + "\n")
    assert run("fuse", "expert.csv", "-o", "eva")[0] == 0
    before = (folders / "eva" / "manifest.csv").read_bytes()
    for study in ("answers.csv", "study.csv"):
        for gold in ("eva", "eva/manifest.csv"):
            status, _, errors = run("fuse", study, "--gold", gold, "-o", "eva", "--overwrite")
            assert (status, "Traceback" in errors) == (2, False)
            assert (folders / "eva" / "manifest.csv").read_bytes() == before
    gold = folders / "gold.csv"
    gold.write_text("case,rater,label\nt0,eva,yes\n")
    status, _, errors = run(
        "next", "study.csv", "--gold", "gold.csv", "-o", "gold.csv", "--overwrite"
    )
    assert (status, "is what is read" in errors) == (2, True)
    assert gold.read_text().startswith("case,rater,label")


def test_gold_labels_of_a_table_are_of_one_rater(run, folders):
    table_of(folders / "answers.csv", "t0,a,yes", "t0,b,yes", "t0,c,no")
    table_of(folders / "two.csv", "t0,eva,yes", "t0,max,yes")
    status, _, errors = run("fuse", "answers.csv", "--gold", "two.csv", "-o", "out")
    assert (status, "gold labels of 2 raters" in errors) == (2, True)


def test_gold_labels_of_cases_that_nobody_labelled_are_told(run, folders):
    rows = ["case,image,rater,label", "t0,,a,yes", "t0,,b,yes", "t0,,c,no", "t1,,,"]
    (folders / "manifest.csv").write_text("\n".join(rows) + "\n")
    table_of(folders / "eva.csv", "t0,eva,no", "t1,eva,yes")
    status, _, said = run("fuse", "manifest.csv", "--gold", "eva.csv", "-o", "out")
    assert status == 0
    assert "1 case without any label of a rater are left out: t1" in said.replace("\n", " ")
    assert json.loads((folders / "out" / "fusion.json").read_text())["gold"] == 1
