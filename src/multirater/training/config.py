"""Everything that decides what a training run does, kept as JSON in its folder.

Each setting is one field, which says what it is, what it may be and what it is when it is not
given; the options of `multirater train` are made from these fields. No torch and no numpy: the
command line imports this before it knows what is asked for.
"""

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal

from multirater.training.setting_check import require_settings

if TYPE_CHECKING:
    from torch import nn

    from multirater.training.plan import Plan

View = Literal["auto", "2d", "slices", "3d"]
NormalisationKind = Literal["case", "study"]


@dataclass(frozen=True)
class Normalisation:
    """How to bring intensities to about zero mean and unit variance.

    Attributes:
        kind: `case`, each channel of each case by its own mean and deviation, for images whose
            intensities have no unit; `study`, all cases by the same numbers, where a value means
            the same in all of them: Hounsfield units, colours.
        mean: per channel, of the study.
        deviation: per channel, of the study.
        low: per channel, what lower values are raised to; empty for nothing.
        high: per channel, what higher values are lowered to; empty for nothing.
    """

    kind: NormalisationKind = "case"
    mean: tuple[float, ...] = ()
    deviation: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


OWN = Normalisation()
"""Each channel of each case by itself."""

_CHANNELS = (32, 64, 128, 256)

BY_TASK: Any = None
"""Default of a setting that the plan, or the kind of the labels, decides: see `settled`."""

DEFAULTS: dict[str, dict[str, Any]] = {
    "masks": {
        "confusion": "pixel",
        "likelihood": "marginal",
        "warmup_epochs": 1,
        "backbone": "unet",
        "channels": _CHANNELS,
        "n_features": 32,
        "patch": (),
        "epochs": 20,
        "batch_size": 16,
        "augment": False,
        "precision": "32-true",
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
        "channels": _CHANNELS,
        "n_features": 64,
        "patch": (),
        "epochs": 15,
        "batch_size": 64,
        "augment": False,
        "precision": "32-true",
        "learning_rate": 1e-3,
        "confusion_learning_rate": 3e-2,
    },
}
"""What a setting is when it is not given, by the kind of the labels."""

_STEPS_PER_EPOCH, _SMALLEST_BATCH = 16, 4

PLANNED = ("channels", "n_features", "patch", "epochs", "batch_size", "augment")
"""Settings that the plan of a study fills in."""

_WIDEST, _STAGES, _STRIDE = 8192, 12, 63
"""Channels, stages, and steps or sizes of a convolution, that no network here has more of."""

_SIDE = 2**16
"""Longest side, in pixels, of what a network sees at once."""

_EPOCHS, _FASTEST, _HEAVIEST = 10**6, 1e30, 1e6
"""Beyond which rates and weights only make a loss that is no number."""

_PROCESSES = 1024
_LARGEST_SEED = 2**32 - 1
"""That numpy takes."""

METHOD, NETWORK, RATERS, SCHEDULE, MACHINE = "Method", "Network", "Raters", "Schedule", "Machine"
"""Groups of settings, as the command line shows them."""


def setting(
    default: Any,
    words: str,
    group: str = "",
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    longest: int = 3,
    option: str = "",
    text: str = "",
) -> Any:
    """Return a field that says of itself what the user needs to know.

    Args:
        default: when it is not given; `BY_TASK` where the plan or the kind of labels decides.
        words: what it is.
        group: of the options of `train` in which it is shown; none when it is not one of them.
        least: smallest value that it may have.
        above: what it has to be more than.
        most: largest value that it may have.
        longest: of several numbers, how many there may be.
        option: its name on the command line, where that is another.
        text: how the command line reads it, where it is no plain value: `numbers`, `json`,
            `pairs`, `amount` or `duration`.
    """
    told = {"words": words, "group": group, "option": option, "text": text}
    limits = {"least": least, "above": above, "most": most, "longest": longest}
    if isinstance(default, dict):
        return field(default_factory=dict, metadata={**told, **limits})
    return field(default=default, metadata={**told, **limits})


@dataclass(frozen=True)
class TrainConfig:
    """Settings of a run. The same for every method, so that only the method differs.

    Settings that are not given are None until the plan of the study fills them in: what is given
    here wins over it. Settings with `epochs` are a recipe of one's own, for which no plan is made
    unless one is given: what they leave out is in `DEFAULTS`.
    """

    method: str = setting(
        "auto",
        "auto, cm, mean, wdn, crowd-layer, agg-net, max-mig or truth. For drawings also mode, "
        "staple, spatial-staple, separate, prob-unet, prism, mrnet, luw, label-sampling, "
        "attention-guided, p-osal, beal, diagnosis-first, oracle; "
        "for class labels gem, mbem, majority, dawid-skene, single-cm, soft-bootstrap; for coarse "
        "drawings coarse, partial, positive-only, grabcut, random-walker, lazy-snapping, "
        "grabcut-boxes, cycle-mix, box-sup, scribble-sup, coarse-sup, label-cleaning-mil, "
        "local-to-global. "
        "Another name lists all.",
        METHOD,
    )
    options: dict[str, Any] = setting(
        {},
        "Option of the method, as name=value; may be repeated.",
        METHOD,
        option="--set",
        text="pairs",
    )
    confusion: Literal["pixel", "global", "low-rank", "product"] = setting(
        BY_TASK,
        "Form of the confusion matrices of cm; for class labels only global. low-rank is identity "
        "plus a product of low rank, product the product alone.",
        RATERS,
    )
    rank: int = setting(1, "Of low-rank matrices and products.", RATERS, least=1, most=_WIDEST)
    trace_weight: float = setting(
        0.01, "Of the trace penalty of cm.", RATERS, least=0, most=_HEAVIEST
    )
    likelihood: Literal["marginal", "joint"] = setting(
        BY_TASK, "Marginal, or joint with one truth shared by the raters of a case.", RATERS
    )
    warmup_epochs: int = setting(
        BY_TASK,
        "Epochs of cm with all matrices fixed, before they learn.",
        RATERS,
        least=0,
        most=_EPOCHS,
    )
    warmup: Literal["fixed", "trace"] = setting(
        "fixed",
        "What the warm-up of cm does: matrices fixed, labels taken for the truth; or matrices that "
        "learn while their trace is maximised, as Zhang 2020 says.",
        RATERS,
    )
    backbone: "str | nn.Module" = setting(
        BY_TASK,
        "unet, or a MONAI network, such as SegResNet; for class labels auto, mlp, cnn, cnn-128, or "
        "resnet10 to resnet200. In Python also a module of your own, for class labels.",
        NETWORK,
        text="word",
    )
    backbone_options: dict[str, Any] = setting(
        {}, "Further arguments of the backbone, as JSON.", NETWORK, text="json"
    )
    channels: tuple[int, ...] = setting(
        BY_TASK,
        "Per stage of the U-Net, such as 32,64,128.",
        NETWORK,
        least=1,
        most=_WIDEST,
        longest=_STAGES,
        text="numbers",
    )
    strides: tuple[tuple[int, ...], ...] = setting(
        (),
        "Of the U-Net, per stage and axis; 2 after the first stage when empty.",
        least=1,
        most=_STRIDE,
        longest=_STAGES,
    )
    kernels: tuple[tuple[int, ...], ...] = setting(
        (),
        "Of the U-Net, per stage and axis; 3 when empty.",
        least=1,
        most=_STRIDE,
        longest=_STAGES,
    )
    n_features: int = setting(
        BY_TASK, "Channels that the heads see.", NETWORK, least=1, most=_WIDEST
    )
    view: View = setting(
        "auto",
        "2d images; slices of volumes, along the first axis; 3d patches; auto takes 2d for images "
        "and 3d for volumes.",
        NETWORK,
    )
    patch: tuple[int, ...] = setting(
        BY_TASK,
        "Size of what is cut from an image in training, such as 96,96; the whole image when empty.",
        NETWORK,
        least=1,
        most=_SIDE,
        text="numbers",
    )
    spacing: tuple[float, ...] = setting(
        (),
        "Millimetres per array axis that images and labels are brought to; empty for none.",
        above=0,
        most=10**6,
    )
    space: tuple[int, ...] = setting(
        (), "Size that images of class labels are brought to; empty for none.", least=1, most=_SIDE
    )
    orientation: str = setting(
        "", "Where array axes of volumes go that they are turned to, such as SPL; empty for none."
    )
    normalisation: Normalisation = setting(OWN, "Of intensities.")
    epochs: int = setting(
        BY_TASK,
        "Largest number of passes over the cases, instead of a number of steps.",
        SCHEDULE,
        least=1,
        most=_EPOCHS,
    )
    steps_per_epoch: int = setting(
        0, "Steps of an epoch; 0 for one pass over the training cases.", least=0, most=10**7
    )
    rare_share: float = setting(
        0.0, "Share of the patches that hold a rare class or disputed pixels.", least=0, most=1
    )
    batch_size: int = setting(
        BY_TASK, "Cases or patches per step, over all devices.", SCHEDULE, least=1, most=2**16
    )
    learning_rate: float = setting(
        BY_TASK, "Peak of the one-cycle schedule.", SCHEDULE, above=0, most=_FASTEST
    )
    rate: Literal["one-cycle", "constant"] = setting(
        "one-cycle", "How learning rates go over a run.", SCHEDULE
    )
    confusion_learning_rate: float = setting(
        BY_TASK, "The same for the confusion matrices.", SCHEDULE, least=0, most=_FASTEST
    )
    augment: bool = setting(BY_TASK, "Turn, scale, mirror, blur and more, at random.", SCHEDULE)
    augmentation: Literal["all", "flips"] = setting(
        "all", "What augmentation does: all of that, or mirroring alone.", SCHEDULE
    )
    mirror: bool = setting(
        True, "Whether mirroring is among them: off for anatomy that has sides.", SCHEDULE
    )
    overlap_weight: float = setting(
        0.0,
        "Of one less the soft Dice beside cross-entropy, in methods that take fused labels for the "
        "truth of drawings.",
        least=0,
        most=_HEAVIEST,
    )
    class_weights: Literal["none", "balanced"] = setting(
        "none", "With balanced, rare classes weigh more in the likelihood.", SCHEDULE
    )
    validation: float = setting(
        0.15,
        "Share of the training cases held out to choose the best epoch.",
        SCHEDULE,
        least=0,
        most=1,
    )
    patience: int = setting(
        0,
        "Epochs without a better held-out likelihood before stopping; 0 for never.",
        SCHEDULE,
        least=0,
        most=_EPOCHS,
    )
    precision: str | None = setting(
        BY_TASK,
        "32-true, 16-mixed or bf16-mixed; when not given, bf16-mixed for large 2-D steps on a "
        "processor that multiplies such numbers.",
        MACHINE,
    )
    accelerator: str = setting("auto", "auto, cpu or gpu.", MACHINE)
    devices: int = setting(1, "Processes on this machine.", MACHINE, least=1, most=_PROCESSES)
    num_nodes: int = setting(1, "Machines.", MACHINE, least=1, most=_PROCESSES, option="--nodes")
    workers: int = setting(
        0,
        "Processes that read data, at most two per core.",
        MACHINE,
        least=0,
        most=_PROCESSES,
    )
    memory: int | None = setting(
        None,
        "Budget of memory, such as 6GB; in Python in bytes.",
        MACHINE,
        above=0,
        most=2**62,
        text="amount",
    )
    time: float | None = setting(
        None,
        "Fit the schedule into a time, such as 20m; in Python in seconds.",
        SCHEDULE,
        above=0,
        most=10**9,
        text="duration",
    )
    threads: int | None = setting(None, "Of the processor.", MACHINE, least=1, most=_PROCESSES)
    folds: int = setting(
        1,
        "Networks to train, each with another part of the cases held out.",
        SCHEDULE,
        least=1,
        most=1000,
    )
    fold: int = setting(0, "Which of them, counted from 0.", least=0)
    seed: int = setting(
        0, "Same seed, same weights on one device.", SCHEDULE, least=0, most=_LARGEST_SEED
    )

    def __post_init__(self) -> None:
        require_settings(self)


TrainConfig.__doc__ = f"{TrainConfig.__doc__}\n    Attributes:\n" + "\n".join(
    f"        {each.name}: {each.metadata['words']}" for each in fields(TrainConfig)
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


def planned(config: TrainConfig, plan: "Plan") -> TrainConfig:
    """Fill in what a plan decides; what the settings say wins.

    Example:
        >>> from multirater.training.plan import Plan
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
