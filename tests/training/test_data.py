import os

import pytest

from multirater.training.config import TrainConfig
from multirater.training.data import n_readers


@pytest.mark.parametrize(("asked", "started"), [(0, 0), (1, 1), (3, 3), (1024, 4)])
def test_a_run_of_somebody_else_cannot_start_thousands_of_processes(asked, started, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert n_readers(TrainConfig(workers=asked)) == started
