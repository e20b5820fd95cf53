"""The methods: the one place that maps a name to its parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from multirater.errors import Fault, InputError
from multirater.nn.backbone import FeatureNetwork, build_backbone
from multirater.nn.confusion import (
    ConfusionHead,
    GlobalConfusion,
    LowRankConfusion,
    OracleConfusion,
    PixelConfusion,
)
from multirater.nn.jury import JurySegmenter
from multirater.nn.label_sampling import LabelSamplingNetwork
from multirater.nn.mrnet import MRNet
from multirater.nn.multi_hypothesis import MultiHypothesisNetwork
from multirater.nn.prism import PrismNetwork
from multirater.nn.prism.options import PrismOptions
from multirater.nn.prob_unet import ProbabilisticUNet
from multirater.nn.segmenter import RaterSegmenter, Segmenter, SeparateSegmenters
from multirater.training import jury
from multirater.training.config import TrainConfig
from multirater.training.options import NoOptions, checked_options
from multirater.training.targets import Prepare, as_they_are, fused, on_truth


@dataclass(frozen=True)
class Shape:
    """Sizes that the data give a network."""

    n_raters: int
    n_classes: int
    n_channels: int
    ndim: int


Build: TypeAlias = Callable[[TrainConfig, Shape], Segmenter]


def _none(_: TrainConfig) -> int:
    return 0


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


def _plain(config: TrainConfig, shape: Shape) -> Segmenter:
    return _segmenter(config, shape, None)


def _with_confusion(config: TrainConfig, shape: Shape) -> Segmenter:
    sizes = (shape.n_raters, shape.n_classes)
    head: ConfusionHead
    if config.confusion == "global":
        head = GlobalConfusion(*sizes)
    elif config.confusion == "low-rank":
        head = LowRankConfusion(*sizes, config.n_features, config.rank)
    else:
        head = PixelConfusion(*sizes, config.n_features)
    return _segmenter(config, shape, head)


def _with_oracle(config: TrainConfig, shape: Shape) -> Segmenter:
    return _segmenter(config, shape, OracleConfusion(shape.n_raters, shape.n_classes))


def _jury(config: TrainConfig, shape: Shape) -> Segmenter:
    return JurySegmenter(
        _backbone(config, shape),
        n_features=config.n_features,
        n_raters=shape.n_raters,
        n_classes=shape.n_classes,
        ndim=shape.ndim,
    )


def _separate(config: TrainConfig, shape: Shape) -> Segmenter:
    return SeparateSegmenters([_segmenter(config, shape, None) for _ in range(shape.n_raters)])


def _prob_unet(config: TrainConfig, shape: Shape) -> Segmenter:
    return ProbabilisticUNet(
        _backbone(config, shape),
        n_features=config.n_features,
        n_channels=shape.n_channels,
        n_classes=shape.n_classes,
        ndim=shape.ndim,
        channels=config.channels,
    )


def _mrnet(config: TrainConfig, shape: Shape) -> Segmenter:
    return MRNet(
        _backbone(config, shape),
        n_features=config.n_features,
        n_raters=shape.n_raters,
        n_classes=shape.n_classes,
        ndim=shape.ndim,
    )


def _multi_hypothesis(config: TrainConfig, shape: Shape) -> Segmenter:
    return MultiHypothesisNetwork(
        _backbone(config, shape),
        n_features=config.n_features,
        n_hypotheses=shape.n_raters,
        n_classes=shape.n_classes,
        ndim=shape.ndim,
    )


def _label_sampling(config: TrainConfig, shape: Shape) -> Segmenter:
    return LabelSamplingNetwork(
        _backbone(config, shape),
        n_features=config.n_features,
        n_classes=shape.n_classes,
        ndim=shape.ndim,
        confusion=None,
    )


def _prism(config: TrainConfig, shape: Shape) -> Segmenter:
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


def _backbone(config: TrainConfig, shape: Shape) -> FeatureNetwork:
    return build_backbone(
        config.backbone,
        ndim=shape.ndim,
        n_channels=shape.n_channels,
        n_features=config.n_features,
        channels=config.channels,
        options=config.backbone_options,
    )


def _segmenter(
    config: TrainConfig, shape: Shape, confusion: ConfusionHead | None
) -> RaterSegmenter:
    return RaterSegmenter(
        _backbone(config, shape),
        n_features=config.n_features,
        n_classes=shape.n_classes,
        ndim=shape.ndim,
        confusion=confusion,
    )


METHODS: dict[str, Method] = {
    "auto": Method(as_they_are, _jury, jury.warmup_epochs, warmup_competes=False),
    "cm": Method(as_they_are, _with_confusion, lambda config: config.warmup_epochs),
    # Cross-entropy with the mean of the labels is the mean of the cross-entropies.
    "mean": Method(as_they_are, _plain),
    "mode": Method(fused("majority-vote"), _plain),
    "staple": Method(fused("staple"), _plain),
    "spatial-staple": Method(fused("spatial-staple"), _plain),
    "separate": Method(as_they_are, _separate),
    "prob-unet": Method(as_they_are, _prob_unet),
    "prism": Method(as_they_are, _prism, options=PrismOptions),
    "mrnet": Method(as_they_are, _mrnet),
    "luw": Method(as_they_are, _multi_hypothesis),
    "label-sampling": Method(as_they_are, _label_sampling),
    "oracle": Method(as_they_are, _with_oracle, with_truth=True),
    "truth": Method(on_truth, _plain),
}


def training_method(name: str) -> Method:
    """Return a method by name."""
    if name not in METHODS:
        raise InputError(
            Fault(f"no training method {name!r}", expected=f"one of {', '.join(METHODS)}")
        )
    return METHODS[name]


def check_options(config: TrainConfig) -> None:
    """Refuse options that the method does not have, or values that they cannot have."""
    checked_options(training_method(config.method).options, config.options, config.method)
