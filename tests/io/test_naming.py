"""File names for cases and raters of any name."""

import os
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multirater.errors import InputError
from multirater.io.importers.files import import_files
from multirater.io.naming import file_names
from multirater.io.read import read_dataset

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


@given(st.lists(names, unique=True, max_size=12))
def test_file_names_are_distinct_and_safe_whatever_the_names(given_names):
    made = file_names(given_names)
    assert list(made) == given_names
    compared = {unicodedata.normalize("NFC", name).casefold() for name in made.values()}
    assert len(compared) == len(given_names)
    for name in made.values():
        assert name
        assert not set(name) & set('/\\:*?"<>|\0\n\r\t;,')
        assert not name.startswith((".", " "))
        assert not name.endswith((".", " "))
        assert len(name.encode()) < 200


def test_plain_names_stay_as_they_are():
    plain = ["anna", "Rater 1", "p-01_T1.5", "Jörg", "医生"]
    assert file_names(plain) == dict(zip(plain, plain, strict=True))


def test_odd_names():
    odd = ["<script>alert(1)</script>", "../x", "", "a;b", "CON", "nul.txt", "LPT1"]
    assert list(file_names(odd).values()) == [
        "_script_alert(1)__script_",
        "_x",
        "_",
        "a_b",
        "_CON",
        "_nul.txt",
        "_LPT1",
    ]


def test_names_that_file_systems_take_for_the_same_get_different_files():
    composed, decomposed = "é", "e\u0301"
    made = file_names(["anna", "Anna", "ANNA", composed, decomposed])
    assert list(made.values())[:3] == ["anna", "Anna-2", "ANNA-3"]
    assert made[decomposed].endswith("-2")


def test_a_number_that_is_taken_is_not_given_again():
    assert list(file_names(["a/b", "a_b-2", "a:b"]).values()) == ["a_b", "a_b-2", "a_b-3"]


def test_long_names_are_cut_between_characters():
    made = file_names(["医" * 200, "医" * 201])
    first, second = made.values()
    assert set(first) == {"医"}
    assert second == f"{first}-2"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are texts")
def test_names_that_are_no_text_are_refused_in_a_sentence(tmp_path):
    """No table could hold them, and nothing that is made of them could be written."""
    place = tmp_path / "raters" / os.fsdecode(b"ann\xff")
    place.mkdir(parents=True)
    (place / "a.png").touch()
    for act in (
        lambda: read_dataset(tmp_path),
        lambda: import_files(tmp_path, tmp_path / "m.csv", label="raters/{rater}/{case}.png"),
    ):
        with pytest.raises(InputError, match=r"xff.*' is no text"):
            act()
