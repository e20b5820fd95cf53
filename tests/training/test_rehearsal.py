"""Threads follow from the settings, unless others use the cores as well."""

import pytest
import torch

from multirater.training import rehearsal
from multirater.training.rehearsal import threads_for


@pytest.mark.parametrize(
    ("n_pixels", "n_cores", "expected"),
    [(2**16, 8, 1), (2**17 - 1, 8, 1), (2**17, 8, 2), (2**19, 8, 8), (2**30, 6, 4), (2**30, 1, 1)],
)
def test_threads_follow_from_the_size_of_a_step(monkeypatch, n_pixels, n_cores, expected):
    monkeypatch.setattr(rehearsal.torch, "get_num_threads", lambda: n_cores)
    assert threads_for(n_pixels) == expected


class StepOf:
    """A step that takes given seconds with some threads."""

    def __init__(self, seconds):
        self.seconds = seconds

    def take(self):
        return self.seconds[torch.get_num_threads()]


@pytest.mark.parametrize(("together", "expected"), [(0.6, 2), (1.4, 2), (1.6, 1), (8.0, 1)])
def test_threads_that_wait_for_one_another_are_not_used(together, expected, monkeypatch):
    said = []
    monkeypatch.setattr(rehearsal, "say", said.append)
    assert rehearsal._unhindered(StepOf({1: 1.0, 2: together}), 2) == expected
    assert ["as others use the cores" in each for each in said] == [True] * (expected == 1)
