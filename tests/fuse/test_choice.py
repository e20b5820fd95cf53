import numpy as np
import pytest

from multirater.fuse.choice import Choice, choice_for, choice_of, choose_method
from multirater.fuse.methods import METHODS, require_options
from multirater.io import dataset_from_arrays


@pytest.mark.parametrize("is_masks", [True, False])
@pytest.mark.parametrize(
    ("labels", "raters"), [(0, 0), (1, 1), (1, 5), (2, 2), (2, 9), (3, 3), (5, 40)]
)
def test_every_choice_can_be_made_and_says_why_in_a_line(is_masks, labels, raters):
    chosen = choice_for(is_masks, labels, raters)
    require_options(chosen.method, chosen.options)
    assert chosen.method in METHODS
    assert chosen.why
    assert "\n" not in chosen.why


def test_two_raters_are_told_what_fusion_cannot_do():
    assert "no fusion can tell who is right" in choice_for(True, 2, 2).why


def test_most_cases_decide():
    labels = np.zeros((5, 4, 6, 6), dtype=int)
    assert choose_method(dataset_from_arrays(labels)).method == "weighted-vote"
    labels[1:, 2:] = -1
    assert choose_method(dataset_from_arrays(labels)).method == "majority-vote"


def test_one_class_label_per_case_stands():
    random = np.random.default_rng(0)
    truth = random.integers(0, 4, 60)
    labels = np.where(np.arange(5) == random.integers(0, 5, 60)[:, None], truth[:, None], -1)
    chosen = choose_method(dataset_from_arrays(labels))
    assert "keeps that label" in chosen.why
    fused = METHODS[chosen.method](labels.T, 4, **chosen.options)
    assert np.array_equal(fused.label, truth)


def test_what_is_asked_for_is_taken():
    chosen = Choice("dawid-skene", "because", {"dirichlet": 1.0})
    assert choice_of("staple", {"prior": 0.5}, chosen) == Choice("staple", "", {"prior": 0.5})
    assert choice_of(None, {"prior": 0.5}, chosen).options == {"dirichlet": 1.0, "prior": 0.5}
