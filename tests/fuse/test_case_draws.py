import numpy as np
import pytest

from multirater.fuse import case_draws
from multirater.fuse.case_draws import over_draws


def test_draws_are_the_same_however_many_are_held_at_a_time(monkeypatch):
    values = np.random.default_rng(0).integers(0, 100, (7, 2)).astype(float)
    whole = over_draws(7, 3, lambda times: times @ values)
    seen = []
    monkeypatch.setattr(case_draws, "_NUMBERS", 50)
    parts = over_draws(7, 3, lambda times: seen.append(times.shape) or times @ values)
    assert np.array_equal(whole, parts)
    assert max(shape[0] * shape[1] for shape in seen) <= 50


def test_every_draw_has_as_many_cases_as_the_study():
    assert (over_draws(5, 0, lambda times: times.sum(1)) == 5).all()


def test_their_spread_is_the_standard_error():
    values = np.random.default_rng(1).normal(size=400)
    means = over_draws(400, 0, lambda times: times @ values / 400)
    assert means.std() == pytest.approx(values.std() / 20, rel=0.1)
