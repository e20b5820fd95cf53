"""All files of a case, and whether they fit together."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from multirater.errors import Fault, InputError
from multirater.io.case_files import read_case_files
from multirater.types import Case, Geometry, Image, LabelMap, Source

PLACED = Geometry((2.0, 2.0), (5.0, 5.0), Geometry.default(2).direction)


def image(space=(3, 4), geometry=PLACED):
    return Source(lambda: Image(np.zeros((1, *space)), geometry), (Path("image.nii"),))


def label(space=(3, 4), geometry=PLACED, name="label.nii"):
    return Source(lambda: LabelMap(np.zeros(space, np.int16), geometry), (Path(name),))


def broken(found="cannot be read", file=""):
    def read():
        raise InputError(Fault(found, file=file))

    return Source(read, (Path("broken.nii"),))


def test_what_fits_is_read_without_faults():
    files = read_case_files(Case("p1", image(), {"jo": label(), "kim": label()}, label()))
    assert files.faults == ()
    assert files.image is not None
    assert list(files.labels) == ["jo", "kim"]
    assert files.truth is not None


def test_a_case_with_nothing():
    files = read_case_files(Case("p1"))
    assert (files.image, files.labels, files.truth, files.faults) == (None, {}, None, ())


def test_all_faults_of_a_case_are_listed_and_the_rest_is_read():
    case = Case(
        "p1",
        image(),
        {"jo": broken(), "kim": label((3, 5)), "lee": label()},
        label(geometry=replace(PLACED, origin=(9.0, 5.0)), name="truth.nii"),
    )
    files = read_case_files(case)
    assert [(fault.rater, fault.file) for fault in files.faults] == [
        ("jo", "broken.nii"),
        ("kim", "label.nii"),
        ("(truth)", "truth.nii"),
    ]
    assert all(fault.case == "p1" for fault in files.faults)
    assert list(files.labels) == ["kim", "lee"]
    size, place = files.faults[1:]
    assert size.found == "label has size 3 x 5"
    assert size.expected == "3 x 4, the size of the image"
    assert "origin (9, 5)" in place.found
    assert "origin (5, 5)" in place.expected


@pytest.mark.parametrize(
    "change",
    [
        {"spacing": (2.0, 2.1)},
        {"origin": (5.0, 6.0)},
        {"direction": ((0.0, -1.0), (1.0, 0.0))},
    ],
)
def test_another_geometry_is_a_fault(change):
    case = Case("p1", image(), {"jo": label(geometry=replace(PLACED, **change))})
    (fault,) = read_case_files(case).faults
    assert "lies elsewhere" in fault.found
    assert (fault.case, fault.rater) == ("p1", "jo")
    assert fault.fix


@pytest.mark.parametrize("bare", ["image", "label"])
def test_a_format_that_says_nothing_of_the_world_fits_everywhere(bare):
    default = Geometry.default(2)
    picture = image(geometry=default if bare == "image" else PLACED)
    drawn = label(geometry=default if bare == "label" else PLACED)
    assert read_case_files(Case("p1", picture, {"jo": drawn})).faults == ()


def test_without_image_labels_are_compared_with_the_first():
    case = Case("p1", None, {"jo": label(), "kim": label((4, 3))}, label((3, 5)))
    faults = read_case_files(case).faults
    assert [fault.rater for fault in faults] == ["kim", "(truth)"]
    assert all("3 x 4, the size of jo's label" in fault.expected for fault in faults)


def test_a_rater_may_be_called_truth():
    case = Case("p1", None, {"(truth)": label()}, label((3, 5)))
    assert len(read_case_files(case).faults) == 1


def test_what_labels_repeat_of_their_image_is_told_once():
    bad = broken("is truncated", file="image.dcm")
    faults = read_case_files(Case("p1", bad, {"jo": bad, "kim": bad})).faults
    assert len(faults) == 1
    assert faults[0].rater == ""


def test_class_labels_have_no_size_to_compare():
    point = Geometry((), (), ())
    case = Case("p1", image(), {"jo": label((), point)}, label((), point))
    assert read_case_files(case).faults == ()


def test_labels_that_contradict_each_other_are_told_where_the_image_knows_no_place():
    turned = Geometry(PLACED.spacing, PLACED.origin, ((-1.0, 0.0), (0.0, 1.0)))
    plain = Geometry.default(2)
    labels = {"a": label(), "b": label(geometry=turned), "c": label(geometry=plain)}
    (fault,) = read_case_files(Case("x", image(geometry=plain), labels)).faults
    assert "other directions" in fault.found
    assert (fault.rater, fault.file) == ("b", "label.nii")
    shifted = Geometry((1.0, 1.0), (0.0, 7.0), PLACED.direction)
    labels["b"] = label(geometry=shifted)  # which is nobody's to judge
    assert not read_case_files(Case("x", image(geometry=plain), labels)).faults
