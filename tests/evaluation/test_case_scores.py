import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from multirater import metrics
from multirater.evaluation.case_scores import compare

CLASSES = ("background", "edema", "core")


def maps(*, missing=True):
    """Two label maps of the same size."""
    elements = st.integers(-1 if missing else 0, 2)
    return npst.array_shapes(min_dims=2, max_dims=3, max_side=4).flatmap(
        lambda shape: st.tuples(*[npst.arrays(np.int16, shape, elements=elements)] * 2)
    )


@given(maps())
def test_overlaps_are_those_of_the_metrics(pair):
    found = compare(*pair, CLASSES)
    for measure, total, of_class in (
        ("Dice", metrics.dice_score, metrics.class_dice_scores),
        ("IoU", metrics.iou_score, metrics.class_iou_scores),
    ):
        values = np.array([found[measure, name] for name in ("all", *CLASSES)])
        both = [each[(pair[0] >= 0) & (pair[1] >= 0)] for each in pair]
        drawn = [(both[0] == k) | (both[1] == k) for k in range(3)]
        occurs = np.array([any(d.any() for d in drawn[1:]), *(d.any() for d in drawn)])
        expected = np.array([total(*pair), *of_class(*pair, 3)])
        assert np.allclose(values[occurs], expected[occurs])
        assert np.isnan(values[~occurs]).all()  # an empty pair is no Dice of 1


def test_overlaps_by_hand():
    found = compare(np.array([[0, 1, 1, 0]]), np.array([[0, 1, 0, 0]]), CLASSES)
    assert found["Dice", "all"] == found["Dice", "edema"] == pytest.approx(2 / 3)
    assert found["Dice", "background"] == pytest.approx(0.8)
    assert found["IoU", "edema"] == pytest.approx(1 / 2)
    assert math.isnan(found["Dice", "core"])  # drawn nowhere, predicted nowhere
    assert found["mIoU", "all"] == pytest.approx((2 / 3 + 1 / 2) / 2)


@pytest.mark.parametrize(("predicted", "accuracy"), [(2, 1.0), (1, 0.0), (-1, math.nan)])
def test_single_class_labels_are_right_or_wrong(predicted, accuracy):
    found = compare(np.array(2), np.array(predicted), CLASSES)
    assert found == {("accuracy", "all"): pytest.approx(accuracy, nan_ok=True)}
