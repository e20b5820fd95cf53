"""The long table."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multirater.errors import InputError
from multirater.io.tables.manifest import COLUMNS, Row, read_rows, write_rows


def read(path, text):
    path.write_text(text, encoding="utf-8")
    faults = []
    rows = read_rows(path, faults)
    assert not faults
    return rows


@pytest.fixture
def path(tmp_path):
    return tmp_path / "manifest.csv"


def test_columns_are_those_others_rely_on():
    assert COLUMNS[:6] == ("case", "image", "rater", "label", "truth", "split")


def test_columns_in_any_order_with_unknown_ones_between(path):
    text = "label,Case,age,RATER\na.png,p1,63,jo\n"
    assert read(path, text) == [Row("p1", rater="jo", label="a.png")]


@pytest.mark.parametrize("name", ["rater", "worker", "annotator", "Annotator "])
def test_names_of_the_rater_column(path, name):
    assert read(path, f"case,{name},label\np1,jo,cat\n") == [Row("p1", rater="jo", label="cat")]


def test_semicolons_and_quoted_modalities(path):
    text = 'case;image;rater;label\r\np1;"a.nii.gz;b.nii.gz";jo;m.nii.gz\r\n'
    assert read(path, text)[0].image == "a.nii.gz;b.nii.gz"


def test_unquoted_modalities_in_a_semicolon_table_are_a_fault(path):
    path.write_text("case;image;rater;label\np1;a.nii.gz;b.nii.gz;jo;m.nii.gz\n")
    faults = []
    assert read_rows(path, faults) == []
    assert "line 2" in faults[0].found
    assert "quote" in faults[0].fix


def test_cases_alone_need_no_columns_for_labels(path):
    assert read(path, "case,image\np1,a.png\n") == [Row("p1", "a.png")]


@pytest.mark.parametrize(
    ("header", "missing"),
    [
        ("name,image,rater,label", "case"),
        ("case,label", "rater"),
        ("case,rater", "label"),
        ("case", "rater, label"),
    ],
)
def test_a_missing_column_is_named(path, header, missing):
    path.write_text(f"{header}\n")
    with pytest.raises(InputError, match=f"no {missing}") as caught:
        read_rows(path, [])
    assert "case, image, rater, label" in caught.value.faults[0].expected


cells = st.text(st.characters(exclude_categories=["Cs"])).map(str.strip)
rows = st.builds(Row, st.text("abc", min_size=1), cells, cells, cells, cells, cells, cells)


@given(st.lists(rows, max_size=5))
def test_what_is_written_is_read_again(tmp_path_factory, written):
    path = tmp_path_factory.mktemp("table") / "manifest.csv"
    write_rows(written, path)
    faults = []
    assert read_rows(path, faults) == written
    assert not faults


def test_the_simulated_column_is_written_only_when_there_is_something_to_say(path):
    write_rows([Row("p1")], path)
    with path.open(newline="") as stream:
        assert next(csv.reader(stream)) == list(COLUMNS[:6])
    write_rows([Row("p1", simulated='{"kind": "over"}')], path, overwrite=True)
    with path.open(newline="") as stream:
        assert next(csv.reader(stream)) == list(COLUMNS[:7])


def test_nothing_is_overwritten_unasked(path):
    path.write_text("mine")
    with pytest.raises(InputError, match="already exists"):
        write_rows([Row("p1")], path)
    assert path.read_text() == "mine"


def test_a_misspelt_column_is_named(tmp_path):
    path = tmp_path / "manifest.csv"
    path.write_text("case,image,rater,lable\na,a.png,anna,b.png\n")
    with pytest.raises(InputError, match="rename 'lable' to 'label'"):
        read_rows(path, [])


def test_columns_of_ones_own_are_passed_by(tmp_path):
    path = tmp_path / "manifest.csv"
    path.write_text("case,rater,label,age,scanner\na,anna,b.png,61,siemens\n")
    assert read_rows(path, [])[0].rater == "anna"


def fault_of(path, header):
    path.write_text(f"{header}\n")
    with pytest.raises(InputError) as caught:
        read_rows(path, [])
    (fault,) = caught.value.faults
    return fault


def test_a_column_of_another_name_is_named_beside_the_missing_one(path):
    fault = fault_of(path, "case,image,rater,mask")
    assert "no label; not known: mask" in fault.found
    assert "rename 'mask' to 'label'" in fault.fix
    assert "case, image, rater, label" in fault.expected


def test_all_misspelt_columns_are_named(path):
    fault = fault_of(path, "case,image,raters,lable,truht")
    for words in ("'raters' to 'rater'", "'lable' to 'label'", "'truht' to 'truth'"):
        assert words in fault.fix


@pytest.mark.parametrize("header", ["task,worker,label", "question,rater,answer"])
def test_a_table_of_answers_is_read_under_its_own_names(path, header):
    path.write_text(f"{header}\n1,anna,cat\n")
    assert read_rows(path, []) == [Row("1", rater="anna", label="cat")]


def test_our_name_of_a_column_comes_before_others(path):
    path.write_text("item,case,rater,label,answer\n7,p1,anna,cat,meow\n")
    assert read_rows(path, []) == [Row("p1", rater="anna", label="cat")]
