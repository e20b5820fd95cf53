"""What settings of a run cannot be, said before anything is read or written."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from multirater.errors import Fault, InputError

if TYPE_CHECKING:
    from multirater.training.config import Normalisation, TrainConfig

PRECISIONS = ("32-true", "16-mixed", "bf16-mixed", "16-true", "bf16-true", "64-true")
ACCELERATORS = ("auto", "cpu", "gpu", "cuda", "mps")

_POSITIVE = (
    *("epochs", "batch_size", "learning_rate", "n_features", "rank", "devices", "num_nodes"),
    *("memory", "time", "threads", "folds"),
)
_NOT_NEGATIVE = (
    *("seed", "workers", "warmup_epochs", "confusion_learning_rate", "trace_weight"),
    *("steps_per_epoch", "patience"),
)
_LARGEST_SEED = 2**32 - 1
"""That numpy takes."""

_SIZES = ("patch", "channels", "spacing", "space")
"""Settings that are a size per axis or stage."""

_WORDS = {
    "precision": PRECISIONS,
    "accelerator": ACCELERATORS,
    "view": ("auto", "2d", "slices", "3d"),
    "warmup": ("fixed", "trace"),
    "rate": ("one-cycle", "constant"),
    "augmentation": ("all", "flips"),
}


def require_settings(settings: Mapping[str, Any]) -> None:
    """Refuse numbers and words that no run can have.

    Args:
        settings: by the names of `TrainConfig`; None stands for what is not decided yet.

    Raises:
        InputError: with everything that is wrong.
    """
    faults = [*_wrong_numbers(settings), *_wrong_sizes(settings), *_wrong_words(settings)]
    faults += _wrong_intensities(settings["normalisation"])
    if faults:
        raise InputError(faults)


def _wrong_numbers(settings: Mapping[str, Any]) -> Iterator[Fault]:
    for name, value in settings.items():
        if isinstance(value, float) and not math.isfinite(value):
            yield Fault(f"{name} = {value}", expected="a finite number")
        elif name in _POSITIVE and value is not None and value <= 0:
            yield Fault(f"{name} = {value}", expected="more than 0")
        elif name in _NOT_NEGATIVE and value is not None and value < 0:
            yield Fault(f"{name} = {value}", expected="0 or more")
    if settings["seed"] > _LARGEST_SEED:
        yield Fault(f"seed = {settings['seed']}", expected=f"0 to {_LARGEST_SEED}")
    share = settings["validation"]
    if math.isfinite(share) and not 0 <= share < 1:
        yield Fault(f"validation = {share}", expected="a share from 0 to below 1")


def _wrong_sizes(settings: Mapping[str, Any]) -> Iterator[Fault]:
    for name in _SIZES:
        sizes = settings[name] or ()
        if not all(math.isfinite(each) and each > 0 for each in sizes):
            shown = ",".join(map(str, sizes))
            yield Fault(f"{name} = {shown}", expected="numbers that are more than 0")


def _wrong_words(settings: Mapping[str, Any]) -> Iterator[Fault]:
    # Settings are imported by the command line's help, which loads no numpy.
    from multirater.words import did_you_mean

    for name, known in _WORDS.items():
        value = settings[name]
        if value is not None and value not in known:
            yield Fault(
                f"{name} = {value}{did_you_mean(str(value), known)}",
                expected=f"one of {', '.join(known)}",
            )


def _wrong_intensities(how: Normalisation) -> Iterator[Fault]:
    """Find ways to normalise that leave nothing of an image, which a damaged run may ask for."""
    if how.kind not in ("case", "study"):
        yield Fault(f"normalisation of kind {how.kind}", expected="case or study")
    for name in ("mean", "deviation", "low", "high"):
        values = getattr(how, name)
        least = 0.0 if name == "deviation" else -math.inf
        if not all(math.isfinite(each) and each >= least for each in values):
            shown = ", ".join(map(str, values))
            expected = "finite numbers" + (", 0 or more" if name == "deviation" else "")
            yield Fault(f"normalisation by {name} {shown}", expected=expected)


def require_devices(config: TrainConfig) -> None:
    """Refuse devices that this machine does not have."""
    import torch

    if config.accelerator not in ("gpu", "cuda", "mps"):
        return
    n_cuda = torch.cuda.device_count() if torch.cuda.is_available() else 0
    n_mps = int(torch.backends.mps.is_available())
    found = {"gpu": n_cuda or n_mps, "cuda": n_cuda, "mps": n_mps}[config.accelerator]
    if found < config.devices:
        raise InputError(
            Fault(
                f"{config.devices} of the accelerator {config.accelerator} asked for, {found} here",
                fix="--accelerator auto takes what there is",
            )
        )
