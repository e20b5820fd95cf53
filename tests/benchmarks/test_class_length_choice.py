import numpy as np
import pytest

from class_length_choice import LENGTHS, N_TEST, STUDIES, grid, n_epochs, study


@pytest.mark.parametrize("length", LENGTHS)
def test_a_length_is_reached_and_no_training_is_shorter_than_now(length):
    epochs = n_epochs(200, 12, LENGTHS[length])
    assert epochs >= 15
    assert epochs * 15 >= LENGTHS[length]
    assert n_epochs(30_000, 64, LENGTHS[length]) == 15


@pytest.mark.parametrize("each", STUDIES)
def test_a_study_has_as_many_labels_as_it_says(each):
    whole = study(*each, seed=0)
    n_labels = [len(case.labels) for case in whole]
    assert set(n_labels[: each[1]]) == {1 if each[3] == "one" else 5}
    assert np.array_equal(n_labels[each[1] :], [0] * N_TEST)


def test_lengths_are_chosen_and_reported_on_different_seeds():
    jobs = grid(quick=False)
    assert {each["seed"] for each in jobs if each["length"] == "2000 steps"} == {0, 1}
    assert {each["seed"] for each in jobs if each["length"] == "1000 steps"} == {0, 1, 2, 3}
