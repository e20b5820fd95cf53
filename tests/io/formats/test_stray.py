"""Values that stand for no class: named with their place, or read as asked for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from multirater.errors import InputError
from multirater.io.formats.label_values import decode_labels
from multirater.io.formats.stray import place_of, settled
from multirater.types import Classes, LabelClass

TWO = Classes.numbered(2)
COLOURED = Classes((LabelClass("sky", "#0000ff"), LabelClass("tree", "#00ff00")))


def mask(stray, *, space=(6, 9), full=255):
    """A mask of 0 and full scale with one stray pixel at row 2, column 7, in the foreground."""
    array = np.zeros((1, *space), dtype=np.int64)
    array[..., 5:] = full
    array[..., 2, 7] = stray
    return array


@pytest.mark.parametrize(
    ("array", "classes", "place"),
    [
        (mask(254), None, "1 pixel of 54, at row 2, column 7"),
        (mask(254), TWO, "1 pixel of 54, at row 2, column 7"),
        (mask(7, full=1), TWO, "1 pixel of 54, at row 2, column 7"),
        (
            mask(9, space=(3, 6, 9), full=2),
            Classes.numbered(3),
            "3 pixels of 162, first at slice 0, row 2, column 7",
        ),
    ],
)
def test_a_stray_is_named_with_its_place_and_what_can_be_done(array, classes, place):
    with pytest.raises(InputError) as caught:
        decode_labels(array, classes)
    (fault,) = caught.value.faults
    assert place in fault.found
    assert "--stray" in fault.fix


@pytest.mark.parametrize("classes", [None, TWO])
def test_nearest_is_the_closest_value_and_missing_is_not_labelled(classes):
    nearest, rule = decode_labels(mask(254), classes, stray="nearest")
    missing, _ = decode_labels(mask(254), classes, stray="missing")
    assert nearest[2, 7] == 1
    assert missing[2, 7] == -1
    assert rule == "0 is background, 255 is foreground, strays are nearest"
    for found in (nearest, missing):
        np.testing.assert_array_equal(found[3:], decode_labels(mask(255), classes)[0][3:])


def test_one_high_value_does_not_make_class_indices_a_mask_of_full_scale():
    array = np.arange(3).repeat(40).reshape(1, 10, 12)
    array[0, 0, 0] = 200
    found, _ = decode_labels(array, None, stray="missing")
    assert sorted(np.unique(found)) == [-1, 0, 1, 2]
    assert (found == -1).sum() == 1


def test_declared_values():
    classes = Classes((LabelClass("air", "", 10), LabelClass("bone", "", 90)), 200)
    array = np.repeat([10, 90, 200, 87], [20, 20, 20, 1]).reshape(1, 1, -1)
    assert decode_labels(array, classes, stray="nearest")[0][0, -1] == 1
    assert decode_labels(array, classes, stray="missing")[0][0, -1] == -1


def test_colours():
    array = np.zeros((3, 4, 10), dtype=np.uint8)
    array[2] = 255
    array[:, 1, 1] = (10, 200, 90)
    with pytest.raises(InputError, match="1 pixel of 40, at row 1, column 1"):
        decode_labels(array, COLOURED)
    assert decode_labels(array, COLOURED, stray="nearest")[0][1, 1] == 1
    assert decode_labels(array, COLOURED, stray="missing")[0][1, 1] == -1


def test_a_file_of_another_kind_is_no_stray():
    array = np.zeros((1, 4, 10), dtype=np.int64)
    array[0, :2] = 254
    with pytest.raises(InputError, match="20 pixels of 40, first at row 0, column 0"):
        decode_labels(array, TWO, stray="nearest")


@given(hnp.arrays(np.int64, (5, 40), elements=st.sampled_from([0, 255])), st.integers(1, 254))
def test_only_strays_change(values, stray):
    given_values = values.copy()
    values[2, 3] = stray
    found = settled(values, {0, 255}, "nearest")
    assert found[2, 3] == (0 if stray <= 127 else 255)
    found[2, 3] = given_values[2, 3]
    np.testing.assert_array_equal(found, given_values)
    assert place_of(values == stray) == "1 pixel of 200, at row 2, column 3"
