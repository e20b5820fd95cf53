"""What is known of a study before labels are asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from multirater.acquisition.known_study import known_of_study
from multirater.acquisition.result import ranked_labels
from multirater.io import dataset_from_arrays, survey


def drawn(n_cases=6):
    random = np.random.default_rng(0)
    labels = (random.random((n_cases, 2, 8, 8)) < 0.4).astype(int)
    labels[2, 1] = -1  # in whose file not one pixel is labelled
    images = random.random((n_cases, 1, 8, 8))
    return dataset_from_arrays(labels, images=images, raters=["anna", "bert"])


def says_half(case):
    return np.full((2, 8, 8), 0.5, dtype=np.float32)


def test_a_network_beside_them_leaves_raters_their_drawings():
    """Raters stand in another order in some cases, as the rows of a manifest may."""
    data = drawn()
    turned = [
        replace(case, labels=dict(reversed(case.labels.items()))) if number % 2 else case
        for number, case in enumerate(data)
    ]
    plain = known_of_study(survey(data))
    seen = known_of_study(survey(replace(data, cases=tuple(turned))), seen=says_half)
    for name in ("skill", "cm"):
        np.testing.assert_allclose(
            getattr(seen.belief.raters, name), getattr(plain.belief.raters, name), atol=1e-6
        )


def test_what_is_left_of_a_budget_buys_cheaper_labels():
    random = np.random.default_rng(1)
    truth = random.integers(0, 2, 60)
    said = np.stack([np.where(random.random(60) < p, truth, 1 - truth) for p in (0.99, 0.6)], 1)
    said[20:] = -1
    known = known_of_study(survey(dataset_from_arrays(said, raters=["anna", "bert"])))
    prices = np.array([4.0, 1.0])
    for budget in (3, 10):
        found = ranked_labels(known, budget, cost=prices).labels
        spent = float(found["cost"].sum())
        assert budget - 1 < spent <= budget
