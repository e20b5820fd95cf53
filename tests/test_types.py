"""The plain data that flows through the package."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from multirater.errors import Fault, InputError
from multirater.types import (
    MISSING,
    Case,
    Classes,
    Dataset,
    Geometry,
    Image,
    LabelMap,
    Source,
)

FLAT = Geometry.default(2)


def label(values, geometry=FLAT):
    array = np.asarray(values, dtype=np.int16)
    return Source(lambda: LabelMap(array, geometry))


def broken():
    raise InputError(Fault("cannot be read"))


def test_default_geometry_has_x_on_the_last_axis():
    assert Geometry.default(3).direction == ((0, 0, 1), (0, 1, 0), (1, 0, 0))
    assert Geometry.default(3).ndim == 3


@pytest.mark.parametrize(
    ("change", "close"),
    [
        ({}, True),
        ({"spacing": (2.0 + 1e-5, 1.0)}, True),
        ({"spacing": (2.1, 1.0)}, False),
        ({"origin": (1e-3, 0.0)}, True),
        ({"origin": (0.5, 0.0)}, False),
        ({"direction": ((1.0, 0.0), (0.0, 1.0))}, False),
    ],
)
def test_geometries_are_close_to_a_fraction_of_a_voxel(change, close):
    grid = replace(FLAT, spacing=(2.0, 1.0))
    assert grid.is_close(replace(grid, **change)) is close
    assert not grid.is_close(Geometry.default(3))


def test_an_image_knows_its_space():
    assert Image(np.zeros((3, 4, 5)), FLAT).space == (4, 5)


def test_classes_nobody_named():
    assert Classes.numbered(3).names == ("background", "class 1", "class 2")
    assert len(Classes.numbered(1)) == 1


def test_nothing_is_read_before_it_is_asked_for():
    case = Case("p1", Source(broken), {"jo": Source(broken)}, Source(broken))
    assert list(case.labels) == ["jo"]
    with pytest.raises(InputError):
        case.read_image()


def test_reading_adds_case_rater_and_file_to_a_fault():
    case = Case("p1", labels={"jo": Source(broken, (Path("a.png"),))}, truth=Source(broken))
    with pytest.raises(InputError) as caught:
        case.read_label("jo")
    assert caught.value.faults == (Fault("cannot be read", case="p1", rater="jo", file="a.png"),)
    with pytest.raises(InputError, match=r"case p1, rater \(truth\)"):
        case.read_truth()


def test_a_case_without_image_or_truth():
    assert Case("p1").read_image() is None
    assert Case("p1").read_truth() is None


def test_labels_are_stacked_in_the_order_asked_for_with_absent_raters_missing():
    case = Case("p1", labels={"a": label([[0, 1]]), "b": label([[1, -1]])})
    assert case.read_labels().raters == ("a", "b")
    asked = case.read_labels(["b", "nobody", "a"])
    assert asked.array.tolist() == [[[1, -1]], [[MISSING, MISSING]], [[0, 1]]]


def test_labels_of_a_case_nobody_labelled_are_an_error():
    with pytest.raises(InputError, match="case p1: has no label"):
        Case("p1").read_labels()


def test_labels_of_different_size_name_both_raters():
    case = Case("p1", labels={"a": label([[0, 1]]), "b": label([[0], [1]])})
    with pytest.raises(InputError) as caught:
        case.read_labels()
    (fault,) = caught.value.faults
    assert (fault.case, fault.rater) == ("p1", "b")
    assert "2 x 1" in fault.found
    assert "1 x 2" in fault.expected
    assert "rater a" in fault.expected


def test_a_data_set_is_a_sequence_of_cases_with_splits():
    cases = (Case("p1", split="train"), Case("p2", split="test"), Case("p3", split="train"))
    data = Dataset(cases, ("jo",))
    assert len(data) == 3
    assert list(data) == list(cases)
    assert data[1].name == data["p2"].name == "p2"
    assert [case.name for case in data.split("train")] == ["p1", "p3"]
    assert data.split("train").raters == ("jo",)


def test_a_source_tells_its_files_as_paths_whether_they_were_given_as_text_or_not():
    by_text = Source(lambda: None, ("study/./masks/a.png",))
    by_path = Source(lambda: None, (Path("study/masks/a.png"),))
    assert by_text.paths == by_path.paths == (Path("study/masks/a.png"),)
    assert repr(by_text) == "Source(study/masks/a.png)"
    assert Source(lambda: None).paths == ()


def test_labels_along_other_directions_are_not_read_together():
    """A copy that is stored from right to left shows the same, and differs pixel by pixel."""
    there = replace(FLAT, spacing=(2.0, 2.0))
    mirrored = replace(there, direction=tuple(tuple(-x for x in row) for row in FLAT.direction))
    values = [[0, 1], [1, 0]]
    case = Case("p1", None, {"a": label(values, there), "b": label(values, mirrored)})
    with pytest.raises(InputError, match=r"rater b: label lies along other directions"):
        case.read_labels()
    unknown = Case("p1", None, {"a": label(values, there), "b": label(values)})
    assert unknown.read_labels().array.shape == (2, 2, 2)
