"""Labels of the nodes of a graph that cost least together: alpha-expansion by graph cuts.

Each node has a price for every label, each pair of neighbours one for being told apart. With two
labels the cheapest labels of all are found at once; with more, labels are let grow one after the
other as long as that saves something (Boykov 2001).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.extras import extra

_SWEEPS = 3
"""Times that every label may grow; hardly anything changes after the second."""


def cheapest_labels(
    prices: NDArray[np.float64], pairs: NDArray[np.int64], apart: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return a label for each node, (n_nodes,).

    Args:
        prices: of every label at every node, (n_nodes, n_labels), finite.
        pairs: neighbours, (n_pairs, 2).
        apart: price of unlike labels of each pair, (n_pairs,), not negative.

    Example:
        >>> prices = np.array([[0.0, 9.0], [0.6, 0.4], [9.0, 0.0]])
        >>> cheapest_labels(prices, np.array([[0, 1], [1, 2]]), np.array([1.0, 0.1])).tolist()
        [0, 0, 1]
    """
    n_nodes, n_labels = prices.shape
    labels = np.zeros(n_nodes, dtype=np.int64)
    sweeps = _SWEEPS if n_labels > 2 else 1
    for _ in range(sweeps):
        before = labels
        for grows in range(n_labels) if n_labels > 2 else (1,):
            labels = _grown(labels, grows, prices, pairs, apart)
        if np.array_equal(before, labels):
            break
    return labels


def total_price(
    labels: NDArray[np.int64],
    prices: NDArray[np.float64],
    pairs: NDArray[np.int64],
    apart: NDArray[np.float64],
) -> float:
    """Return what labels (n_nodes,) cost together."""
    is_apart = labels[pairs[:, 0]] != labels[pairs[:, 1]]
    return float(prices[np.arange(len(labels)), labels].sum() + apart[is_apart].sum())


def _grown(
    labels: NDArray[np.int64],
    grows: int,
    prices: NDArray[np.float64],
    pairs: NDArray[np.int64],
    apart: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Let one label take whatever nodes make all of it cheapest."""
    with extra():
        import maxflow
    n_nodes = len(labels)
    keeps, takes = prices[np.arange(n_nodes), labels], prices[:, grows].copy()
    one, other = pairs.T
    # Of a pair: both keep, the first keeps alone, the second keeps alone; both taking is free.
    both = apart * (labels[one] != labels[other])
    first = apart * (labels[one] != grows)
    second = apart * (labels[other] != grows)
    np.add.at(takes, one, second - both)
    np.add.at(takes, other, -second)
    least = np.minimum(keeps, takes)
    graph: Any = maxflow.GraphFloat()
    nodes = graph.add_grid_nodes((n_nodes,))
    graph.add_grid_tedges(nodes, takes - least, keeps - least)
    graph.add_edges(one, other, first + second - both, np.zeros_like(apart))
    graph.maxflow()
    return np.where(graph.get_grid_segments(nodes), grows, labels)
