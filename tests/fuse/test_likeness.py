import numpy as np

from multirater.fuse.likeness import INTERSECTION, UNION, likeness, likeness_findings

NESTED = np.array([[0, 0, 1, 0], [0, 1, 1, 0], [1, 1, 1, 0]])


def test_what_a_label_equals():
    names = ["a", "b", "c"]
    assert likeness(NESTED, NESTED[0], names) == [INTERSECTION, "a"]
    assert likeness(NESTED, NESTED[1], names) == ["b"]
    assert likeness(NESTED, NESTED[2], names) == [UNION, "c"]
    assert likeness(NESTED, np.array([0, 0, 1, 1]), names) == []


def test_where_all_agree_or_one_is_alone_nothing_is_said():
    assert likeness(NESTED[[1, 1]], NESTED[1], ["a", "b"]) is None
    assert likeness(np.array([[0, 1], [-1, -1]]), np.array([0, 1]), ["a", "b"]) is None


def test_of_several_classes_only_raters_are_named():
    drawn = np.array([[0, 2, 1], [0, 1, 1]])
    assert likeness(drawn, drawn[0], ["a", "b"]) == ["a"]


def test_a_likeness_is_said_when_it_holds_in_nearly_all_cases():
    (said,) = likeness_findings([[UNION]] * 19 + [[]], 3)
    assert said.text.startswith("the fused label is the union")
    assert "19 of 20 cases" in said.text
    assert not likeness_findings([[UNION]] * 8 + [[]] * 2, 3)
    assert not likeness_findings([None, None], 2)


def test_a_label_that_several_raters_drew_alike_is_no_single_voice():
    shared = likeness_findings([["anna", "bert"], ["anna", "bert"], ["anna"]], 4)
    alone = likeness_findings([["anna"], ["anna", "bert"], ["anna"]], 4)
    assert (shared[0].level, alone[0].level) == ("caution", "problem")
    assert "another rater in 2 of them" in shared[0].text
