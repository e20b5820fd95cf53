from dataclasses import replace

import numpy as np
import pytest

from multirater.training.ballots import Ballots, candidates, choose_ballots
from multirater.training.pixels import Pixels
from multirater.types import MISSING

N, N_CASES = 4000, 8


def pixels(truth, labels, seed):
    """Pixels whose features show the truth under some noise."""
    random = np.random.default_rng(seed)
    features = truth[:, None] + 0.2 * random.standard_normal((len(truth), 3))
    made = Pixels.of_one_case(np.full((*labels.shape, 2), 0.5), labels)
    case = np.arange(len(truth)) * N_CASES // len(truth)
    nothing = np.zeros((len(truth), 0), np.float32)
    return replace(made, case=case, features=features.astype(np.float32), filters=nothing)


def truth_of(seed):
    return (np.random.default_rng(seed).random(N) < 0.3).astype(np.int64)


def noisy(truth, share, seed):
    flipped = np.random.default_rng(seed).random(len(truth)) < share
    return np.where(flipped, 1 - truth, truth)


def both(raters, weight):
    """Choose between ballots for raters, each a function of truth and seed."""
    training, held_out = (
        pixels(truth_of(s), np.stack([r(truth_of(s), 10 * s + k) for k, r in enumerate(raters)]), s)
        for s in (1, 2)
    )
    return choose_ballots(training, held_out, np.asarray(weight, dtype=float)), held_out


def test_of_raters_alike_with_errors_of_their_own_pooling_is_taken_instead_of_the_best():
    alike = [lambda truth, seed: noisy(truth, 0.1, seed)] * 9
    chosen, held_out = both(alike, [0.92, *[0.01] * 8])
    assert chosen.name != "weights"
    assert (chosen.settle(held_out.labels) == truth_of(2)).mean() > 0.99


def test_where_most_raters_share_an_error_they_are_outweighed():
    """Three who call a half of the background object, after a coin that no image shows."""
    coin = {
        1: np.random.default_rng(7).random(N) < 0.5,
        2: np.random.default_rng(8).random(N) < 0.5,
    }

    def party(truth, seed):
        return np.where(coin[1 if seed < 20 else 2], 1, truth)

    def exact(truth, _):
        return truth

    chosen, held_out = both([exact, party, party, party], [0.9, 0.04, 0.03, 0.03])
    assert chosen.name == "weights"
    assert np.array_equal(chosen.settle(held_out.labels), truth_of(2))


def test_between_two_raters_who_cannot_be_told_apart_the_others_decide():
    """One draws too little and is a little ahead by weight; everybody else sides with the exact."""
    truth = truth_of(1)
    little = np.where(np.random.default_rng(3).random(N) < 0.5, truth, 0)
    labels = np.stack([truth, little, np.ones_like(truth), np.ones_like(truth)])
    weights = candidates(pixels(truth, labels, 1), np.array([0.48, 0.5, 0.01, 0.01]))[1]
    assert weights.name == "weights"
    assert np.array_equal(weights.settle(labels)[truth == 1], truth[truth == 1])


def test_one_label_settles_nothing():
    assert both([lambda truth, _: truth], [1.0])[0] is None


def test_without_held_out_cases_and_filters_nothing_is_chosen():
    truth = truth_of(1)
    assert choose_ballots(pixels(truth, np.stack([truth] * 3), 1), None, np.ones(3) / 3) is None


def test_fixed_filters_choose_where_the_network_knows_nothing():
    truth, other = truth_of(1), truth_of(5)
    made = pixels(truth, np.stack([truth, other, other]), 1)
    seen = replace(made, filters=made.features, features=np.zeros_like(made.features))
    chosen = choose_ballots(seen, seen, np.array([0.98, 0.01, 0.01]))
    assert chosen.name == "weights"


def test_the_vote_is_taken_where_another_leads_it_by_chance():
    alike = [lambda truth, seed: noisy(truth, 0.05, seed)] * 3
    chosen, _ = both(alike, [0.34, 0.33, 0.33])
    assert chosen.name == "vote"


def test_of_fewer_than_three_cases_the_vote_is_taken():
    truth, other = truth_of(1), truth_of(5)
    made = pixels(truth, np.stack([truth, other, other]), 1)
    few = replace(made, case=made.case // 4)
    assert choose_ballots(few, few, np.array([0.98, 0.01, 0.01])).name == "vote"


def test_what_all_agree_on_stands_and_missing_labels_do_not_count():
    against = Ballots("odd", -np.tile(np.eye(2), (3, 1, 1)), np.zeros(2))
    labels = np.array([[1, 0, 1], [1, 0, 0], [MISSING, 0, MISSING]])
    assert against.settle(labels)[:2].tolist() == [1, 0]


@pytest.mark.parametrize("seed", range(3))
def test_settling_does_not_depend_on_the_order_of_raters(seed):
    random = np.random.default_rng(seed)
    labels = random.integers(-1, 3, (4, 50))
    counts, prior = random.standard_normal((4, 3, 3)), random.standard_normal(3)
    order = random.permutation(4)
    one = Ballots("a", counts, prior).settle(labels)
    other = Ballots("b", counts[order], prior).settle(labels[order])
    assert np.array_equal(one, other)


def test_whoever_draws_less_than_all_others_is_not_followed_for_having_less_to_explain():
    """Nested drawings of an object that the image hardly shows, as of volumes: the middle one."""

    def seen(seed):
        random = np.random.default_rng(seed)
        away = random.random(N)
        labels = np.stack([away < 0.06, away < 0.12, away < 0.03]).astype(np.int64)
        made = pixels(labels[0], labels, seed)
        shown = away[:, None] + 0.2 * random.standard_normal((N, 1))
        return replace(made, features=shown.astype(np.float32))

    chosen = choose_ballots(seen(1), seen(2), np.array([0.3, 0.0, 0.7]))
    assert chosen.name == "vote"
