"""From file values to class indices, and back: every encoding gives the same indices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from multirater.errors import InputError
from multirater.io.formats.encoded_labels import encode_labels
from multirater.io.formats.label_values import decode_labels, distinct
from multirater.types import MISSING, Classes, LabelClass

INTEGERS = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "<f4", "<f8", ">i2", "f2"]
SPACES = array_shapes(min_dims=2, max_dims=3, max_side=5)


def index_maps(n_classes):
    return arrays(np.int16, SPACES, elements=st.integers(0, n_classes - 1))


def one_hot(indices, n_classes):
    return np.stack([indices == index for index in range(n_classes)])


def declared(*names, **options):
    return Classes(tuple(LabelClass(name) for name in names), **options)


def refused(array, classes=None, **options):
    """Return the fault of labels that must be refused."""
    with pytest.raises(InputError) as caught:
        decode_labels(np.asarray(array), classes, **options)
    (fault,) = caught.value.faults
    assert fault.expected
    assert fault.fix
    return fault


@given(index_maps(4), st.sampled_from(INTEGERS), st.sampled_from([None, 4]))
def test_class_indices_in_any_type(indices, kind, n_classes):
    classes = None if n_classes is None else Classes.numbered(n_classes)
    found, rule = decode_labels(indices[None].astype(kind), classes)
    assert np.array_equal(found, indices)
    assert found.dtype == np.int16
    assert rule == "class indices"


@given(index_maps(2), st.sampled_from(["?", "u1", "f4"]), st.sampled_from([None, 2]))
def test_zero_and_full_scale_and_bool(indices, kind, n_classes):
    classes = None if n_classes is None else Classes.numbered(n_classes)
    full = {"?": 1, "u1": 255, "f4": 255}[kind]
    found, rule = decode_labels((indices[None] * full).astype(kind), classes)
    assert np.array_equal(found, indices)
    expected = "0 is background, 255 is foreground" if full == 255 and indices.any() else None
    assert rule == (expected or "class indices")


def test_zero_and_full_scale_of_sixteen_bits():
    found, rule = decode_labels(np.array([[[0, 65535]]], np.uint16), None)
    assert found.tolist() == [[0, 1]]
    assert rule == "0 is background, 65535 is foreground"


@given(
    index_maps(3),
    st.sampled_from(["?", "u1", "f4", "i8"]),
    st.sampled_from([1, 255]),
    st.booleans(),
    st.booleans(),
)
def test_one_channel_per_class(indices, kind, full, with_background, is_declared):
    channels = one_hot(indices, 3)[0 if with_background else 1 :]
    values = channels if kind == "?" else (channels * full).astype(kind)
    covered = bool(channels.any(0).all())
    classes = Classes.numbered(3) if is_declared else None
    if not is_declared and covered != with_background:
        return  # cannot be told apart in one file; see the survey
    found, rule = decode_labels(values, classes, is_picture=False)
    assert np.array_equal(found, indices)
    assert rule == (
        "one channel per class"
        if with_background
        else "one channel per class, background where none is set"
    )


@given(index_maps(3))
def test_pixels_that_no_class_claims_are_unlabelled_when_each_class_has_a_channel(indices):
    channels = one_hot(indices, 3)
    channels[:, 0, 0] = False
    found, rule = decode_labels(channels, Classes.numbered(3), is_picture=False)
    assert (found[0, 0] == MISSING).all()
    indices[0, 0] = MISSING
    assert np.array_equal(found, indices)
    assert rule == "one channel per class, unlabelled where none is set"


@given(index_maps(3), st.sampled_from([(3, False), (2, True), (4, True)]), st.sampled_from([1, 60]))
def test_grey_copies_and_opacity_are_dropped(indices, layout, step):
    n_channels, has_alpha = layout
    grey = (indices * step).astype(np.uint8)
    copies = [grey] * (n_channels - has_alpha)
    array = np.stack([*copies, np.full_like(grey, 255)] if has_alpha else copies)
    assert np.array_equal(decode_labels(array, None)[0], indices * step)


@given(arrays(np.int16, SPACES, elements=st.integers(-1, 2)))
def test_minus_one_is_unlabelled_in_every_signed_type(indices):
    for kind in ("i1", "i2", "i8", "f4"):
        assert np.array_equal(decode_labels(indices[None].astype(kind), None)[0], indices)


@given(arrays(np.int16, SPACES, elements=st.integers(-1, 2)), st.booleans())
def test_declared_values_come_back(indices, signed):
    items = [LabelClass("a", value=255), LabelClass("b", value=128), LabelClass("c", value=0)]
    classes = Classes(tuple(items), 64)
    stored = encode_labels(indices, classes, signed=signed)
    assert stored.dtype == np.uint8
    found, rule = decode_labels(stored[None], classes)
    assert np.array_equal(found, indices)
    assert rule == "values declared in classes.csv"


@given(arrays(np.int16, SPACES, elements=st.integers(-1, 2)))
def test_encoded_labels_come_back_in_the_smallest_type(indices):
    stored = encode_labels(indices, None, signed=True)
    assert stored.dtype == (np.int16 if (indices < 0).any() else np.uint8)
    assert np.array_equal(decode_labels(stored[None], None)[0], indices)


def test_declared_values_leave_the_others_at_their_index_and_minus_one_unlabelled():
    classes = Classes((LabelClass("a"), LabelClass("b", value=200)))
    found, _ = decode_labels(np.array([[[0, 200, -1]]]), classes)
    assert found.tolist() == [[0, 1, MISSING]]
    assert "1, 7" in refused([[[0, 1, 7]]], classes).found


def test_the_unlabelled_value_is_no_class():
    classes = declared("background", "lesion", unlabelled=255)
    found, rule = decode_labels(np.array([[[0, 1, 255]]], np.uint8), classes)
    assert found.tolist() == [[0, 1, MISSING]]
    assert rule == "class indices, 255 is unlabelled"
    assert decode_labels(np.array([[[0, 255]]], np.uint8), classes)[0].tolist() == [[0, MISSING]]


def test_full_scale_is_foreground_only_with_two_classes():
    assert "255" in refused(np.array([[[0, 255]]], np.uint8), declared("a", "b", "c")).found


COLOURED = Classes(
    (LabelClass("bg", "#000000"), LabelClass("a", "#e66100"), LabelClass("b", "#808080"))
)


@given(index_maps(3), st.booleans())
def test_colours_of_the_classes(indices, has_alpha):
    palette = np.array([[0, 0, 0], [0xE6, 0x61, 0x00], [0x80, 0x80, 0x80]], np.uint8)
    array = np.moveaxis(palette[indices], -1, 0)
    if has_alpha:
        array = np.concatenate([array, np.full_like(array[:1], 255)])
    found, rule = decode_labels(array, COLOURED)
    assert np.array_equal(found, indices)
    assert rule == "colours of the classes"


def test_colours_do_not_stand_in_the_way_of_indices_and_channels():
    grey_copy = np.repeat(np.array([[[0, 1, 2]]], np.uint8), 3, axis=0)
    assert decode_labels(grey_copy, COLOURED)[0].tolist() == [[0, 1, 2]]
    channels = one_hot(np.array([[0, 1, 2]]), 3).astype(np.uint8)
    assert decode_labels(channels, COLOURED)[0].tolist() == [[0, 1, 2]]


def test_an_undeclared_colour_is_refused():
    array = np.array([[[0xE6]], [[0x61]], [[0x01]]], np.uint8)
    fault = refused(array, COLOURED)
    assert "#e66101" in fault.found
    assert "#e66100" in fault.expected


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("n_channels", [1, 3])
def test_nan_and_infinity_are_refused(bad, n_channels):
    array = np.zeros((n_channels, 2, 2))
    array[0, 0, 0] = bad
    fault = refused(array)
    assert fault.found.startswith("1 label values are NaN")
    assert "-1" in fault.fix


@pytest.mark.parametrize("n_channels", [1, 2])
def test_fractions_are_refused_with_an_example(n_channels):
    array = np.zeros((n_channels, 2, 2), np.float32)
    array[0, 0, 0] = 0.25
    assert "0.25" in refused(array).found


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        ([0, 3], declared("a", "b")),
        ([0, 255], declared("a", "b", "c")),
        ([-2, 0], None),
        ([0, 128, 255], None),
        ([0, 1, 255], None),
        ([0, 300], None),
        ([0, 2**40], None),
        ([-(2**40), 0], None),
    ],
)
def test_unknown_class_indices_are_named(values, classes):
    fault = refused(np.array([[values]]), classes)
    assert "unknown class index" in fault.found
    assert "classes.csv" in fault.fix


@pytest.mark.parametrize("classes", [None, declared("a", "b")])
def test_a_stray_value_in_a_mask_of_0_and_255_is_the_one_blamed(classes):
    fault = refused(np.array([[[0, 100, 255, 255]]]), classes)
    assert "values 0, 100, 255" in fault.found
    assert "0 and 255 alone would be a mask of two classes" in fault.expected
    assert "value 100," in fault.fix


@pytest.mark.parametrize("classes", [None, declared("background", "object")])
def test_all_that_was_drawn_is_offered_as_a_class_and_not_as_a_slip(classes):
    fix = refused(np.array([[[0, 200, 200]]]), classes).fix
    assert "`1,object,200`" in fix
    assert "stray" not in fix
    assert "stray" in refused(np.array([[[0, 1, 200]]]), classes).fix


def test_indices_of_a_large_atlas_need_no_declaration():
    assert decode_labels(np.arange(128).reshape(1, 8, 16), None)[0].max() == 127


def test_a_photograph_is_no_label():
    rng = np.random.default_rng(0)
    grey = rng.integers(0, 256, (1, 20, 20), dtype=np.uint8)
    assert "image" in refused(grey).fix
    assert "image" in refused(grey, declared("a", "b")).fix
    colour = rng.integers(0, 256, (3, 20, 20), dtype=np.uint8)
    assert "colour image is not a label" in refused(colour).fix


def test_overlapping_channels_are_refused_with_their_number():
    array = np.zeros((3, 2, 2), np.uint8)
    array[:2, 0] = 1
    assert refused(array).found.startswith("2 pixels belong to several classes")


def test_channels_must_fit_the_classes():
    array = one_hot(np.array([[0, 1]]), 2)
    fault = refused(array, Classes.numbered(5))
    assert fault.found == "2 channels"
    assert "5" in fault.expected


def test_channels_of_other_values_are_refused():
    assert "3 different values" in refused(np.array([[[0, 1]], [[2, 0]]])).found


def test_a_full_last_channel_is_opacity_in_pictures_and_a_class_elsewhere():
    array = np.stack([np.zeros((2, 2), np.uint8), np.full((2, 2), 255, np.uint8)])
    assert not decode_labels(array, None)[0].any()
    assert decode_labels(array, None, is_picture=False)[0].all()


def test_empty_channels_are_black_in_pictures_and_unclaimed_elsewhere():
    array = np.zeros((3, 2, 2), np.uint8)
    assert (decode_labels(array, Classes.numbered(3))[0] == 0).all()
    assert (decode_labels(array, Classes.numbered(3), is_picture=False)[0] == MISSING).all()


@given(
    arrays(
        st.sampled_from([np.uint8, np.int16, np.uint16, np.int64, np.uint64, np.bool_]),
        array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=6),
    )
)
def test_distinct_is_unique(values):
    assert np.array_equal(distinct(values), np.unique(values))


def test_a_stated_value_takes_the_place_of_the_declared_one():
    classes = declared("background", "lesion", unlabelled=255)
    found, rule = decode_labels(np.array([[[0, 255]]], np.uint8), classes, unlabelled=0)
    assert found.tolist() == [[MISSING, 1]]
    assert rule == "0 is background, 255 is foreground, 0 is unlabelled"
    items = (LabelClass("a", value=10), LabelClass("b", value=20))
    found, _ = decode_labels(np.array([[[7, 10, 20]]]), Classes(items, 99), unlabelled=7)
    assert found.tolist() == [[MISSING, 0, 1]]
    fault = refused([[[0, 1, 255]]], classes, unlabelled=0)
    assert "255" in fault.found
    assert "0, stated for this file, takes the place of 255" in fault.expected


def test_a_file_of_the_stated_value_alone_is_empty():
    assert (decode_labels(np.zeros((1, 2, 2), np.uint8), None, unlabelled=0)[0] == MISSING).all()
    fault = refused([[[0, -1]]], None, unlabelled=0)
    assert fault.found.startswith("nothing is labelled")


RED, GREEN = [0xFF, 0, 0], [0, 0xFF, 0]


@pytest.mark.parametrize(
    ("ground", "stated"), [([0, 0, 0], 0), ([255, 255, 255], 255), ([18, 52, 86], 0x123456)]
)
def test_a_stated_value_is_a_grey_or_a_colour_in_colour_files(ground, stated):
    classes = Classes((LabelClass("bg", "#00ff00"), LabelClass("a", "#ff0000")))
    array = np.array([ground, RED, GREEN], np.uint8).T[:, None]
    found, rule = decode_labels(array, classes, unlabelled=stated)
    assert found.tolist() == [[MISSING, 1, 0]]
    assert rule == f"colours of the classes, {stated} is unlabelled"


@pytest.mark.parametrize("n_classes", [None, 3, 4])
def test_where_a_stated_value_fills_all_channels_nothing_is_labelled(n_classes):
    classes = None if n_classes is None else Classes.numbered(n_classes)
    array = np.array([[0, 0, 0], RED, GREEN], np.uint8).T[:, None]
    first = 0 if n_classes == 3 else 1
    found, _ = decode_labels(array, classes, unlabelled=0)
    assert found.tolist() == [[MISSING, first, first + 1]]


@pytest.mark.parametrize("ground", [[0, 0, 0], [255, 255, 255]])
def test_transparent_pixels_of_a_drawing_are_unlabelled(ground):
    classes = Classes((LabelClass("bg", "#00ff00"), LabelClass("a", "#ff0000")))
    array = np.array([[*ground, 0], [*RED, 255], [*GREEN, 255]], np.uint8).T[:, None]
    found, rule = decode_labels(array, classes, may_be_transparent=True)
    assert found.tolist() == [[MISSING, 1, 0]]
    assert rule == "colours of the classes, transparent is unlabelled"


@pytest.mark.parametrize(("grey", "index"), [(0, 0), (1, 1), (255, 1)])
@pytest.mark.parametrize("copies", [1, 3])
def test_grey_strokes_on_transparent_ground_keep_their_value(grey, index, copies):
    array = np.array([[0] * copies + [0], [grey] * copies + [255]], np.uint8).T[:, None]
    assert decode_labels(array, None, may_be_transparent=True)[0].tolist() == [[MISSING, index]]


def test_half_transparent_pixels_are_refused():
    array = np.array([[0, 0], [255, 128], [255, 255]], np.uint8).T[:, None]
    fault = refused(array, None, may_be_transparent=True)
    assert fault.found == "1 pixels are half transparent"


def test_channels_of_classes_are_no_opacity():
    channels = one_hot(np.array([[0, 1, 2, 3]]), 4).astype(np.uint8) * 255
    found, _ = decode_labels(channels, Classes.numbered(4), may_be_transparent=True)
    assert found.tolist() == [[0, 1, 2, 3]]


def test_labels_are_not_changed_by_decoding():
    array = np.array([[[0, 255]]], np.uint8)
    decode_labels(array, None)
    assert array.tolist() == [[[0, 255]]]


def test_what_a_file_cannot_hold_is_refused():
    unlabelled = np.array([[0, MISSING]], np.int16)
    with pytest.raises(InputError, match="without negative values") as caught:
        encode_labels(unlabelled, None, signed=False)
    assert "classes.csv" in caught.value.faults[0].fix
    stored = encode_labels(unlabelled, declared("a", "b", unlabelled=255), signed=False)
    assert stored.tolist() == [[0, 255]]
    for index in (2, -2):
        with pytest.raises(InputError, match=f"unknown class index {index}"):
            encode_labels(np.array([[0, index]], np.int16), declared("a", "b"), signed=True)


@pytest.mark.parametrize(
    ("values", "kind"), [((0, 256), "u2"), ((0, 70000), "u4"), ((-9, 40000), "i4")]
)
def test_large_values_take_a_larger_type(values, kind):
    items = tuple(LabelClass(str(value), value=value) for value in values)
    stored = encode_labels(np.array([[0, 1]], np.int16), Classes(items), signed=True)
    assert stored.dtype == kind
    assert stored.tolist() == [list(values)]


def test_values_too_large_for_whole_numbers_are_no_label():
    with pytest.raises(InputError, match="as large as 1e\\+30"):
        decode_labels(np.full((1, 2, 2), 1e30), None, stray="nearest")


@pytest.mark.parametrize(
    ("n_values", "share", "is_image"),
    [(30, 0.9, True), (100, 0.9, True), (100, 0.05, True), (30, 0.05, False), (4, 0.9, False)],
)
def test_many_odd_values_make_an_image(n_values, share, is_image):
    array = np.zeros((1, 100, 100), dtype=np.uint8)
    array[0, :, 0] = 255
    n_odd = int(share * 10_000)
    array[0, :, 1:].flat[:n_odd] = np.resize(np.linspace(130, 254, n_values).astype(int), n_odd)
    assert ("looks like an image" in refused(array).fix) == is_image


@pytest.mark.parametrize("n_channels", [2, 4])
def test_black_drawings_on_transparency_are_no_class(n_channels):
    drawn = np.zeros((n_channels, 4, 4), dtype=np.uint8)
    drawn[-1, 1:3] = 255
    with pytest.raises(InputError, match="differs by its opacity alone"):
        decode_labels(drawn, None)
    declared = Classes.numbered(n_channels + 1)
    assert decode_labels(drawn, declared)[0].max() == n_channels
    assert decode_labels(drawn, None, is_picture=False)[0].max() == n_channels
