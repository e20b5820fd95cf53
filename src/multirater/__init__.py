"""Learn from labels that disagree.

One way through: read a data set, fuse its labels, evaluate, report.

    >>> import multirater
    >>> data = multirater.samples.digits_dataset(n_train=4, n_test=0)
    >>> noisy = multirater.simulate.simulate_dataset(data, seed=0)
    >>> multirater.fuse.majority_vote(noisy[0].read_labels()).label.shape
    (28, 28)
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from multirater import fuse as fuse
    from multirater import io as io
    from multirater import metrics as metrics
    from multirater import nn as nn
    from multirater import report as report
    from multirater import samples as samples
    from multirater import simulate as simulate
    from multirater.estimator import RaterClassifier as RaterClassifier
    from multirater.evaluation import evaluate as evaluate
    from multirater.fusion.fused_dataset import fuse_dataset as fuse_dataset
    from multirater.io import dataset_from_arrays as dataset_from_arrays
    from multirater.io import read_dataset as read_dataset
    from multirater.io import write_dataset as write_dataset
    from multirater.io.gold import with_gold as with_gold
    from multirater.rater_choice import choose_raters as choose_raters
    from multirater.report import write_report as write_report
    from multirater.training import TrainConfig as TrainConfig
    from multirater.training import predict as predict
    from multirater.training import train as train
    from multirater.training.planning import plan as plan
    from multirater.verbs.agreement import agreement as agreement
    from multirater.verbs.convert import convert as convert
    from multirater.verbs.info import info as info
    from multirater.verbs.next_labels import next_labels as next_labels

_FOLDERS = ("fuse", "io", "metrics", "nn", "report", "samples", "simulate")
_HOMES = {
    "RaterClassifier": "multirater.estimator",
    "TrainConfig": "multirater.training.config",
    "choose_raters": "multirater.rater_choice",
    "dataset_from_arrays": "multirater.io",
    "evaluate": "multirater.evaluation",
    "fuse_dataset": "multirater.fusion.fused_dataset",
    "plan": "multirater.training.planning",
    "predict": "multirater.training",
    "read_dataset": "multirater.io",
    "train": "multirater.training",
    "with_gold": "multirater.io.gold",
    "write_dataset": "multirater.io",
    "write_report": "multirater.report",
}
# A file of verbs/ holds the function of its name: it is shown without being named here.
_VERBS = [each.stem for each in Path(__path__[0], "verbs").glob("[a-z]*.py")]
_HOMES |= {each: f"multirater.verbs.{each}" for each in _VERBS}

__all__ = sorted([*_FOLDERS, *_HOMES])


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for, so that `import multirater` is instant."""
    from multirater.extras import extra

    if name in _FOLDERS:
        with extra():
            return import_module(f"multirater.{name}")
    if name in _HOMES:
        with extra():
            value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'multirater' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List what there is, for whoever explores by tab."""
    return [*__all__, "__version__"]
