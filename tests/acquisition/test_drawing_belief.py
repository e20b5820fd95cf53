import numpy as np
import pytest

from multirater.acquisition.choice import choose_labels
from multirater.acquisition.drawing_belief import DrawnCase, belief_of_drawings

EMPTY = DrawnCase(np.empty((0, 3), dtype=np.int64), np.empty(0))


def square(good=(1, 1, 0)):
    """A case in which two draw the object and the third draws nothing."""
    return DrawnCase(np.array([[0, 0, 0], list(good)]), np.array([90, 10]))


def test_uncertainty_is_about_what_dice_would_lack():
    found = belief_of_drawings([square((1, 1, 1)), EMPTY], 3, 2)
    agreed, unseen = found.uncertainty()
    assert agreed < 0.1
    assert unseen == pytest.approx(0.9, abs=0.05)
    assert found.given.tolist() == [[True] * 3, [False] * 3]


def test_who_draws_nothing_is_found_out_and_not_asked():
    cases = [square() for _ in range(12)] + [EMPTY] * 4
    found = belief_of_drawings(cases, 3, 2)
    assert found.raters.skill[2] < found.raters.skill[:2].min() - 0.3
    picks = choose_labels(found, 4)
    assert {pick.case for pick in picks} == {12, 13, 14, 15}
    assert 2 not in {pick.rater for pick in picks}


def test_without_company_all_raters_are_alike():
    alone = DrawnCase(np.array([[0, -1, -1], [1, -1, -1]]), np.array([90, 10]))
    found = belief_of_drawings([alone, EMPTY], 3, 2)
    assert found.raters.known.tolist() == [0, 0, 0]
    assert len(set(found.raters.skill.tolist())) == 1


def test_what_a_network_is_sure_of_needs_no_label():
    rows = np.full((2, 3), -1)
    counts = np.array([90, 10])
    sure = DrawnCase(rows, counts, np.array([[0.99, 0.01], [0.01, 0.99]]))
    unsure = DrawnCase(rows, counts, np.array([[0.9, 0.1], [0.5, 0.5]]))
    found = belief_of_drawings([square(), sure, unsure], 3, 2)
    assert found.uncertainty()[1] < found.uncertainty()[2]
    assert choose_labels(found, 1)[0].case == 2
