"""Whatever form labels come in, the same problem is posed."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multirater import fuse
from multirater.errors import InputError, MultiraterWarning
from multirater.fuse.problem import class_indices, pose

pytestmark = pytest.mark.filterwarnings("ignore::multirater.errors.MultiraterWarning")

# Equal steps, so that noise in the last digit does not decide when to stop.
EM_FUSERS = [
    partial(fuser, max_iter=15, tol=-1.0)
    for fuser in (fuse.staple, fuse.dawid_skene, fuse.one_coin, fuse.mace)
]
fusers = st.sampled_from([fuse.mean, fuse.majority_vote, *EM_FUSERS])
seeds = st.integers(0, 100_000)


def _assert_same_raters(first, second):
    assert np.allclose(first.cm, second.cm, rtol=0, atol=1e-9)
    assert np.allclose(first.prior, second.prior, rtol=0, atol=1e-9)
    assert np.allclose(first.counts, second.counts, rtol=1e-9, atol=1e-9)


@settings(max_examples=30)
@given(fuser=fusers, seed=seeds)
def test_weights_equal_repetition(fuser, seed, plant):
    _, labels = plant(seed, n_items=30, missing=0.2)
    times = np.random.default_rng(seed).integers(0, 4, 30)
    times[0] = 1
    weighted = fuser(labels, 3, weights=times)
    repeated = fuser(np.repeat(labels, times, axis=1), 3)
    _assert_same_raters(weighted, repeated)
    assert weighted.n_ties == repeated.n_ties
    assert np.array_equal(np.repeat(weighted.label, times), repeated.label)


@settings(max_examples=30)
@given(fuser=fusers, seed=seeds, shapes=st.lists(st.sampled_from([(4, 5), (3,), (2, 3, 4)])))
def test_pooled_cases_equal_their_concatenation(fuser, seed, shapes, plant):
    shapes = [(6, 6), *shapes]
    ends = np.cumsum([np.prod(shape) for shape in shapes])
    _, labels = plant(seed, n_items=ends[-1], missing=0.2)
    cases = [
        part.reshape(len(labels), *shape)
        for part, shape in zip(np.split(labels, ends[:-1], axis=1), shapes, strict=True)
    ]
    pooled, whole = fuser(cases, 3, pooled=True), fuser(labels, 3)
    _assert_same_raters(pooled, whole)
    assert [label.shape for label in pooled.label] == shapes
    assert np.array_equal(np.concatenate([label.ravel() for label in pooled.label]), whole.label)
    probability = np.concatenate([each.reshape(3, -1) for each in pooled.probability], axis=1)
    assert np.allclose(probability, whole.probability, atol=1e-6)


@settings(max_examples=30)
@given(fuser=fusers, seed=seeds)
def test_roi_equals_estimating_from_the_crop(fuser, seed, plant):
    _, labels = plant(seed, n_items=80, missing=0.1)
    labels = labels.reshape(5, 8, 10)
    roi = np.zeros((8, 10), dtype=bool)
    roi[1:7, 2:9] = True
    inside, crop = fuser(labels, 3, roi=roi), fuser(labels[:, 1:7, 2:9], 3)
    _assert_same_raters(inside, crop)
    assert np.array_equal(inside.label[1:7, 2:9], crop.label)
    # The label is given everywhere, and nobody counts outside.
    assert np.array_equal(inside.label != -1, (labels != -1).any(0))


@settings(max_examples=30)
@given(fuser=fusers, seed=seeds)
def test_gold_labels_are_honoured(fuser, seed, plant):
    truth, labels = plant(seed, n_items=60, skill=(0.2, 0.6), missing=0.2)
    gold = np.where(np.random.default_rng(seed).random(60) < 0.4, truth, -1)
    labels[:, 0], gold[0] = -1, 2  # known although nobody labelled it
    result = fuser(labels, 3, gold=gold)
    known = gold != -1
    assert np.array_equal(result.label[known], gold[known])
    assert np.allclose(result.probability[gold[known], known], 1)


@pytest.mark.parametrize("fuser", [fuse.staple, fuse.dawid_skene, fuse.mean, fuse.majority_vote])
def test_with_the_whole_truth_known_matrices_are_plain_counts(fuser, plant):
    truth, labels = plant(3, n_items=300)
    result = fuser(labels, gold=truth)
    for rater, label in enumerate(labels):
        for t in range(3):
            expected = np.bincount(label[truth == t], minlength=3) / (truth == t).sum()
            assert np.allclose(result.cm[rater, t], expected, atol=1e-9)


def test_gold_helps_where_raters_mislead():
    """Three of five raters swap the classes; a few known items turn the tables."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 400)
    swapped = np.array([0, 0, 1, 1, 1])[:, None]
    labels = (truth ^ swapped) ^ (rng.random((5, 400)) < 0.1)
    gold = np.where(np.arange(400) < 60, truth, -1)
    assert (fuse.dawid_skene(labels).label == truth).mean() < 0.2
    assert (fuse.dawid_skene(labels, gold=gold).label == truth)[60:].mean() > 0.95


def test_gold_of_a_table(plant, long_table):
    truth, labels = plant(4, n_items=50, skill=(0.2, 0.5))
    gold = {task: truth[task] for task in range(0, 50, 3)}
    for given_as in (gold, pd.Series(gold)):
        result = fuse.dawid_skene(long_table(labels), gold=given_as)
        assert result.label.loc[list(gold)].to_dict() == gold


def test_gold_may_name_a_class_nobody_used():
    labels = np.array([[0, 1, 0], [0, 1, 1]])
    assert fuse.staple(labels, gold=np.array([-1, -1, 2])).label.tolist() == [0, 1, 2]
    table = pd.DataFrame({"task": [1, 1, 2], "worker": [1, 2, 1], "label": ["a", "b", "b"]})
    result = fuse.dawid_skene(table, gold={2: "c"})
    assert result.classes == ("a", "b", "c")
    assert result.label[2] == "c"


def test_gold_may_hold_nan():
    labels = np.array([[0, 1, 0], [0, 1, 1]])
    result = fuse.staple(labels, gold=np.array([np.nan, np.nan, 1]))
    assert result.label.tolist() == [0, 1, 1]


def test_pooled_gold_and_roi_come_one_per_case(plant):
    truth, labels = plant(5, n_items=40, skill=(0.3, 0.6))
    cases = np.split(labels, 2, axis=1)
    golds = [np.where(np.arange(20) < 5, part, -1) for part in np.split(truth, 2)]
    roi = [np.ones(20, dtype=bool), np.arange(20) < 10]
    result = fuse.staple(cases, pooled=True, gold=golds, roi=roi)
    for label, gold in zip(result.label, golds, strict=True):
        assert np.array_equal(label[:5], gold[:5])
    assert result.counts.sum() == pytest.approx(5 * 30)


def test_many_raters_and_classes_are_no_obstacle(plant):
    truth, labels = plant(6, n_raters=40, n_items=300, n_classes=12, missing=0.3)
    assert (fuse.staple(labels).label == truth).mean() > 0.99


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gold": np.zeros((2, 2), dtype=int)}, "gold labels: shape"),
        ({"gold": np.full(4, 7), "n_classes": 2}, "label 7 with 2 classes"),
        ({"roi": np.ones(5)}, "region of interest: shape"),
        ({"weights": np.ones(5)}, "weights: shape"),
        ({"weights": np.array([1, 1, -1, 1])}, "weights below zero"),
        ({"raters": ["a"]}, "1 names for 2 raters"),
        ({"n_classes": 2, "classes": ["a", "b", "c"]}, "3 names for 2 classes"),
    ],
)
def test_what_does_not_fit_the_labels(options, message):
    with pytest.raises(InputError, match=message):
        fuse.staple(np.array([[0, 1, 0, 1], [0, 1, 1, 1]]), **options)


def test_pooled_cases_need_the_same_raters():
    cases = [np.zeros((2, 4), dtype=int), np.zeros((3, 4), dtype=int)]
    with pytest.raises(InputError, match=r"cases have \[2, 3\] raters"):
        fuse.staple(cases, pooled=True)
    with pytest.raises(InputError, match="gold labels for 1 cases"):
        fuse.staple([cases[0]] * 2, pooled=True, gold=[np.zeros(4, dtype=int)])


@pytest.mark.parametrize("name", ["roi", "weights", "pooled"])
def test_a_table_has_no_pixels(name):
    table = pd.DataFrame({"task": [1], "worker": [1], "label": [0]})
    with pytest.raises(InputError, match=f"{name} given with a table"):
        fuse.staple(table, **{name: True})


def test_class_indices_of_any_type():
    assert class_indices(np.array([True, False])).tolist() == [1, 0]
    assert class_indices([0.0, np.nan, 2.0]).tolist() == [0, -1, 2]
    drawn = np.array([0, 1], dtype=np.uint8)
    assert class_indices(drawn) is drawn


def test_items_of_one_pattern_share_a_row():
    labels = np.zeros((3, 50, 50), dtype=np.int8)
    labels[:, :10] = 1
    labels[0, :5] = 0
    problem = pose(labels)
    assert len(problem.answers) == 3
    assert problem.answers.weight.sum() == 2500


def test_masks_as_image_files_store_them_are_not_taken_for_256_classes():
    import numpy as np
    import pytest

    from multirater import fuse
    from multirater.errors import InputError

    masks = np.array([[0, 255, 255], [0, 0, 255]], dtype=np.uint8)
    with pytest.raises(InputError, match="masks > 0"):
        fuse.majority_vote(masks)
    assert fuse.majority_vote(masks > 0).label.tolist() == [0, 0, 1]


def test_numbers_that_are_hardly_classes_are_refused_before_memory_is_taken():
    labels = np.array([[0, 1, 1, 0], [0, 1, 0, 0], [1, 1, 1, 0]])
    with pytest.raises(InputError, match="30001 classes"):
        fuse.majority_vote(labels * 30000)
    with pytest.raises(InputError, match=str(2**63)):
        fuse.majority_vote(labels.astype(np.uint64) * np.uint64(2**63))


def test_a_table_of_texts_is_no_table_of_classes():
    table = pd.DataFrame({"task": range(3000), "rater": "anna", "label": range(3000)})
    with pytest.raises(InputError, match="3000 different labels"):
        fuse.dawid_skene(table)


@pytest.mark.parametrize("n_classes", [0, -1, 2.5, "2"])
def test_numbers_of_classes_that_cannot_be(n_classes):
    with pytest.raises(InputError, match="n_classes is"):
        fuse.majority_vote(np.zeros((2, 4), dtype=int), n_classes)


@pytest.mark.parametrize("axis", [2, -3])
def test_an_axis_of_raters_that_is_none_is_refused(axis):
    with pytest.raises(InputError, match=f"rater_axis is {axis}"):
        pose(np.eye(3, dtype=int), rater_axis=axis)


def test_raters_of_one_name_are_refused():
    with pytest.raises(InputError, match="two raters are called a"):
        pose(np.eye(3, dtype=int), raters=["a", "b", "a"])


@pytest.mark.parametrize("roi", [[1, np.nan, 0, 1.0], ["a", "b", "c", "d"]])
def test_a_region_is_numbers(roi):
    with pytest.raises(InputError, match="roi holds something else"):
        fuse.staple(np.array([[0, 1, 1, 0], [1, 1, 1, 0]]), roi=np.array(roi))


@pytest.mark.parametrize("nothing", [{"roi": np.zeros(3, bool)}, {"weights": np.zeros(3)}])
def test_a_region_or_weights_that_leave_nothing_are_refused(nothing):
    with pytest.raises(InputError, match="leave no label that counts"):
        fuse.staple(np.array([[0, 1, 1]] * 3), **nothing)


def test_classes_outside_of_the_region_alone_are_told():
    labels = np.array([[0, 0, 0, 1, 1]] * 3)
    with pytest.warns(MultiraterWarning, match="1 is drawn outside of the region"):
        fuse.staple(labels, roi=np.array([1, 1, 1, 0, 0], bool))
