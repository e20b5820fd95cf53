import numpy as np
import pytest
import SimpleITK as sitk

from multirater import fuse

pytestmark = pytest.mark.filterwarnings("ignore::multirater.errors.MultiraterWarning")


@pytest.mark.parametrize("seed", range(6))
def test_equals_simpleitk_label_voting(seed, blobs):
    n_classes, n_raters = 2 + seed % 4, 2 + seed % 5
    shape = [(30, 31), (9, 10, 11)][seed % 2]
    _, labels = blobs(seed, shape, n_raters=n_raters, n_classes=n_classes, noise=(0.1, 0.5))
    images = [sitk.GetImageFromArray(label) for label in labels]
    voted = sitk.GetArrayFromImage(sitk.LabelVoting(images, 255))
    result = fuse.majority_vote(labels)
    decided = voted != 255
    assert np.array_equal(result.label[decided], voted[decided])
    assert result.n_ties == (~decided).sum()


def test_ties_go_to_the_lower_class_and_are_counted():
    labels = np.array([[2, 0, 1, 1], [1, 0, 1, 2], [-1, 1, 0, 0]])
    result = fuse.majority_vote(labels)
    assert result.label.tolist() == [1, 0, 1, 0]
    assert result.n_ties == 2


def test_matrices_compare_with_the_vote():
    labels = np.array([[0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, 0]])
    result = fuse.majority_vote(labels)
    assert result.label.tolist() == [0, 0, 1, 1]
    assert np.allclose(result.cm[0], np.eye(2))
    assert np.allclose(result.cm[1], [[0.5, 0.5], [0, 1]])
    assert np.allclose(result.cm[2], [[1, 0], [0.5, 0.5]])


def test_probability_is_the_share_of_votes(plant):
    _, labels = plant(2, missing=0.2)
    vote, mean = fuse.majority_vote(labels), fuse.mean(labels)
    assert np.array_equal(vote.probability, mean.probability)
    assert np.array_equal(vote.label, mean.label)
