import numpy as np

from multirater.acquisition.belief import Belief, RaterBelief
from multirater.acquisition.choice import choose_labels
from multirater.fuse.one_coin import one_coin_cm


def belief_of(probability, given, skill, known):
    skill = np.asarray(skill, float)
    raters = RaterBelief(
        one_coin_cm(skill, 2), np.asarray(known, float), skill, np.sqrt(skill * (1 - skill))
    )
    n = len(probability)
    return Belief(
        np.asarray(probability, float),
        np.ones(n),
        np.arange(n + 1),
        np.asarray(given, bool),
        raters,
    )


def test_the_open_case_goes_to_the_better_rater_and_the_settled_one_to_nobody():
    belief = belief_of([[0.5, 0.5], [1, 0]], [[0, 0], [0, 0]], [0.9, 0.6], [500, 500])
    first, *others = choose_labels(belief, 10)
    assert (first.case, first.rater) == (0, 0)
    assert all(pick.case == 0 or pick.gain < 1e-9 for pick in others)


def test_a_dear_rater_is_asked_only_where_worth_the_cost():
    belief = belief_of([[0.5, 0.5]], [[0, 0]], [0.9, 0.8], [500, 500])
    assert choose_labels(belief, 1)[0].rater == 0
    (dear,) = choose_labels(belief, 1, cost=np.array([3.0, 1.0]))
    assert dear.rater == 1


def test_nobody_is_asked_twice_nor_beyond_the_budget_nor_who_may_not_be_asked():
    belief = belief_of(np.full((4, 2), 0.5), np.eye(4, 3), [0.9, 0.8, 0.7], [50, 50, 50])
    may = np.ones((4, 3), bool)
    may[:, 1] = False
    picks = choose_labels(belief, 100, may_ask=may)
    pairs = [(pick.case, pick.rater) for pick in picks]
    assert len(set(pairs)) == len(pairs)
    assert not any(belief.given[pair] for pair in pairs)
    assert not any(rater == 1 for _, rater in pairs)
    assert len(choose_labels(belief, 3)) == 3
    spent = [2.5 for _ in choose_labels(belief, 6, cost=np.full(3, 2.5))]
    assert sum(spent) <= 6


def test_an_unknown_rater_is_tried_out_beside_others():
    given = [[1, 1, 0]] * 3 + [[0, 0, 0]] * 3
    probability = [[0.95, 0.05]] * 3 + [[0.5, 0.5]] * 3
    belief = belief_of(probability, given, [0.9, 0.9, 0.7], [300, 300, 0])
    first = choose_labels(belief, 1)[0]
    assert first.rater == 2
    assert belief.given[first.case].sum() == 2
    assert first.curiosity > first.gain


def test_a_second_label_of_the_list_for_a_case_gains_less():
    belief = belief_of([[0.5, 0.5]], [[0, 0, 0]], [0.8, 0.8, 0.8], [1e6] * 3)
    gains = [pick.gain for pick in choose_labels(belief, 3)]
    assert gains == sorted(gains, reverse=True)
    assert [pick.nth for pick in choose_labels(belief, 3)] == [1, 2, 3]
