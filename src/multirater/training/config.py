"""Everything that decides what a training run does, kept as JSON in its folder."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from torch import nn

from multirater.errors import Fault, InputError
from multirater.io.atomic import replacing
from multirater.io.formats.guard import reading
from multirater.nn.backbone import CHANNELS
from multirater.training.normalisation import OWN, Normalisation
from multirater.training.plan import Plan
from multirater.training.setting_check import require_settings

View = Literal["auto", "2d", "slices", "3d"]

BY_TASK: Any = None
"""Default of a setting that the plan, or the kind of the labels, decides: see `settled`."""

DEFAULTS: dict[str, dict[str, Any]] = {
    "masks": {
        "confusion": "pixel",
        "likelihood": "marginal",
        "warmup_epochs": 1,
        "backbone": "unet",
        "channels": CHANNELS,
        "n_features": 32,
        "patch": (),
        "epochs": 20,
        "batch_size": 16,
        "augment": False,
        "learning_rate": 3e-3,
        "confusion_learning_rate": 3e-3,
    },
    # Tanno 2019, but for two things. At the network's rate matrices hardly leave the identity. With
    # marginal likelihoods a network may blur its answers instead of calling raters wrong.
    "classes": {
        "confusion": "global",
        "likelihood": "joint",
        "warmup_epochs": 0,
        "backbone": "auto",
        "channels": CHANNELS,
        "n_features": 64,
        "patch": (),
        "epochs": 15,
        "batch_size": 64,
        "augment": False,
        "learning_rate": 1e-3,
        "confusion_learning_rate": 3e-2,
    },
}
"""What a setting is when it is not given, by the kind of the labels."""

_STEPS_PER_EPOCH, _SMALLEST_BATCH = 16, 4


@dataclass(frozen=True)
class TrainConfig:
    """Settings of a run. The same for every method, so that only the method differs.

    Settings that are not given are None until the plan of the study fills them in: what is given
    here wins over it. Settings with `epochs` are a recipe of one's own, for which no plan is made
    unless one is given: what they leave out is in `DEFAULTS`.

    Attributes:
        method: a name from `training.methods.METHODS`.
        options: the method's own, by name: see `training.options`.
        confusion: form of the confusion matrices of `cm`; for class labels only `global`.
        rank: of `low-rank` matrices.
        trace_weight: weight of the trace penalty of `cm`.
        likelihood: `marginal`, or `joint` with one truth shared by the raters of a case.
        warmup_epochs: epochs of `cm` with all matrices fixed to the identity, before they learn.
        backbone: `unet`, or a segmentation network of MONAI; for class labels a name that
            `nn.classifier_backbone` knows, or a module of your own.
        backbone_options: further arguments of the backbone.
        channels: per stage of the U-Net.
        n_features: channels of the feature map that the heads see.
        view: `2d` images; `slices` of volumes (along the first axis); `3d` patches; `auto` takes
            `2d` for images and `3d` for volumes.
        patch: size of what is cut from an image in training; the whole image when empty.
        strides: of the U-Net, per stage and axis; 2 after the first stage when empty.
        kernels: of the U-Net, per stage and axis; 3 when empty.
        spacing: millimetres per array axis that images and labels are brought to; empty for none.
        space: size that images of class labels are brought to; empty for none.
        normalisation: of intensities.
        epochs: largest number of epochs.
        steps_per_epoch: steps of an epoch; 0 for one pass over the training cases.
        rare_share: share of the patches that hold a rare class or disputed pixels.
        batch_size: cases or patches per step, over all devices.
        learning_rate: peak of the one-cycle schedule.
        confusion_learning_rate: the same for the confusion matrices.
        augment: random rotation, scale, mirror, noise, blur, contrast and gamma.
        mirror: whether mirroring is among them; not with class labels.
        overlap_weight: of one less the soft Dice beside cross-entropy, in methods that take fused
            labels for the truth of drawings.
        class_weights: `none`, or `balanced`: rare classes weigh more in the likelihood.
        validation: share of the training cases held out to choose the best epoch, without truth.
        patience: epochs without a better held-out likelihood before stopping; 0 for never.
        precision: of Lightning, such as `32-true` or `16-mixed`.
        accelerator: `auto`, `cpu` or `gpu`.
        devices: processes on this machine.
        num_nodes: machines.
        workers: processes that read data.
        memory: budget in bytes; what is free, less a reserve, when not given.
        time: seconds that training may take; the schedule is fitted into them.
        threads: of the processor; chosen by the measured step when not given.
        folds: networks to train, each with another part of the cases held out; 1 for one.
        fold: which of them, counted from 0.
        seed: same seed, same weights on one device.
    """

    method: str = "auto"
    options: dict[str, Any] = field(default_factory=dict)
    confusion: Literal["pixel", "global", "low-rank"] = BY_TASK
    rank: int = 1
    trace_weight: float = 0.01
    likelihood: Literal["marginal", "joint"] = BY_TASK
    warmup_epochs: int = BY_TASK
    backbone: str | nn.Module = BY_TASK
    backbone_options: dict[str, Any] = field(default_factory=dict)
    channels: tuple[int, ...] = BY_TASK
    strides: tuple[tuple[int, ...], ...] = ()
    kernels: tuple[tuple[int, ...], ...] = ()
    n_features: int = BY_TASK
    view: View = "auto"
    patch: tuple[int, ...] = BY_TASK
    spacing: tuple[float, ...] = ()
    space: tuple[int, ...] = ()
    normalisation: Normalisation = OWN
    epochs: int = BY_TASK
    steps_per_epoch: int = 0
    rare_share: float = 0.0
    batch_size: int = BY_TASK
    learning_rate: float = BY_TASK
    confusion_learning_rate: float = BY_TASK
    augment: bool = BY_TASK
    mirror: bool = True
    overlap_weight: float = 0.0
    class_weights: Literal["none", "balanced"] = "none"
    validation: float = 0.15
    patience: int = 0
    precision: str = "32-true"
    accelerator: str = "auto"
    devices: int = 1
    num_nodes: int = 1
    workers: int = 0
    memory: int | None = None
    time: float | None = None
    threads: int | None = None
    folds: int = 1
    fold: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        require_settings(vars(self))
        if self.batch_size is not None and self.batch_size % (self.devices * self.num_nodes):
            raise InputError(
                Fault(
                    f"batch size {self.batch_size} on {self.devices * self.num_nodes} devices",
                    expected="a multiple of their number, so that all do the same work",
                )
            )


def settled(config: TrainConfig, kind: str, n_cases: int) -> TrainConfig:
    """Fill in the defaults of a task.

    Few class labels are served in small batches, so that an epoch has some steps to learn by.

    Args:
        config: as given.
        kind: of the labels, `masks` or `classes`.
        n_cases: of the data set.

    Example:
        >>> settled(TrainConfig(epochs=3), "classes", 10_000).learning_rate
        0.001
        >>> settled(TrainConfig(), "classes", 320).batch_size
        20
    """
    missing = {k: v for k, v in DEFAULTS[kind].items() if getattr(config, k) is None}
    if kind == "classes" and "batch_size" in missing:
        n_devices = config.devices * config.num_nodes
        by_size = max(n_cases // _STEPS_PER_EPOCH, _SMALLEST_BATCH)
        missing["batch_size"] = min(-(-by_size // n_devices) * n_devices, missing["batch_size"])
    return replace(config, **missing)


def planned(config: TrainConfig, plan: Plan) -> TrainConfig:
    """Fill in what a plan decides; what the settings say wins.

    Example:
        >>> planned(TrainConfig(batch_size=4), Plan("2d", epochs=7, batch_size=2)).batch_size
        4
    """
    decided: dict[str, Any] = {
        "n_features": plan.n_features,
        "epochs": plan.epochs,
        "batch_size": plan.batch_size,
        "augment": plan.augment,
        "memory": plan.memory,
    }
    if plan.view != "whole":
        decided |= {"channels": plan.channels, "patch": plan.patch}
    missing = {name: value for name, value in decided.items() if getattr(config, name) is None}
    if plan.view != "whole" and config.view == "auto":
        missing["view"] = plan.view
    if "epochs" in missing and not config.steps_per_epoch:
        missing["steps_per_epoch"] = plan.steps_per_epoch
    if "channels" in missing or len(config.channels or ()) == len(plan.strides):
        missing |= {"strides": plan.strides, "kernels": plan.kernels}
    n_devices = config.devices * config.num_nodes
    if missing.get("batch_size", n_devices) % n_devices:
        missing["batch_size"] = -(-missing["batch_size"] // n_devices) * n_devices
    return replace(
        config,
        **missing,
        mirror=config.mirror and plan.mirror,
        spacing=config.spacing or plan.spacing,
        space=config.space or plan.space,
        normalisation=plan.normalisation if config.normalisation == OWN else config.normalisation,
        rare_share=config.rare_share or plan.rare_share,
        overlap_weight=config.overlap_weight or plan.overlap_weight,
    )


def write_config(config: TrainConfig, path: Path) -> None:
    """Write the settings as JSON."""
    with replacing(path, overwrite=True) as temporary:
        temporary.write_text(json.dumps(asdict(config), indent=2) + "\n", encoding="utf-8")


def read_config(path: Path) -> TrainConfig:
    """Read the settings of a run.

    Raises:
        InputError: they are damaged, or of another version.
    """
    with reading(path, "settings of a run", fix="copy the run again"):
        return _config_of(json.loads(path.read_text(encoding="utf-8")))


def _config_of(stored: dict[str, Any]) -> TrainConfig:
    known = {each.name for each in fields(TrainConfig)}
    unknown = sorted(set(stored) - known)
    if unknown:
        raise InputError(
            Fault(f"unknown setting {unknown[0]}", fix="use the version that wrote it")
        )
    settings: dict[str, Any] = {key: _as_tuples(value) for key, value in stored.items()}
    if "normalisation" in stored:
        given = {key: _as_tuples(value) for key, value in stored["normalisation"].items()}
        settings["normalisation"] = Normalisation(**given)
    return TrainConfig(**settings)


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value
