"""Dice and IoU against SimpleITK, scikit-learn and MONAI."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from multirater.errors import InputError
from multirater.metrics import (
    class_dice_scores,
    class_iou_scores,
    dice_score,
    iou_score,
    mean_iou_score,
    soft_dice_score,
)

N_CLASSES = 4


@st.composite
def label_pairs(draw, lowest=0):
    shape = draw(array_shapes(min_dims=1, max_dims=3, max_side=6))
    labels = arrays(np.int16, shape, elements=st.integers(lowest, N_CLASSES - 1))
    return draw(labels), draw(labels)


@settings(deadline=None)
@given(label_pairs())
def test_classes_agree_with_simpleitk(pair):
    import SimpleITK as sitk

    reference, prediction = (np.atleast_2d(each).astype(np.uint8) for each in pair)
    measure = sitk.LabelOverlapMeasuresImageFilter()
    measure.Execute(sitk.GetImageFromArray(reference), sitk.GetImageFromArray(prediction))
    dice = class_dice_scores(reference, prediction, N_CLASSES)
    iou = class_iou_scores(reference, prediction, N_CLASSES)
    for label in range(1, N_CLASSES):
        if (reference == label).any() or (prediction == label).any():
            assert dice[label] == pytest.approx(measure.GetDiceCoefficient(label), abs=1e-12)
            assert iou[label] == pytest.approx(measure.GetJaccardCoefficient(label), abs=1e-12)
        else:
            assert dice[label] == iou[label] == 1.0


@settings(deadline=None)
@given(label_pairs())
def test_means_agree_with_scikit_learn(pair):
    from sklearn.metrics import f1_score, jaccard_score

    reference, prediction = (each.ravel() for each in pair)
    present = np.union1d(reference, prediction)
    assert mean_iou_score(*pair) == pytest.approx(
        jaccard_score(reference, prediction, labels=present, average="macro", zero_division=0)
    )
    foreground = present[present > 0]
    if foreground.size:
        options = {"labels": foreground, "average": "macro", "zero_division": 0}
        assert dice_score(*pair) == pytest.approx(f1_score(reference, prediction, **options))
        assert iou_score(*pair) == pytest.approx(jaccard_score(reference, prediction, **options))


def test_binary_masks_agree_with_monai():
    import torch
    from monai.metrics import compute_dice, compute_iou

    masks = np.random.default_rng(0).random((2, 20, 30)) < 0.3
    reference, prediction = (torch.from_numpy(mask[None, None]) for mask in masks)
    assert dice_score(*masks) == pytest.approx(compute_dice(prediction, reference).item())
    assert iou_score(*masks) == pytest.approx(compute_iou(prediction, reference).item())


@settings(deadline=None)
@given(label_pairs(lowest=-1))
def test_missing_pixels_are_left_out(pair):
    known = (pair[0] >= 0) & (pair[1] >= 0)
    kept = [each[known] for each in pair]
    for score in (dice_score, iou_score, mean_iou_score):
        np.testing.assert_equal(score(*pair), score(*kept))
    np.testing.assert_array_equal(
        class_dice_scores(*pair, N_CLASSES), class_dice_scores(*kept, N_CLASSES)
    )


@settings(deadline=None)
@given(label_pairs(lowest=-1))
def test_dimension_and_order_of_arguments_do_not_matter(pair):
    flat = [each.ravel() for each in pair]
    for score in (dice_score, iou_score, mean_iou_score):
        np.testing.assert_equal(score(*pair), score(*flat))
        np.testing.assert_equal(score(*pair), score(*pair[::-1]))


@settings(deadline=None)
@given(label_pairs(), st.integers(0, N_CLASSES - 1))
def test_one_class_is_its_entry_among_all(pair, label):
    assert dice_score(*pair, foreground=label) == class_dice_scores(*pair, N_CLASSES)[label]
    assert iou_score(*pair, foreground=label) == class_iou_scores(*pair, N_CLASSES)[label]


@settings(deadline=None)
@given(label_pairs(), st.integers(0, N_CLASSES - 1))
def test_dice_and_iou_tell_the_same(pair, label):
    iou = iou_score(*pair, foreground=label)
    assert dice_score(*pair, foreground=label) == pytest.approx(2 * iou / (1 + iou))


def test_both_empty_is_a_perfect_match():
    assert dice_score([0, 0], [0, 0]) == iou_score([0, 0], [0, 0]) == 1.0


def test_one_empty_is_no_match():
    assert dice_score([0, 0], [0, 1]) == iou_score([0, 1], [0, 0]) == 0.0


def test_nothing_in_common_to_compare_is_nan():
    assert np.isnan(dice_score([-1, 1], [1, -1]))
    assert np.isnan(mean_iou_score([-1, 1], [1, -1]))
    assert np.isnan(class_dice_scores([-1, 1], [1, -1], 2)).all()


def test_a_mask_of_255_is_measured_as_one_class():
    mask = np.array([0, 255, 255, 0], dtype=np.uint8)
    assert dice_score(mask, mask[::-1]) == 1.0


def test_the_highest_value_of_a_narrow_type_does_not_overflow():
    labels = np.array([127, 0, 127], dtype=np.int8)
    assert dice_score(labels, labels) == 1.0


def test_soft_dice_by_hand():
    reference, predicted = [0.0, 0.2, 0.6, 1.0], [0.0, 0.6, 0.2, 1.0]
    # Masks above 0.1 are equal; from 0.3 to 0.5 they share one of two pixels; then they are equal.
    assert soft_dice_score(reference, predicted) == pytest.approx((1 + 0.5 + 0.5 + 1 + 1) / 5)


def test_soft_dice_cuts_strictly_above_the_threshold():
    assert soft_dice_score([0.5, 1.0], [0.0, 1.0], thresholds=(0.5,)) == 1.0


@settings(deadline=None)
@given(arrays(np.float64, (2, 5, 4), elements=st.floats(0, 1)), st.floats(0.05, 0.95))
def test_soft_dice_at_one_threshold_is_the_f1_score(maps, threshold):
    from sklearn.metrics import f1_score

    masks = maps.reshape(2, -1) > threshold
    expected = f1_score(*masks, zero_division=1.0)
    assert soft_dice_score(*maps, thresholds=(threshold,)) == pytest.approx(expected)


def test_soft_dice_leaves_unknown_pixels_out():
    assert soft_dice_score([0.0, 1.0, np.nan], [0.0, 1.0, 1.0]) == 1.0
    assert np.isnan(soft_dice_score([np.nan], [1.0]))


def test_refuses_maps_of_different_size():
    with pytest.raises(InputError, match="same shape"):
        dice_score(np.zeros((2, 3)), np.zeros((3, 2)))


def test_refuses_a_foreground_that_is_no_class():
    with pytest.raises(InputError, match="foreground -1"):
        dice_score([0, 1], [0, 1], foreground=-1)
