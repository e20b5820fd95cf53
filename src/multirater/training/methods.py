"""The methods: the one place that maps a name to its parts.

One table for drawings, one for class labels; most entries are made of the same parts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from torch import nn

from multirater.errors import Fault, InputError
from multirater.fuse.drawing_masks import MASKS_OF_SEEDS
from multirater.nn.agg_net import AggregationNetwork
from multirater.nn.backbone import build_backbone
from multirater.nn.bootstrap import BootstrapNetwork
from multirater.nn.classifier_backbone import build_classifier_backbone
from multirater.nn.coarse import CoarseNetwork, Kind
from multirater.nn.confusion import (
    ConfusionHead,
    GlobalConfusion,
    LowRankConfusion,
    OracleConfusion,
    PixelConfusion,
    RaterConfusion,
)
from multirater.nn.crowd_layer import CrowdLayerNetwork
from multirater.nn.em import GeneralizedEM, ModelBootstrappedEM
from multirater.nn.jury import JuryNetwork
from multirater.nn.label_sampling import LabelSamplingNetwork
from multirater.nn.max_mig import MaxMigNetwork
from multirater.nn.mrnet import MRNet
from multirater.nn.multi_hypothesis import MultiHypothesisNetwork
from multirater.nn.prism import PrismNetwork
from multirater.nn.prism.options import PrismOptions
from multirater.nn.prob_unet import ProbabilisticUNet
from multirater.nn.rater_network import ConfusionNetwork, RaterNetwork, SeparateNetworks
from multirater.nn.weighted_doctors import WeightedDoctorNet
from multirater.training import jury
from multirater.training.config import TrainConfig
from multirater.training.drawn_targets import as_drawn, mask_of_drawings
from multirater.training.options import NoOptions, checked_options
from multirater.training.targets import Prepare, as_they_are, fused, on_truth


@dataclass(frozen=True)
class Shape:
    """Sizes that the data give a network.

    Attributes:
        n_raters: raters that it is trained on.
        n_classes: classes, background included.
        n_channels: of the images, or features of vectors.
        ndim: axes of the labels' space: 2 or 3, 0 for class labels.
        space: size of the images that class labels are given for; empty for vectors and drawings.
        kinds: of labels that each rater gives: masks, or coarse drawings.
    """

    n_raters: int
    n_classes: int
    n_channels: int
    ndim: int
    space: tuple[int, ...] = ()
    kinds: tuple[Kind, ...] = ()


Build: TypeAlias = Callable[[TrainConfig, Shape], RaterNetwork]


def _none(_: TrainConfig) -> int:
    return 0


def _quarter(config: TrainConfig) -> int:
    """Drawings are taken as they are until the network is right more often than their noise."""
    return max(config.warmup_epochs, round(config.epochs / 4))


@dataclass(frozen=True)
class Method:
    """What a method trains on, and with which network.

    Attributes:
        prepare: turns the data set into the one that is trained on.
        build: makes the network.
        warmup_epochs: how many of the first epochs take the labels for the truth.
        with_truth: whether training is given the truth.
        warmup_competes: whether an epoch of the warm-up may be the best. A jury's truth is only
            learned after it; matrices merely stay fixed until then.
        options: dataclass that declares the method's own options.
    """

    prepare: Prepare
    build: Build
    warmup_epochs: Callable[[TrainConfig], int] = _none
    with_truth: bool = False
    warmup_competes: bool = True
    options: type = NoOptions


def _plain(config: TrainConfig, shape: Shape) -> RaterNetwork:
    return _confusion_network(config, shape, None)


def _with_confusion(config: TrainConfig, shape: Shape) -> RaterNetwork:
    sizes = (shape.n_raters, shape.n_classes)
    head: ConfusionHead
    if shape.ndim == 0:
        _require_global(config)
        head = RaterConfusion(*sizes)
    elif config.confusion == "global":
        head = GlobalConfusion(*sizes)
    elif config.confusion == "low-rank":
        head = LowRankConfusion(*sizes, config.n_features, config.rank)
    else:
        head = PixelConfusion(*sizes, config.n_features)
    return _confusion_network(config, shape, head)


def _require_global(config: TrainConfig) -> None:
    if config.confusion != "global":
        raise InputError(
            Fault(
                f"{config.confusion} confusion matrices for class labels, which have no pixels",
                expected="global",
                fix="leave --confusion out",
            )
        )


def _with_oracle(config: TrainConfig, shape: Shape) -> RaterNetwork:
    return _confusion_network(config, shape, OracleConfusion(shape.n_raters, shape.n_classes))


def _of_raters(network: Callable[..., RaterNetwork]) -> Build:
    """Return what builds a network of the usual parts, with something for each rater."""

    def build(config: TrainConfig, shape: Shape) -> RaterNetwork:
        return network(
            _backbone(config, shape),
            n_features=config.n_features,
            n_raters=shape.n_raters,
            n_classes=shape.n_classes,
            ndim=shape.ndim,
        )

    return build


def _bootstrap(config: TrainConfig, shape: Shape) -> RaterNetwork:
    return BootstrapNetwork(
        _backbone(config, shape),
        n_features=config.n_features,
        n_classes=shape.n_classes,
        ndim=shape.ndim,
    )


def _separate(config: TrainConfig, shape: Shape) -> RaterNetwork:
    return SeparateNetworks(
        [_confusion_network(config, shape, None) for _ in range(shape.n_raters)]
    )


def _prob_unet(config: TrainConfig, shape: Shape) -> RaterNetwork:
    return ProbabilisticUNet(
        _backbone(config, shape),
        n_features=config.n_features,
        n_channels=shape.n_channels,
        n_classes=shape.n_classes,
        ndim=shape.ndim,
        channels=config.channels,
    )


def _coarse(config: TrainConfig, shape: Shape, *, with_confusion: bool = True) -> RaterNetwork:
    return CoarseNetwork(
        _backbone(config, shape),
        n_features=config.n_features,
        n_classes=shape.n_classes,
        ndim=shape.ndim,
        kinds=shape.kinds,
        with_confusion=with_confusion,
    )


def _label_sampling(config: TrainConfig, shape: Shape) -> RaterNetwork:
    return LabelSamplingNetwork(
        _backbone(config, shape),
        n_features=config.n_features,
        n_classes=shape.n_classes,
        ndim=shape.ndim,
        confusion=None,
    )


def _prism(config: TrainConfig, shape: Shape) -> RaterNetwork:
    if config.backbone != "unet":
        raise InputError(
            Fault(
                f"prism on the backbone {config.backbone}",
                expected="unet, whose stages it decodes in its own way",
            )
        )
    return PrismNetwork(
        n_channels=shape.n_channels,
        n_raters=shape.n_raters,
        n_classes=shape.n_classes,
        ndim=shape.ndim,
        channels=config.channels,
        options=checked_options(PrismOptions, config.options, config.method),
    )


def _backbone(config: TrainConfig, shape: Shape) -> nn.Module:
    if shape.ndim == 0:
        return build_classifier_backbone(
            config.backbone,
            n_channels=shape.n_channels,
            space=shape.space,
            n_features=config.n_features,
            options=config.backbone_options,
        )
    if isinstance(config.backbone, nn.Module):
        raise InputError(Fault("a module as backbone for drawings", expected="a name"))
    return build_backbone(
        config.backbone,
        ndim=shape.ndim,
        n_channels=shape.n_channels,
        n_features=config.n_features,
        channels=config.channels,
        options=config.backbone_options,
    )


def _confusion_network(
    config: TrainConfig, shape: Shape, confusion: ConfusionHead | None
) -> ConfusionNetwork:
    return ConfusionNetwork(
        _backbone(config, shape),
        n_features=config.n_features,
        n_classes=shape.n_classes,
        ndim=shape.ndim,
        confusion=confusion,
    )


_CM = Method(as_they_are, _with_confusion, lambda config: config.warmup_epochs)

_BY_RATER: dict[str, Method] = {
    "wdn": Method(as_they_are, _of_raters(WeightedDoctorNet)),
    "crowd-layer": Method(as_they_are, _of_raters(CrowdLayerNetwork)),
    "agg-net": Method(as_they_are, _of_raters(AggregationNetwork), lambda _: 1),
    "max-mig": Method(as_they_are, _of_raters(MaxMigNetwork)),
}
"""Methods of others that serve drawings and class labels alike."""

_FOR_MASKS: dict[str, Method] = {
    "auto": Method(as_they_are, _of_raters(JuryNetwork), jury.warmup_epochs, warmup_competes=False),
    "cm": _CM,
    # Cross-entropy with the mean of the labels is the mean of the cross-entropies.
    "mean": Method(as_they_are, _plain),
    "mode": Method(fused("majority-vote"), _plain),
    "staple": Method(fused("staple"), _plain),
    "spatial-staple": Method(fused("spatial-staple"), _plain),
    "separate": Method(as_they_are, _separate),
    "prob-unet": Method(as_they_are, _prob_unet),
    "prism": Method(as_they_are, _prism, options=PrismOptions),
    "mrnet": Method(as_they_are, _of_raters(MRNet)),
    "luw": Method(as_they_are, _of_raters(MultiHypothesisNetwork)),
    "label-sampling": Method(as_they_are, _label_sampling),
    **_BY_RATER,
    "oracle": Method(as_they_are, _with_oracle, with_truth=True),
    "truth": Method(on_truth, _plain),
    "coarse": Method(as_drawn, _coarse, _quarter, warmup_competes=False),
    "partial": Method(as_drawn, partial(_coarse, with_confusion=False)),
    **{name: Method(mask_of_drawings(name), _plain) for name in MASKS_OF_SEEDS},
}


_FOR_CLASSES: dict[str, Method] = {
    "auto": _CM,
    "cm": _CM,
    "gem": Method(as_they_are, _of_raters(GeneralizedEM)),
    "mbem": Method(as_they_are, _of_raters(ModelBootstrappedEM)),
    **_BY_RATER,
    "mean": Method(as_they_are, _plain),
    "majority": Method(fused("majority-vote"), _plain),
    "dawid-skene": Method(fused("dawid-skene"), _plain),
    "single-cm": Method(fused("majority-vote"), _with_confusion),
    "soft-bootstrap": Method(fused("majority-vote"), _bootstrap),
    "truth": Method(on_truth, _plain),
}

METHODS: dict[str, dict[str, Method]] = {"masks": _FOR_MASKS, "classes": _FOR_CLASSES}
"""By kind of labels, then by name."""


def training_method(name: str, kind: str) -> Method:
    """Return a method by name.

    Args:
        name: as given by the user.
        kind: of the labels, `masks` or `classes`.
    """
    known = METHODS[kind]
    if name in known:
        return known[name]
    other = next((each for each in METHODS if name in METHODS[each]), None)
    what = {"masks": "drawings", "classes": "class labels"}
    raise InputError(
        Fault(
            f"no training method {name!r}"
            + ("" if other is None else f" for {what[kind]}: it is for {what[other]}"),
            expected=f"one of {', '.join(known)}",
        )
    )


def check_options(config: TrainConfig, kind: str) -> None:
    """Refuse options that the method does not have, or values that they cannot have."""
    checked_options(training_method(config.method, kind).options, config.options, config.method)
