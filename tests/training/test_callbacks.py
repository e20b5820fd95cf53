"""Which epoch is kept."""

from unittest.mock import MagicMock

import pytest
import torch

from multirater.training.callbacks import BestEpoch


@pytest.fixture
def chooser(tmp_path):
    return BestEpoch(tmp_path, "val_nll", begins=0, tolerance=0.02)


def _kept(chooser: BestEpoch, figures: list[float]) -> list[bool]:
    return [chooser.check_monitor_top_k(MagicMock(), torch.tensor(each)) for each in figures]


def test_of_equally_good_epochs_the_last_is_kept(chooser):
    assert _kept(chooser, [1.0, 0.5, 0.509, 0.6]) == [True, True, True, False]


def test_tolerance_is_counted_from_the_lowest_figure(chooser):
    assert _kept(chooser, [0.5, 0.509, 0.518]) == [True, True, False]


def test_a_resumed_run_remembers_the_lowest_figure(chooser, tmp_path):
    _kept(chooser, [0.5, 0.509])
    resumed = BestEpoch(tmp_path, "val_nll", begins=0, tolerance=0.02)
    resumed.load_state_dict(chooser.state_dict())
    assert _kept(resumed, [0.518]) == [False]


def test_the_last_epoch_is_kept_whatever_its_figure(tmp_path):
    chooser = BestEpoch(tmp_path, "val_nll", begins=0, tolerance=float("inf"))
    assert _kept(chooser, [0.5, 0.0, 9.0]) == [True, True, True]
