import numpy as np
import pytest

from multirater import fuse

pytestmark = pytest.mark.filterwarnings("ignore::multirater.errors.MultiraterWarning")


def test_share_of_raters_is_the_probability(plant):
    _, labels = plant(0, missing=0.3)
    result = fuse.mean(labels)
    labelled = (labels != -1).any(0)
    seen = labels[:, labelled]
    shares = np.stack([(seen == k).sum(0) for k in range(3)]) / (seen != -1).sum(0)
    assert np.allclose(result.probability[:, labelled], shares, atol=1e-6)


def test_unlabelled_items_get_the_overall_share():
    result = fuse.mean(np.array([[0, 1, -1, 1], [1, 1, -1, 1]]))
    assert result.probability[:, 2] == pytest.approx([1 / 6, 5 / 6])
    assert result.label[2] == -1


def test_matrices_compare_with_the_soft_label():
    result = fuse.mean(np.array([[0, 1], [1, 1]]))
    # Item 0 is half 0, half 1; item 1 is 1. Rater 0 said 0, then 1.
    assert result.cm[0].tolist() == [[1.0, 0.0], [pytest.approx(1 / 3), pytest.approx(2 / 3)]]
    assert result.cm[1].tolist() == [[0.0, 1.0], [0.0, 1.0]]
    assert result.n_iter == 0
    assert result.converged
