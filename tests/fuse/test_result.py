import dataclasses

import numpy as np
import pytest

import multirater
from multirater import fuse

pytestmark = pytest.mark.filterwarnings("ignore::multirater.errors.MultiraterWarning")


def test_result_says_what_made_it():
    result = fuse.staple(np.array([[0, 1, 1], [0, 1, 0]]))
    assert result.method == "staple"
    assert result.version == multirater.__version__


def test_result_cannot_be_changed():
    result = fuse.mean(np.array([[0, 1, 1], [0, 1, 0]]))
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.label = None


def test_skill_is_the_mean_diagonal():
    result = fuse.staple(np.array([[0, 1, 1, 0], [0, 1, 0, 0]]), gold=np.array([0, 1, 1, 0]))
    assert result.skill == pytest.approx([1.0, 0.75])


def test_counts_are_items(plant):
    _, labels = plant(0, missing=0.2)
    result = fuse.dawid_skene(labels)
    assert result.counts.sum((1, 2)) == pytest.approx((labels != -1).sum(1))
    for observed in range(3):
        assert result.counts.sum(1)[:, observed] == pytest.approx((labels == observed).sum(1))
