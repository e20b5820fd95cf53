"""Data sets of arrays in memory."""

import pickle

import numpy as np
import pytest

from multirater.errors import InputError
from multirater.io.arrays import dataset_from_arrays
from multirater.io.survey import survey
from multirater.types import MISSING, Classes, Geometry


@pytest.fixture
def labels():
    return np.random.default_rng(0).integers(-1, 3, (4, 2, 5, 6))


def faults_of(*args, **options):
    with pytest.raises(InputError) as caught:
        dataset_from_arrays(*args, **options)
    return caught.value.faults


def test_labels_images_truths_names_and_splits(labels):
    images = np.arange(4 * 3 * 5 * 6, dtype=np.float32).reshape(4, 3, 5, 6)
    data = dataset_from_arrays(
        labels,
        images=images,
        truths=labels[:, 0],
        raters=["jo", "kim"],
        cases=["a", "b", "c", "d"],
        splits=["train", "train", "test", "test"],
        spacing=(2, 0.5),
    )
    assert np.array_equal(data["b"].read_labels().array, labels[1])
    assert np.array_equal(data["b"].read_image().array, images[1])
    assert np.array_equal(data["c"].read_truth().array, labels[2, 0])
    assert [case.name for case in data.split("test")] == ["c", "d"]
    assert data["a"].read_label("kim").geometry.spacing == (2.0, 0.5)
    assert data.kind == "masks"
    survey(data)


def test_names_when_not_given(labels):
    data = dataset_from_arrays(np.concatenate([labels] * 3))
    assert data.raters == ("rater 1", "rater 2")
    assert [case.name for case in data][9:] == ["09", "10", "11"]


def test_images_without_channel_axis_get_one(labels):
    data = dataset_from_arrays(labels, images=np.zeros((4, 5, 6)))
    assert data[0].read_image().array.shape == (1, 5, 6)


def test_volumes_and_cases_of_different_size():
    labels = [np.zeros((2, 3, 4, 5), int), np.ones((2, 6, 4, 5), int)]
    data = dataset_from_arrays(labels, images=[np.zeros((3, 4, 5)), np.zeros((2, 6, 4, 5))])
    assert data[1].read_image().array.shape == (2, 6, 4, 5)
    assert data[0].read_labels().geometry == Geometry.default(3)


def test_a_rater_whose_whole_label_is_missing_did_not_label_the_case(labels):
    labels[1, 0] = MISSING
    assert list(dataset_from_arrays(labels)[1].labels) == ["rater 2"]


def test_classes_are_counted_over_labels_and_truths(labels):
    assert len(dataset_from_arrays(labels).classes) == 3
    assert len(dataset_from_arrays(labels, truths=np.full((4, 5, 6), 6)).classes) == 7
    assert len(dataset_from_arrays(labels * 0).classes) == 2
    assert dataset_from_arrays(labels, classes=Classes.numbered(9)).classes.names[8] == "class 8"


def test_bool_and_unsigned_labels(labels):
    data = dataset_from_arrays(labels > 0)
    assert np.array_equal(data[2].read_labels().array, labels[2] > 0)
    assert dataset_from_arrays(np.abs(labels).astype(np.uint64))[0].read_labels().array.min() >= 0


def test_what_is_masked_is_not_labelled(labels):
    masked = np.ma.masked_array(np.array(labels, dtype=int), False)
    masked[0, 0, 1, 1] = np.ma.masked
    case = next(iter(dataset_from_arrays(masked)))
    assert case.read_label("rater 1").array[1, 1] == MISSING


def test_names_that_are_none(labels):
    nothing = [None, float("nan"), "", "x"]
    data = dataset_from_arrays(labels, patients=nothing, diagnoses=nothing)
    assert [case.patient for case in data] == ["", "", "", "x"]
    assert [case.diagnosis for case in data] == ["", "", "", "x"]


def test_masks_as_image_files_store_them_are_not_taken_for_256_classes(labels):
    (fault,) = faults_of((labels > 0) * np.uint8(255))
    assert fault.found == "labels are 0 and 255, as image files store masks"


def test_class_labels_are_one_per_image():
    labels = np.array([[0, 2], [1, -1], [2, 2]])
    images = np.zeros((3, 3, 8, 9), np.uint8)
    data = dataset_from_arrays(labels, images=images, truths=np.array([0, 1, 2]))
    assert data.kind == "classes"
    assert data.classes.names == ("0", "1", "2")
    assert data[0].read_labels().array.tolist() == [0, 2]
    assert list(data[1].labels) == ["rater 1"]
    assert data[2].read_truth().array == 2
    assert data[0].read_image().array.shape == (3, 8, 9)
    assert survey(data).cases[1].rows.tolist() == [[1, -1]]


def test_it_pickles_and_leaves_the_arrays_alone(labels):
    before = labels.copy()
    data = pickle.loads(pickle.dumps(dataset_from_arrays(labels)))
    data[0].read_label("rater 1").array[:] = 7
    assert np.array_equal(labels, before)


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"images": np.zeros((3, 5, 6))}, "3 images"),
        ({"truths": np.zeros((5, 5, 6), int)}, "5 truths"),
        ({"cases": ["a"]}, "1 cases"),
        ({"cases": ["a", "b", "a", "c"]}, "two cases are called a"),
        ({"splits": ["train"]}, "1 splits"),
        ({"raters": ["jo", "jo"]}, "two raters are called jo"),
        ({"raters": ["jo"]}, "labels have shape (2, 5, 6)"),
    ],
)
def test_lists_that_do_not_fit(labels, options, found):
    faults = faults_of(labels, **options)
    assert faults[0].found == found
    assert faults[0].expected or faults[0].fix


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"images": np.zeros((4, 6, 5))}, "image has size 6 x 5"),
        ({"images": np.zeros((4, 5, 6, 3))}, "image has size 5 x 6 x 3"),
        ({"images": np.full((4, 5, 6), "a")}, "image is of type <U1"),
        ({"images": np.zeros((4, 5, 6), complex)}, "image is of type complex128"),
        ({"truths": np.zeros((4, 6, 5), int)}, "truth has size 6 x 5"),
        ({"truths": np.zeros((4, 5, 6))}, "labels are of type float64"),
        ({"truths": np.full((4, 5, 6), -2)}, "class indices from -2 to -2"),
        ({"spacing": (1, 1, 1)}, "spacing has 3 values"),
        ({"classes": Classes.numbered(2)}, "class indices from -1 to 2"),
    ],
)
def test_values_that_do_not_fit_are_listed_for_every_case(labels, options, found):
    faults = faults_of(labels, **options)
    assert [fault.case for fault in faults] == ["0", "1", "2", "3"]
    assert all(found in fault.found and fault.expected for fault in faults)


@pytest.mark.parametrize("step", [0, -1, np.nan, np.inf, 1e-12, "a", None])
def test_a_spacing_that_no_image_has_is_refused(labels, step):
    (fault,) = faults_of(labels, spacing=(1.5, step))
    assert fault.found.startswith("spacing is [1.5, ")


@pytest.mark.parametrize("labels", [[], np.zeros((0, 2, 5, 6), int)])
def test_an_empty_data_set(labels):
    assert faults_of(labels)[0].found == "the data set is empty"


@pytest.mark.parametrize("shape", [(4, 2, 5), (4, 2, 2, 5, 6, 7), (4,)])
def test_labels_of_no_known_shape(shape):
    assert "shape" in faults_of(np.zeros(shape, int))[0].found


@pytest.mark.parametrize("values", [np.nan, 0.0])
def test_labels_of_floating_point(values):
    (fault,) = faults_of(np.full((1, 1, 2, 2), values))
    assert "-1 instead of NaN" in fault.fix


def test_indices_too_large_for_labels_do_not_wrap_around():
    assert "70000" in faults_of(np.full((1, 1, 2, 2), 70_000))[0].found


def test_a_rater_without_any_label_is_named(labels):
    labels[:, 1] = MISSING
    (fault,) = faults_of(labels, raters=["jo", "kim"])
    assert (fault.rater, fault.found) == ("kim", "rater has no labels")
