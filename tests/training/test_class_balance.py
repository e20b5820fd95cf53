import numpy as np
import pytest

from multirater.training.class_balance import balanced_weights
from multirater.types import Case, Geometry, LabelMap, Source

LABEL = LabelMap(np.array([[1, 1, 1, 0, -1]], dtype=np.int16), Geometry.default(2))


@pytest.mark.parametrize(
    ("rater", "n_classes", "expected"),
    [
        ("anna", 2, [2.0, 2 / 3]),
        ("anna (positive)", 2, [2.0, 2 / 3]),
        ("anna (negative)", 2, [2 / 3, 2.0]),
        ("anna", 3, [2.0, 2 / 3, 1.0]),
        ("anna (negative)", 3, [1.0, 1.0, 1.0]),
    ],
)
def test_rare_classes_weigh_more(rater, n_classes, expected):
    case = Case("one", labels={rater: Source(lambda: LABEL)})
    assert balanced_weights([case], n_classes).tolist() == pytest.approx(expected)


def test_no_label_changes_nothing():
    assert balanced_weights([Case("one")], 2).tolist() == [1.0, 1.0]
