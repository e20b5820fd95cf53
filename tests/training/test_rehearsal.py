"""What a run computes follows from its settings, not from how busy the machine is."""

import pytest

from multirater.training import rehearsal
from multirater.training.rehearsal import threads_for


@pytest.mark.parametrize(
    ("n_pixels", "n_cores", "expected"),
    [(2**16, 8, 1), (2**17 - 1, 8, 1), (2**17, 8, 2), (2**19, 8, 8), (2**30, 6, 4), (2**30, 1, 1)],
)
def test_threads_follow_from_the_size_of_a_step(monkeypatch, n_pixels, n_cores, expected):
    monkeypatch.setattr(rehearsal.torch, "get_num_threads", lambda: n_cores)
    assert threads_for(n_pixels) == expected
