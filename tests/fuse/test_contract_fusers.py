"""What holds for every fusion method, whatever it assumes about the raters."""

import warnings
from functools import partial
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multirater import fuse
from multirater.errors import InputError, MultiraterWarning
from multirater.fuse.methods import METHODS, NEEDS_SPACE
from multirater.types import Geometry, Labels

OPTIONS = {"spatial-staple": {"window": 7}}
"""What methods need to work on images as small as these."""

FUSERS = {
    name: partial(getattr(fuse, name.replace("-", "_")), **OPTIONS.get(name, {}))
    for name in METHODS
}
TABLE_FUSERS = {name: fuser for name, fuser in FUSERS.items() if name not in NEEDS_SPACE}
EM = [name for name in TABLE_FUSERS if "max_iter" in signature(METHODS[name]).parameters]
WITH_BACKGROUND = {"weighted-vote"}
"""Methods to which class 0 is not like the others: Dice, which weighs raters, leaves it out."""

SHAPES = {"1-D": (60,), "2-D": (9, 11), "3-D": (5, 6, 7)}

pytestmark = pytest.mark.filterwarnings("ignore::multirater.errors.MultiraterWarning")


@pytest.fixture(params=FUSERS)
def fuser(request):
    return FUSERS[request.param]


@pytest.fixture(params=TABLE_FUSERS)
def table_fuser(request):
    return TABLE_FUSERS[request.param]


@pytest.fixture(params=SHAPES)
def shape(request):
    return SHAPES[request.param]


def strictly(fuser, labels, *args, **options):
    """Fuse, and fail on any floating-point warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        return fuser(labels, *args, **options)


def assert_sound(result, labels, n_classes):
    """Shapes, finiteness and normalisation of an array result."""
    n_raters, *space = labels.shape
    assert result.label.shape == tuple(space)
    assert result.label.dtype == np.int16
    assert result.probability.shape == (n_classes, *space)
    assert result.cm.shape == result.counts.shape == (n_raters, n_classes, n_classes)
    assert np.isfinite(result.probability).all()
    assert np.allclose(result.probability.sum(0), 1, atol=1e-5)
    assert (result.cm >= 0).all()
    assert np.allclose(result.cm.sum(2), 1)
    assert np.isfinite(result.log_likelihood).all()
    assert np.isfinite(result.prior).all()
    assert result.prior.sum() == pytest.approx(1)


def test_perfect_raters_recover_the_truth(fuser, shape):
    truth = np.random.default_rng(0).integers(0, 3, shape)
    result = fuser(np.stack([truth] * 3))
    assert np.array_equal(result.label, truth)
    assert np.allclose(result.cm, np.eye(3), atol=0.01)
    assert result.probability.max(0).min() > 0.9


def test_good_raters_recover_nearly_all_of_it(fuser, blobs):
    truth, labels = blobs(3, (40, 40), n_raters=5, n_classes=3, noise=(0.05, 0.2))
    assert (fuser(labels).label == truth).mean() > 0.97


def test_shapes_and_attributes(fuser, shape, blobs):
    _, labels = blobs(1, shape, n_classes=3)
    result = fuser(labels, raters=list("abcd"), classes=["air", "fat", "bone"])
    assert_sound(result, labels, 3)
    assert result.raters == ("a", "b", "c", "d")
    assert result.classes == ("air", "fat", "bone")
    assert len(result.log_likelihood) == result.n_iter
    assert result.converged is True
    assert result.skill == pytest.approx([np.diag(cm).mean() for cm in result.cm])
    assert result.identifiability.raters == result.raters
    assert result.method in FUSERS
    assert result.version


def test_names_are_numbers_when_not_given(fuser, blobs):
    result = fuser(blobs(1, (8, 8), n_classes=3)[1])
    assert result.raters == (0, 1, 2, 3)
    assert result.classes == (0, 1, 2)


def test_permuting_raters_permutes_the_result(fuser, blobs):
    _, labels = blobs(4, (20, 21), n_raters=5, n_classes=3)
    order = [3, 0, 4, 1, 2]
    result, permuted = fuser(labels), fuser(labels[order])
    assert np.array_equal(result.label, permuted.label)
    assert np.allclose(result.cm[order], permuted.cm, atol=1e-6)
    assert np.allclose(result.probability, permuted.probability, atol=1e-5)


@pytest.mark.parametrize("name", [name for name in FUSERS if name not in WITH_BACKGROUND])
def test_permuting_classes_permutes_the_result(name, blobs):
    fuser = FUSERS[name]
    _, labels = blobs(5, (20, 21), n_raters=5)
    to = np.array([1, 0])
    result, permuted = fuser(labels), fuser(to[labels])
    assert np.allclose(result.probability, permuted.probability[to], atol=1e-5)
    assert np.allclose(result.cm, permuted.cm[:, to][:, :, to], atol=1e-6)


def test_a_rater_without_labels_changes_nothing(fuser, blobs):
    _, labels = blobs(6, (16, 17), n_raters=3)
    without = fuser(labels)
    nobody = np.full((1, 16, 17), -1)
    result = fuser(np.concatenate([labels.astype(int), nobody]))
    assert np.array_equal(result.label, without.label)
    assert np.allclose(result.probability, without.probability, atol=1e-6)
    assert np.allclose(result.cm[:3], without.cm, atol=1e-9)
    assert result.counts[3].sum() == 0


def test_missing_pixels_are_not_background(fuser):
    truth = np.zeros((12, 12), dtype=int)
    truth[2:10, 2:10] = 1
    labels = np.stack([truth] * 3)
    # Two of three raters labelled the upper half only; counted as background they would outvote.
    labels[1:, 6:] = -1
    result = fuser(labels)
    assert np.array_equal(result.label, truth)
    assert result.counts[1].sum() == pytest.approx(6 * 12)
    assert result.counts[0].sum() == pytest.approx(12 * 12)


def test_pixels_nobody_labelled_stay_unlabelled(fuser):
    labels = np.tile(np.array([0, 1, 0, 1, 1]), (3, 1))
    labels[:, 2] = -1
    result = strictly(fuser, labels)
    assert result.label.tolist() == [0, 1, -1, 1, 1]
    assert result.probability[:, 2].sum() == pytest.approx(1)


def test_missing_can_be_nan(fuser, blobs):
    labels = blobs(7, (9, 10))[1].astype(float)
    labels[0, :3] = np.nan
    with_minus_one = np.where(np.isnan(labels), -1, labels).astype(int)
    result, expected = fuser(labels), fuser(with_minus_one)
    assert np.array_equal(result.label, expected.label)
    assert np.array_equal(result.cm, expected.cm)


def test_a_single_rater_is_followed(fuser):
    drawn = np.random.default_rng(1).integers(0, 3, (6, 7))
    result = strictly(fuser, drawn[None])
    assert np.array_equal(result.label, drawn)
    assert_sound(result, drawn[None], 3)


@pytest.mark.parametrize("said", [[[0, 1, 1]], [[0, 1, 1], [-1, -1, -1]]])
def test_a_single_rater_is_followed_whatever_class_they_say_most(fuser, said):
    labels = np.array(said)[:, :, None].repeat(4, 2)
    assert np.array_equal(fuser(labels).label, labels[0])


def test_input_is_not_changed(fuser, blobs):
    _, labels = blobs(8, (12, 12))
    labels = labels.astype(np.int16)
    labels[0, 0] = -1
    before = labels.copy()
    labels.flags.writeable = False
    fuser(labels)
    assert np.array_equal(labels, before)


def test_same_input_same_output(fuser, blobs):
    _, labels = blobs(9, (15, 15), n_classes=3)
    first, second = fuser(labels), fuser(labels)
    assert np.array_equal(first.probability, second.probability)
    assert np.array_equal(first.cm, second.cm)
    assert np.array_equal(first.log_likelihood, second.log_likelihood)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int16, np.int64, np.float32])
def test_label_type_does_not_matter(fuser, dtype, blobs):
    _, labels = blobs(10, (10, 10))
    result, expected = fuser(labels.astype(dtype)), fuser(labels.astype(np.int32))
    assert np.array_equal(result.label, expected.label)
    assert np.array_equal(result.probability, expected.probability)


@pytest.mark.parametrize("n_raters", [1, 2, 5])
@pytest.mark.parametrize("value", [0, 1])
def test_all_empty_and_all_full(fuser, value, n_raters):
    labels = np.full((n_raters, 6, 6), value)
    result = strictly(fuser, labels)
    assert_sound(result, labels, 2)
    assert (result.label == value).all()
    assert result.probability[value].min() > 0.9
    # Every label was right; of the class that never occurs nothing is known.
    assert result.cm[:, value, value].min() > 0.9


@pytest.mark.parametrize("n_classes", [2, 5])
def test_unanimous_raters_are_believed(fuser, n_classes):
    truth = np.arange(36).reshape(6, 6) % 2
    labels = np.stack([truth] * 4)
    result = strictly(fuser, labels, n_classes)
    assert_sound(result, labels, n_classes)
    assert np.array_equal(result.label, truth)


@pytest.mark.parametrize("votes", [[0], [1], [0, 1], [1, 1, 0], [2, 0, 2]])
def test_one_voxel(fuser, votes):
    labels = np.array(votes).reshape(-1, 1, 1)
    n_classes = max(2, max(votes) + 1)
    result = strictly(fuser, labels)
    assert_sound(result, labels, n_classes)
    assert result.label.item() in votes


def test_two_of_five_classes_present(fuser, blobs):
    truth, labels = blobs(11, (20, 20), n_raters=5, noise=(0.02, 0.1))
    labels = np.where(labels == 1, 3, 1)
    result = strictly(fuser, labels, 5)
    assert_sound(result, labels, 5)
    assert set(np.unique(result.label)) == {1, 3}
    assert (result.label == np.where(truth == 1, 3, 1)).mean() > 0.97
    assert result.probability[[0, 2, 4]].max() < 0.01
    assert np.allclose(result.counts[:, [0, 2, 4]], 0)


def test_nobody_labelled_anything(fuser):
    labels = np.full((3, 4, 4), -1)
    result = strictly(fuser, labels)
    assert_sound(result, labels, 2)
    assert (result.label == -1).all()


def test_labels_with_names_of_their_own(fuser, blobs):
    _, array = blobs(12, (8, 9), n_raters=2)
    labels = Labels(array.astype(np.int16), ("anna", "ben"), Geometry.default(2))
    result = fuser(labels)
    assert result.raters == ("anna", "ben")
    assert np.array_equal(result.label, fuser(array).label)


@settings(max_examples=25)
@given(
    name=st.sampled_from(list(FUSERS)),
    seed=st.integers(0, 10_000),
    n_raters=st.integers(1, 6),
    n_classes=st.integers(2, 4),
    side=st.integers(1, 6),
    missing=st.sampled_from([0.0, 0.3, 0.9]),
)
def test_any_labels_give_finite_results(name, seed, n_raters, n_classes, side, missing, plant):
    _, labels = plant(
        seed,
        n_raters=n_raters,
        n_classes=n_classes,
        n_items=side * side,
        skill=(0, 1),
        missing=missing,
    )
    labels = labels.reshape(n_raters, side, side)
    result = strictly(FUSERS[name], labels, n_classes)
    assert_sound(result, labels, n_classes)
    labelled = (labels != -1).any(0)
    assert np.array_equal(result.label != -1, labelled)


def test_long_wide_and_array_agree(table_fuser, plant, long_table):
    _, labels = plant(13, n_raters=4, n_items=80, missing=0.2)
    array = table_fuser(labels)
    wide = pd.DataFrame(np.where(labels == -1, np.nan, labels).T)
    for table in (long_table(labels), wide, wide.fillna(-1).astype(int)):
        result = table_fuser(table, raters=range(4))
        assert result.raters == array.raters
        assert result.classes == array.classes
        assert isinstance(result.label, pd.Series)
        assert isinstance(result.probability, pd.DataFrame)
        assert list(result.probability.columns) == [0, 1, 2]
        assert np.allclose(result.cm, array.cm, atol=1e-9)
        assert np.allclose(result.prior, array.prior, atol=1e-9)
        in_order = result.label.reindex(range(80)).to_numpy()
        assert np.array_equal(in_order, array.label)
        probability = result.probability.reindex(range(80)).to_numpy()
        assert np.allclose(probability, array.probability.T, atol=1e-6)
        assert np.allclose(result.log_likelihood, array.log_likelihood)


def test_rater_axis_of_wide_arrays(table_fuser, plant):
    _, labels = plant(14, n_items=50, missing=0.1)
    result, expected = table_fuser(labels.T, rater_axis=1), table_fuser(labels)
    assert np.array_equal(result.label, expected.label)
    assert np.array_equal(result.cm, expected.cm)


@pytest.mark.parametrize("column", ["rater", "worker", "annotator"])
def test_rater_column_has_many_names(table_fuser, column, plant, long_table):
    _, labels = plant(15, n_items=30)
    result = table_fuser(long_table(labels, column))
    assert result.label.index.name == "task"
    assert len(result.label) == 30


def test_words_as_labels(table_fuser):
    table = pd.DataFrame(
        {
            "task": ["t1"] * 3 + ["t2"] * 3 + ["t3"] * 3,
            "worker": ["anna", "ben", "carl"] * 3,
            "label": ["cat", "cat", "cat", "dog", "dog", "cat", "dog", "dog", "dog"],
        }
    )
    result = table_fuser(table)
    assert result.classes == ("cat", "dog")
    assert result.raters == ("anna", "ben", "carl")
    assert result.label.to_dict() == {"t1": "cat", "t2": "dog", "t3": "dog"}
    assert result.probability.loc["t1", "cat"] > 0.5


def test_a_table_with_one_label_only(table_fuser):
    table = pd.DataFrame({"task": [1, 1, 2], "worker": ["a", "b", "a"], "label": ["yes"] * 3})
    result = strictly(table_fuser, table)
    assert result.label.tolist() == ["yes", "yes"]
    assert np.allclose(result.cm, 1)


@pytest.mark.parametrize("name", EM)
def test_too_few_iterations_are_told(name, plant):
    _, labels = plant(16, skill=(0.3, 0.6))
    with pytest.warns(MultiraterWarning, match="before it converged") as caught:
        result = FUSERS[name](labels, max_iter=2)
    assert result.converged is False
    assert result.n_iter == len(result.log_likelihood) == 2
    told = next(each for each in caught if "before it converged" in str(each.message))
    assert told.filename == __file__


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.full((2, 3), 0.5), "fractions"),
        (np.array([["a", "b"]]), "type"),
        (np.array([[0, -2]]), "label -2"),
        (np.empty((0, 4), dtype=int), "shape"),
    ],
)
def test_labels_that_cannot_be_fused(fuser, labels, message):
    with pytest.raises(InputError, match=message):
        fuser(labels)


def test_a_label_outside_the_classes(fuser):
    with pytest.raises(InputError, match="label 4 with 3 classes"):
        fuser(np.array([[0, 4]]), 3)
