import numpy as np

from multirater.report.selection import choose_cases, clearest_mistakes, order_by_disagreement
from multirater.report.tally import CaseTally


def tally(scores, disagreement=0.5, at_stake=1):
    n = len(scores)
    counts = np.zeros((n, 2, 2), int)
    counts[:, 1, 1] = at_stake
    return CaseTally(counts, np.array(scores, float), np.full((n, 2), np.nan), disagreement, False)


def test_unknown_disagreement_comes_last():
    tallies = [tally([1], d) for d in (0.1, np.nan, 0.9)]
    assert order_by_disagreement(tallies) == [2, 0, 1]


def test_a_mistake_is_clearest_where_the_others_are_right():
    alone_wrong, all_wrong, right = tally([0.2, 0.9, 0.9]), tally([0.2, 0.2, 0.3]), tally([1, 1, 1])
    assert clearest_mistakes([all_wrong, right, alone_wrong], 5)[0] == [2, 0]


def test_among_equals_more_at_stake_comes_first_and_the_unlabelled_not_at_all():
    tallies = [tally([0, 1], at_stake=3), tally([0, 1], at_stake=9), tally([np.nan, 1])]
    assert clearest_mistakes(tallies, 5)[0] == [1, 0]


def test_few_cases_are_all_shown():
    assert choose_cases([2, 0, 1], [1], 3) == ([2, 0, 1], False)
    assert choose_cases([2, 0, 1], [1], None) == ([2, 0, 1], False)


def test_of_many_the_wanted_and_the_worst_stay_and_the_rest_is_spread():
    order = list(range(1000))
    chosen, sampled = choose_cases(order, [999, 500], 100)
    assert sampled
    assert len(chosen) == 100
    assert {999, 500} <= set(chosen)
    assert set(range(60)) <= set(chosen)
    assert max(np.diff([each for each in chosen if each > 80])) < 80
    assert chosen == sorted(chosen)


def test_no_more_than_asked_for_even_if_more_are_wanted():
    chosen, _ = choose_cases(list(range(50)), list(range(30)), 10)
    assert len(chosen) == 10
