"""Names, colours and file values of classes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multirater.errors import InputError
from multirater.io.tables.classes import read_classes, write_classes
from multirater.types import Classes, LabelClass


@pytest.fixture
def path(tmp_path):
    return tmp_path / "classes.csv"


def read(path, text):
    path.write_text(text, encoding="utf-8")
    return read_classes(path)


def test_names_colours_values_and_the_value_of_unlabelled_pixels(path):
    text = (
        "index,name,colour,value\n"
        "0,background,#000000,255\n2,cup,#5D3A9B,0\n1,disc,e66100,128\n-1,unlabelled,,64\n"
    )
    assert read(path, text) == Classes(
        (
            LabelClass("background", "#000000", 255),
            LabelClass("disc", "#e66100", 128),
            LabelClass("cup", "#5d3a9b", 0),
        ),
        64,
    )


def test_colours_values_and_names_are_optional(path):
    assert read(path, "index\n0\n1\n").names == ("class 0", "class 1")
    assert read(path, "Index;Name;Color\r\n0;a;\r\n\r\n1;b;#ffffff\r\n\r\n").items == (
        LabelClass("a"),
        LabelClass("b", "#ffffff"),
    )


def test_several_values_and_those_of_the_truth(path):
    text = (
        "index,name,value,truth_value\n"
        "0,background,0,1\n1,vessel,255 1;2,0\n-1,unlabelled,128 129,\n"
    )
    classes = read(path, text)
    vessel = LabelClass("vessel", "", 255, (1, 2), (0,))
    assert classes == Classes((LabelClass("background", "", 0, (), (1,)), vessel), 128, (129,))
    assert classes.by_value() == {-1: -1, 128: -1, 129: -1, 0: 0, 255: 1, 1: 1, 2: 1}
    assert classes.in_truth().by_value() == {-1: -1, 128: -1, 129: -1, 1: 0, 0: 1}


def test_the_truth_may_hold_other_values_though_labels_are_indices(path):
    classes = read(path, "index,name,truth value\n0,a,255\n1,b,0\n")
    assert not classes.have_values
    assert classes.in_truth().by_value() == {-1: -1, 255: 0, 0: 1}


def test_unlabelled_without_a_value_changes_nothing(path):
    assert read(path, "index,name\n-1,unlabelled\n0,a\n1,b\n").unlabelled is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,colour\na,#000000\n", "no index"),
        ("index,name\n0,a\n2,b\n", "class indices 0, 2"),
        ("index,name\n1,a\n2,b\n", "class indices 1, 2"),
        ("index,name\n0,a\n0,b\n", "class indices 0, 0"),
        ("index,name\n0,a\n1,b\n-1,u\n-1,v\n", "class indices"),
        ("index,name\n-2,a\n0,b\n", "class indices -2, 0"),
        ("index,name\n", "class indices are missing"),
        ("index,name\nzero,a\n", "index is 'zero'"),
        ("index,name\n,a\n", "index is ''"),
        ("index,name,value\n0,a,1.5\n1,b,2\n", "value is '1.5'"),
        ("index,name,colour\n0,a,red\n1,b,\n", "colour is 'red'"),
        ("index,name\n0,a\n1,a\n", "name a stands for two classes"),
        ("index,colour\n0,#aabbcc\n1,#AABBCC\n", "colour #aabbcc stands for two classes"),
        ("index,value\n0,5\n1,5\n", "value 5 stands for two classes"),
        ("index,value\n0,\n1,0\n", "value 0 stands for two classes"),
        ("index,value\n0,0\n1,255\n-1,255\n", "value 255 stands for two classes"),
        ("index,value\n0,0 1\n1,1 2\n", "value 1 stands for two classes"),
        ("index,value,truth_value\n0,0,7\n1,1,7\n", "truth_value 7 stands for two classes"),
        ("index,value,truth_value\n0,0,x\n1,1,7\n", "truth_value is 'x'"),
        ("index,name\n0,a,extra,cells\n1,b\n", "line 2 has 4 cells"),
        ("", "is empty"),
    ],
)
def test_what_is_wrong_is_said_with_the_file(path, text, message):
    with pytest.raises(InputError, match=message) as caught:
        read(path, text)
    assert all(fault.file == str(path) for fault in caught.value.faults)


def test_all_faults_at_once(path):
    with pytest.raises(InputError) as caught:
        read(path, "index,name,colour,value\n0,a,red,x\n1,a,,\n")
    found = [fault.found for fault in caught.value.faults]
    assert found == ["value is 'x'", "colour is 'red'", "name a stands for two classes"]


def test_bytes_that_are_no_text(path):
    path.write_bytes("index,name\n0,Gefäß\n1,b\n".encode("latin-1"))
    with pytest.raises(InputError, match="UTF-8"):
        read_classes(path)


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).map(str.strip).filter(bool)


@given(
    st.lists(names, min_size=1, max_size=5, unique=True),
    st.none() | st.integers(100, 65535),
    st.booleans(),
)
def test_what_is_written_is_read_again(tmp_path_factory, class_names, unlabelled, coloured):
    path = tmp_path_factory.mktemp("classes") / "classes.csv"
    items = tuple(
        LabelClass(
            name,
            f"#{number:06x}" if coloured else "",
            7 - number if coloured else None,
            (20 + number, 30 + number) if coloured else (),
            (40 + number,) if coloured or number == 1 else (),
        )
        for number, name in enumerate(class_names)
    )
    classes = Classes(items, unlabelled, (99,) if unlabelled else (), (98,) if coloured else ())
    write_classes(classes, path)
    assert read_classes(path) == classes
