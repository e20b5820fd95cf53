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
        LabelClass(name, f"#{number:06x}" if coloured else "", 7 - number if coloured else None)
        for number, name in enumerate(class_names)
    )
    write_classes(Classes(items, unlabelled), path)
    assert read_classes(path) == Classes(items, unlabelled)
