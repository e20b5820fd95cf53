"""What a run says of its raters."""

from types import SimpleNamespace

import numpy as np
import pytest

from multirater.training.description import _described, _disputed_share, _look, _look_at

RUN = SimpleNamespace(data=SimpleNamespace(classes=("background", "object")))


def counts_of(drawn_too_much, n_cases):
    """Pixels (n_cases, n_raters, true, observed): 100 true ones, all found, and some too many."""
    return np.array([[[[900 - more, more], [0, 100]] for more in drawn_too_much]] * n_cases, float)


def test_how_much_raters_draw_is_told_by_all_cases_and_skill_by_those_held_out():
    trained, unseen = counts_of([60, 10], 20), counts_of([0, 20], 6)
    counts = np.concatenate([trained, unseen])
    found = _described(counts, [False] * 20 + [True] * 6, ("anna", "bert"), RUN)
    assert found["size"]["anna"] == pytest.approx((20 * 160 + 6 * 100) / 2600)
    assert found["size"]["anna"] > found["size"]["bert"]
    assert found["size_low"]["anna"] <= found["size"]["anna"] <= found["size_high"]["anna"]
    assert found["specificity"].tolist() == [1.0, 880 / 900]
    assert found["labels"].tolist() == [26, 26]


def test_few_held_out_cases_leave_the_description_to_all():
    counts = counts_of([60, 10], 9)
    found = _described(counts, [True] * 4 + [False] * 5, ("anna", "bert"), RUN)
    assert found["specificity"].tolist() == [840 / 900, 890 / 900]


def look_at(n_labels, heads):
    """Look at a case of four pixels, of which raters call the last one otherwise."""
    names = ("anna", "bert")
    drawn = {name: np.array([0, 0, 1, i], np.int16) for i, name in enumerate(names[:n_labels])}
    probability = np.array([[0.9, 0.9, 0.1, 0.1], [0.1, 0.1, 0.9, 0.9]])
    said = np.array([[0, 0, 1, 1], [0, 0, 0, 0]], np.int16) if heads else None
    seen = SimpleNamespace(labels=drawn, probability=probability, weight=np.ones(4), heads=said)
    return _look(seen, names)


def test_what_is_disputed_is_told_by_cases_in_which_raters_can_be_compared():
    assert np.isnan(_disputed_share([look_at(1, heads=False)]))
    assert _disputed_share([look_at(1, heads=False), look_at(2, heads=False)]) == 0.25
    assert _disputed_share([look_at(1, heads=True)]) == 0.5


def test_answers_are_counted_however_unsure_the_network_is():
    drawn = np.array([[1, 0, 0, 0, 0], [1, 0, 0, 0, -1]], dtype=np.int16)
    lesion = np.where(drawn[0] == 1, 0.6, 0.4)
    look = _look_at(np.stack([1 - lesion, lesion]), np.ones(5), drawn, None, [0, 1], 2)
    assert look.labels.sum(0)[1].argmax() == 0  # most of the chance of a lesion lies outside
    assert look.answered.tolist() == [[7, 0], [0, 2]]
