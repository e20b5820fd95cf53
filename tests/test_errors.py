"""What a user reads when something is wrong."""

import pickle

import pytest

from multirater.errors import Fault, InputError


def test_a_fault_says_where_what_and_what_to_do():
    fault = Fault("is empty", expected="a mask", fix="draw it", file="a.png", case="p1", rater="jo")
    assert str(fault).splitlines() == [
        "case p1, rater jo, file a.png: is empty",
        "  expected: a mask",
        "  to do: draw it",
    ]
    assert str(Fault("is empty")) == "is empty"


def test_places_are_filled_in_only_where_they_were_not_known():
    inner = Fault("is empty", rater="jo").at(case="p1", rater="kim", file="a.png")
    assert (inner.case, inner.rater, inner.file) == ("p1", "jo", "a.png")
    assert inner.at(case=None, file=None) == inner


def test_an_error_carries_all_faults_and_fills_them_in_together():
    error = InputError([Fault("one"), Fault("two", case="p2")]).at(case="p1", file="a.png")
    assert [fault.case for fault in error.faults] == ["p1", "p2"]
    assert str(error).count("a.png") == 2
    assert InputError(Fault("one")).faults == (Fault("one"),)


def test_an_error_comes_back_whole_from_another_process():
    error = InputError([Fault("one", case="p1"), Fault("two")])
    back = pickle.loads(pickle.dumps(error))
    assert back.faults == error.faults
    assert str(back) == str(error)


def test_a_fault_cannot_be_changed():
    with pytest.raises(AttributeError):
        Fault("one").found = "two"
