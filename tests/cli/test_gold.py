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
