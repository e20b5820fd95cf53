"""Exports of Label Studio: which task and annotation count, and what they draw."""

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io.drawings.label_studio import label_studio_shapes
from multirater.io.drawings.shapes import rasterise

SPACE = (20, 40)


def result(kind="rectanglelabels", size=(40, 20), **value):
    value = value or {"x": 25, "y": 50, "width": 50, "height": 25}
    stated = {"original_width": size[0], "original_height": size[1]}
    return {"type": kind, **stated, "value": {kind: ["1"], **value}}


def annotation(*results, by=1):
    return {"completed_by": by, "result": list(results)}


def task(*annotations, name="p1.png"):
    return {"data": {"image": name}, "annotations": list(annotations)}


def shapes(*tasks, image="p1.png", rater="anna", space=SPACE):
    return label_studio_shapes(tasks, image, rater, space)


def drawn(**value):
    return rasterise(shapes(task(annotation(result(**value)))), SPACE, None) == 1


def test_a_rectangle_is_stated_by_its_corner_and_size():
    expected = np.zeros(SPACE, dtype=bool)
    expected[10:15, 10:30] = True
    np.testing.assert_array_equal(drawn(), expected)


def test_an_ellipse_is_stated_by_its_centre_and_radii():
    found = drawn(kind="ellipselabels", x=50, y=50, radiusX=40, radiusY=25)
    assert found.sum() == pytest.approx(np.pi * 16 * 5, rel=0.05)
    rows, columns = np.nonzero(found)
    assert (rows.mean() + 0.5, columns.mean() + 0.5) == pytest.approx((10, 20))


def test_a_key_point_is_a_dot_of_its_width():
    where = {"kind": "keypointlabels", "x": 51.25, "y": 52.5}
    assert np.argwhere(drawn(**where, width=None)).tolist() == [[10, 20]]
    assert np.argwhere(drawn(**where, width=2.5)).tolist() == [[10, 20]]
    assert drawn(**where, width=10).sum() == pytest.approx(np.pi * 2**2, abs=1)


@pytest.mark.parametrize("width", ["wide", [1]])
def test_a_width_that_is_no_number_is_refused(width):
    with pytest.raises(InputError, match="result 1 lacks a size or a position"):
        drawn(kind="keypointlabels", x=50, y=50, width=width)


@pytest.mark.parametrize("name", ["patient_11.png", "ABCDEFGH-1.png", "0a1b2c3d1.png"])
def test_a_name_that_ends_alike_is_another_image(name):
    with pytest.raises(InputError, match=r"no task called 1\.png"):
        shapes(task(annotation(result()), name=name), image="1.png")


@pytest.mark.parametrize(
    "name",
    [
        "/data/upload/3/0a1b2c3d-p1.png",
        "https://host/set/p1.png?token=a%2Fb",
        "a%20b/p1.png",
    ],
)
def test_names_that_stand_for_the_image(name):
    assert len(shapes(task(annotation(result()), name=name))) == 1


def test_only_the_start_of_a_name_is_a_prefix():
    with pytest.raises(InputError, match="no task"):
        shapes(task(annotation(result()), name="p-0a1b2c3d-1.png"), image="p-1.png")


def test_an_exact_name_comes_before_one_with_a_prefix():
    tasks = task(name="0a1b2c3d-p1.png"), task(annotation(result()))
    assert len(shapes(*tasks)) == 1


def test_folders_tell_tasks_of_one_name_apart():
    tasks = task(annotation(result()), name="a/p1.png"), task(annotation(), name="b/p1.png")
    assert len(shapes(*tasks, image="/data/a/p1.png")) == 1
    assert len(shapes(*tasks, image="/data/b/p1.png")) == 0
    with pytest.raises(InputError, match=r"2 tasks called p1\.png"):
        shapes(*tasks, image="/data/c/p1.png")


ANNA = {"id": 7, "email": "anna@example.org"}


@pytest.mark.parametrize("rater", ["anna", "7", "anna@example.org", "Anna@Example.org"])
def test_a_single_annotation_counts_for_its_annotator_and_for_free_names(rater):
    assert len(shapes(task(annotation(result(), by=ANNA)), rater=rater)) == 1


def test_a_single_annotation_of_another_annotator_is_refused():
    mine = task(annotation(result(), by=ANNA))
    with pytest.raises(InputError, match=r"1 annotation of one image, 0 of bert@example\.org"):
        shapes(mine, rater="bert@example.org")
    elsewhere = task(annotation(by=8), name="p2.png")
    with pytest.raises(InputError, match="1 annotation of one image, 0 of 8"):
        shapes(mine, elsewhere, rater="8")


@pytest.mark.parametrize(
    ("space", "words"), [((20, 20), "that was drawn on"), ((40, 20), "EXIF"), ((80, 40), "EXIF")]
)
def test_a_drawing_on_an_image_of_other_proportions_is_refused(space, words):
    with pytest.raises(InputError, match="drawn on an image of 40 x 20") as caught:
        shapes(task(annotation(result())), space=space)
    assert words in caught.value.faults[0].fix


@pytest.mark.parametrize("space", [(10, 20), (60, 120), (10, 21)])
def test_percentages_scale_to_another_resolution(space):
    (shape,) = shapes(task(annotation(result())), space=space)
    high, wide = space
    np.testing.assert_allclose(shape.rings[0].min(0), (wide / 4, high / 2))
    np.testing.assert_allclose(shape.rings[0].max(0), (wide * 3 / 4, high * 3 / 4))


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ({"data": {"image": "p1.png"}, "annotations": None}, "0 annotations of one image"),
        ({"data": {"image": "p1.png"}, "annotations": 3}, "annotations are 3"),
        ({"data": {"image": "p1.png"}, "annotations": [3]}, "annotations are"),
        (task({"completed_by": 1, "result": ["x"]}), "result 1 is of type None without a label"),
        (task({"completed_by": 1, "result": 3}), "result is 3"),
        (task(annotation({**result(), "value": {"rectanglelabels": 1}})), "without a label"),
        (task(annotation(result(x=1e300, y=0, width=1, height=1))), "nowhere near an image"),
        (task(annotation(result(size=(float("inf"), 20)))), "lacks a size"),
        (task(annotation(result(size=(None, 20)))), "lacks a size"),
        (task(annotation(result(size=(0, 20)))), "lacks a size"),
    ],
)
def test_broken_exports_are_explained(broken, words):
    with pytest.raises(InputError, match=words):
        shapes(broken)
