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


@pytest.mark.parametrize(("n_tasks", "n_classes"), [(6, 5), (12, 5), (30, 12)])
def test_few_answers_in_many_classes_do_not_overrule_unanimous_raters(n_tasks, n_classes):
    random = np.random.default_rng(n_tasks)
    truth = random.integers(0, n_classes, n_tasks)
    guessed = random.integers(0, n_classes, (n_tasks, 3))
    labels = np.where(random.random((n_tasks, 3)) < 0.8, truth[:, None], guessed)
    chosen = choose_method(dataset_from_arrays(labels))
    assert "too few for a matrix" in chosen.why
    fused = METHODS[chosen.method](labels.T, n_classes, **chosen.options).label
    agreed = (labels == labels[:, :1]).all(1)
    assert np.array_equal(fused[agreed], labels[agreed, 0])


def test_pseudo_counts_of_a_matrix_do_not_grow_with_its_classes():
    two, ten = (choice_for(False, 3, 9, n_classes=n).options["dirichlet"] for n in (2, 10))
    assert 4 * two == pytest.approx(100 * ten)
