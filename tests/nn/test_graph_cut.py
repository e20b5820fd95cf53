from itertools import product

import numpy as np
import pytest

from multirater.nn.graph_cut import cheapest_labels, total_price


def problem(seed, n_nodes, n_labels):
    random = np.random.default_rng(seed)
    pairs = np.array([(i, j) for i in range(n_nodes) for j in range(i) if random.random() < 0.6])
    return random.random((n_nodes, n_labels)), pairs, random.random(len(pairs)) * 0.5


@pytest.mark.parametrize("seed", range(10))
def test_of_two_labels_the_cheapest_of_all_are_found(seed):
    given = problem(seed, 7, 2)
    every = [total_price(np.array(labels), *given) for labels in product(range(2), repeat=7)]
    assert total_price(cheapest_labels(*given), *given) == pytest.approx(min(every))


@pytest.mark.parametrize("seed", range(10))
def test_of_more_labels_no_single_one_can_grow_any_further(seed):
    given = problem(seed, 5, 3)
    found = cheapest_labels(*given)
    price = total_price(found, *given)
    for grows in range(3):
        for takes in product((False, True), repeat=5):
            other = np.where(takes, grows, found)
            assert price <= total_price(other, *given) + 1e-9
