"""Training: from images and disagreeing labels to a network, on Lightning and MONAI.

A plan is made, read and written without torch: names are imported when they are asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from multirater.extras import extra

if TYPE_CHECKING:
    from multirater.training.config import TrainConfig
    from multirater.training.plan import Plan
    from multirater.training.prediction import predict
    from multirater.training.predictor import Predictor
    from multirater.training.run import resume, train
    from multirater.training.run_folder import Run, read_run

_HOMES = {
    "Plan": "plan",
    "Predictor": "predictor",
    "Run": "run_folder",
    "TrainConfig": "config",
    "predict": "prediction",
    "read_run": "run_folder",
    "resume": "run",
    "train": "run",
}

__all__ = ["Plan", "Predictor", "Run", "TrainConfig", "predict", "read_run", "resume", "train"]


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'multirater.training' has no attribute {name!r}")
    with extra():
        value = getattr(import_module(f"multirater.training.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
