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
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from multirater import fuse, io, metrics, nn, report, samples, simulate
    from multirater.conversion import convert
    from multirater.dataset_agreement import agreement
    from multirater.dataset_info import info
    from multirater.dataset_next import next_labels
    from multirater.estimator import RaterClassifier
    from multirater.evaluation import evaluate
    from multirater.fusion.fused_dataset import fuse_dataset
    from multirater.io import dataset_from_arrays, read_dataset, write_dataset
    from multirater.io.gold import with_gold
    from multirater.rater_choice import choose_raters
    from multirater.report import write_report
    from multirater.training import TrainConfig, predict, train
    from multirater.training.planning import plan

_HOMES = {
    "RaterClassifier": "multirater.estimator",
    "TrainConfig": "multirater.training.config",
    "agreement": "multirater.dataset_agreement",
    "choose_raters": "multirater.rater_choice",
    "convert": "multirater.conversion",
    "dataset_from_arrays": "multirater.io",
    "evaluate": "multirater.evaluation",
    "fuse_dataset": "multirater.fusion.fused_dataset",
    "info": "multirater.dataset_info",
    "next_labels": "multirater.dataset_next",
    "plan": "multirater.training.planning",
    "predict": "multirater.training",
    "read_dataset": "multirater.io",
    "train": "multirater.training",
    "with_gold": "multirater.io.gold",
    "write_dataset": "multirater.io",
    "write_report": "multirater.report",
}
_FOLDERS = ("fuse", "io", "metrics", "nn", "report", "samples", "simulate")

__all__ = [
    "RaterClassifier",
    "TrainConfig",
    "agreement",
    "choose_raters",
    "convert",
    "dataset_from_arrays",
    "evaluate",
    "fuse",
    "fuse_dataset",
    "info",
    "io",
    "metrics",
    "next_labels",
    "nn",
    "plan",
    "predict",
    "read_dataset",
    "report",
    "samples",
    "simulate",
    "train",
    "with_gold",
    "write_dataset",
    "write_report",
]


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
