"""What can be wrong with a table, before any image is read."""

from pathlib import Path

import pytest

from multirater.io.tables.manifest import Row
from multirater.io.tables.table_check import Files, kind_of_labels, table_faults


@pytest.fixture
def root(tmp_path):
    for name in ("a.png", "b.png", "m1.png", "m2.png", "with;in.png", "sub/c.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def faults_of(root, *rows):
    return table_faults(list(rows), Files(root), "masks")[1]


def test_files_are_relative_absolute_or_with_backslashes(root):
    files = Files(root)
    assert files.path("a.png") == root / "a.png"
    assert files.path(str(root / "a.png")) == root / "a.png"
    assert files.path("sub\\c.png") == root / "sub/c.png"
    assert files.exists("sub\\c.png")
    assert not files.exists("sub\\d.png")
    assert not files.exists("x" * 5000)


def test_modalities_are_cut_unless_the_whole_is_a_file(root):
    files = Files(root)
    assert files.images("a.png; b.png;") == (root / "a.png", root / "b.png")
    assert files.images("with;in.png") == (root / "with;in.png",)
    assert files.images("") == ()


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (["cat", "dog"], "classes"),
        (["cat", "gone.png"], "masks"),
        (["0", "1"], "classes"),
        (["sub"], "classes"),
        (["a long answer " * 40], "classes"),
        (["m1.png"], "masks"),
        (["./sub"], "masks"),
        ([], "masks"),
    ],
)
def test_labels_are_masks_when_one_is_a_file_or_called_like_one(root, labels, kind):
    rows = [Row("p1", "a.png", f"r{i}", label) for i, label in enumerate(labels)]
    assert kind_of_labels(rows, Files(root)) == kind
    truths = [Row("p1", "a.png", truth=label) for label in labels]
    assert kind_of_labels(truths, Files(root)) == kind


def test_a_table_in_order(root):
    rows = [
        Row("p1", "a.png", "jo", "m1.png", split="train"),
        Row("p1", "a.png", "kim"),
        Row("p1", rater="lee", label="m2.png"),
        Row("p2", "b.png;a.png"),
    ]
    in_order, faults = table_faults(
        [*rows, Row("p3", rater="kim", label="m1.png")], Files(root), "masks"
    )
    assert faults == []
    assert in_order[:4] == rows


@pytest.mark.parametrize(
    ("rows", "found", "case", "rater"),
    [
        ([Row("p1", "x.png")], "file does not exist", "p1", ""),
        ([Row("p1", "a.png;x.png")], "file does not exist", "p1", ""),
        ([Row("p1", "a.png", "jo", "x.png"), Row("p2", "b.png", "jo", "m1.png")],
         "file does not exist", "p1", "jo"),
        ([Row("p1", "a.png", truth="x.png")], "file does not exist", "p1", "(truth)"),
        ([Row("p1", "a.png", "jo", "m1.png")] * 2, "two rows for one case and rater", "p1", "jo"),
        ([Row("p1", "a.png")] * 2, "two rows for one case", "p1", ""),
        ([Row("p1", "a.png", "jo", "m1.png"), Row("p1", "b.png", "kim", "m2.png")],
         "image is both a.png and b.png", "p1", ""),
        ([Row("p1", "a.png", "jo", "m1.png", "m1.png"),
          Row("p1", "a.png", "kim", "m2.png", "m2.png")],
         "truth is both m1.png and m2.png", "p1", ""),
        ([Row("p1", "a.png", "jo", "m1.png", split="train"),
          Row("p1", "a.png", "kim", "m2.png", split="test")],
         "split is both train and test", "p1", ""),
        ([Row("p1", "a.png", "", "m1.png")], "a label without a rater (m1.png)", "p1", ""),
        ([Row("", "a.png", "jo", "m1.png")], "a row without a case name", "", "jo"),
        ([Row("p1", "a.png", "jo", "m1.png"), Row("p1", "a.png", "kim")],
         "rater has no labels", "", "kim"),
        ([Row("p1", "a.png"), Row("p2")], "case has neither image nor label", "p2", ""),
    ],
)  # fmt: skip
def test_faults_say_where_what_and_what_to_do(root, rows, found, case, rater):
    (fault,) = faults_of(root, *rows)
    assert found in fault.found
    assert (fault.case, fault.rater) == (case, rater)
    assert fault.expected
    assert fault.fix


def test_what_case_rows_leave_empty_is_no_contradiction(root):
    rows = [
        Row("p1", "a.png", "jo", "m1.png", "", ""),
        Row("p1", "", "kim", "m2.png", "m1.png", "train"),
        Row("p1", "a.png", "lee", "m2.png", "m1.png", ""),
    ]
    assert faults_of(root, *rows) == []
    changed = Row("p1", "a.png", "max", "m2.png", "m2.png")
    assert [fault.found for fault in faults_of(root, *rows, changed)] == [
        "truth is both m1.png and m2.png"
    ]


def test_each_missing_file_is_told_once_and_its_cell_emptied(root):
    rows = [
        Row("p1", "x.png", "jo", "m1.png"),
        Row("p1", "x.png", "kim", "y.png"),
        Row("p2", "a.png", "kim", "m2.png"),
    ]
    in_order, faults = table_faults(rows, Files(root), "masks")
    assert [Path(fault.file).name for fault in faults] == ["x.png", "y.png"]
    assert in_order[0] == Row("p1", "", "jo", "m1.png")
    assert in_order[1] == Row("p1", "", "kim", "")
