import math

import pytest

from multirater.errors import InputError
from multirater.training import TrainConfig
from multirater.training.config import Normalisation
from multirater.training.setting_check import require_devices


@pytest.mark.parametrize(
    "setting",
    [
        {"learning_rate": math.nan},
        {"trace_weight": math.inf},
        {"validation": math.nan},
        {"validation": 1.0},
        {"seed": -1},
        {"seed": 2**32},
        {"patch": (0, 0)},
        {"channels": (0, 8)},
        {"spacing": (1.0, math.nan)},
        {"precision": "17-mixed"},
        {"accelerator": "gpus"},
        {"accelerator": "tpu"},
        {"num_nodes": 0},
        {"workers": -1},
        {"learning_rate": 1e308},
        {"learning_rate": "fast"},
        {"channels": (4,) * 2000},
        {"channels": (4, "x")},
        {"channels": 4},
        {"strides": ((0, 0), (2, 2)), "channels": (4, 8)},
        {"strides": ((63, 63),) * 3, "channels": (4, 8, 8)},
        {"strides": ((1, 1),), "channels": (4, 8)},
        {"kernels": ((2, 2), (2, 2)), "channels": (4, 8)},
        {"epochs": 10**30},
        {"epochs": 2.5},
        {"augment": "yes"},
        {"backbone": 3},
        {"backbone_options": [1]},
        {"fold": 2},
        {"method": None},
        {"normalisation": Normalisation("study", ("a",), (1.0,))},
        {"view": "../../etc"},
        {"normalisation": Normalisation("os.system")},
        {"normalisation": Normalisation("study", (math.nan,), (1.0,))},
        {"normalisation": Normalisation("study", (0.0,), (-1.0,))},
        {"normalisation": Normalisation("study", (0.0,), (1.0,), (9.0,), (-9.0,))},
        {"normalisation": Normalisation("study", (0.0,), (0.0,), (0.0,), (9.0,))},
    ],
)
def test_what_no_run_can_have_is_refused_by_name(setting):
    with pytest.raises(InputError, match=next(iter(setting))):
        TrainConfig(**setting)


def test_all_that_is_wrong_is_said_at_once():
    with pytest.raises(InputError) as refused:
        TrainConfig(seed=-1, patch=(0,), precision="none")
    assert len(refused.value.faults) == 3


def test_a_missing_device_is_named_before_anything_is_written(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: False)
    require_devices(TrainConfig(accelerator="cpu"))
    require_devices(TrainConfig(accelerator="auto"))
    with pytest.raises(InputError, match="1024 of the accelerator auto asked for"):
        require_devices(TrainConfig(accelerator="auto", devices=1024))
    with pytest.raises(InputError, match="accelerator gpu asked for, 0 here"):
        require_devices(TrainConfig(accelerator="gpu"))
