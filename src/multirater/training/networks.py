"""The networks of the methods, built from the settings and the sizes of the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from torch import nn

from multirater.errors import Fault, InputError
from multirater.nn.adapting_options import AdaptingOptions
from multirater.nn.adversary import AdaptingNetwork
from multirater.nn.attention_guided import AttentionGuidedNetwork
from multirater.nn.backbone import build_backbone
from multirater.nn.box_sup import BoxSupNetwork
from multirater.nn.classifier_backbone import build_classifier_backbone
from multirater.nn.coarse import CoarseNetwork, RaterKind
from multirater.nn.coarse_options import CoarseOptions
from multirater.nn.confusion import (
    ConfusionHead,
    GivenConfusion,
    GlobalConfusion,
    OracleConfusion,
    RaterConfusion,
)
from multirater.nn.cycle_mix import CycleMixNetwork
from multirater.nn.label_sampling import LabelSamplingNetwork
from multirater.nn.local_to_global import LocalToGlobalNetwork
from multirater.nn.pixel_confusion import LowRankConfusion, PixelConfusion, ProductConfusion
from multirater.nn.prism import PrismNetwork
from multirater.nn.prism.options import PrismOptions
from multirater.nn.prob_unet import ProbabilisticUNet
from multirater.nn.rater_network import ConfusionNetwork, RaterNetwork, SeparateNetworks
from multirater.nn.seed_network import SeedNetwork
from multirater.nn.soft_bootstrap import BootstrapNetwork
from multirater.training.config import TrainConfig
from multirater.training.options import checked_options


@dataclass(frozen=True)
class NetworkShape:
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
    kinds: tuple[RaterKind, ...] = ()


Build: TypeAlias = Callable[[TrainConfig, NetworkShape], RaterNetwork]


def plain(config: TrainConfig, shape: NetworkShape) -> RaterNetwork:
    """Backbone and truth head: labels are taken for the truth."""
    return _confusion_network(config, shape, None)


def with_confusion(config: TrainConfig, shape: NetworkShape) -> RaterNetwork:
    """With confusion matrices of the form that the settings ask for."""
    sizes = (shape.n_raters, shape.n_classes)
    head: ConfusionHead
    if shape.ndim == 0:
        _require_global(config)
        head = RaterConfusion(*sizes)
    elif config.confusion == "global":
        head = GlobalConfusion(*sizes)
    elif config.confusion == "low-rank":
        head = LowRankConfusion(*sizes, config.n_features, config.rank)
    elif config.confusion == "product":
        head = ProductConfusion(*sizes, config.n_features, config.rank)
    else:
        head = PixelConfusion(*sizes, config.n_features)
    network = _confusion_network(config, shape, head)
    if shape.ndim == 0 and config.method == "cm":
        chosen = checked_options(TraceOptions, config.options, config.method)
        network.trace_per_image = chosen.trace_per == "image"
    return network


@dataclass(frozen=True)
class TraceOptions:
    """Options of the method `cm` for class labels.

    Attributes:
        trace_per: what the trace is weighed against: a label, or all labels of an image together,
            as in Tanno's listing, where cross-entropies are summed over raters and traces averaged.
            With R labels per image a weight is then worth an R-th of what it is per label.
    """

    trace_per: Literal["label", "image"] = "label"


def _require_global(config: TrainConfig) -> None:
    if config.confusion != "global":
        raise InputError(
            Fault(
                f"{config.confusion} confusion matrices for class labels, which have no pixels",
                expected="global",
                fix="leave --confusion out",
            )
        )


def with_oracle(config: TrainConfig, shape: NetworkShape) -> RaterNetwork:
    """With the true confusion matrices."""
    return _confusion_network(config, shape, OracleConfusion(shape.n_raters, shape.n_classes))


def with_given(config: TrainConfig, shape: NetworkShape) -> RaterNetwork:
    """With confusion matrices that something else finds."""
    _require_global(config)
    return _confusion_network(config, shape, GivenConfusion(shape.n_raters, shape.n_classes))


def of_raters(network: Callable[..., RaterNetwork]) -> Build:
    """Return what builds a network of the usual parts, with something for each rater."""

    def build(config: TrainConfig, shape: NetworkShape) -> RaterNetwork:
        return network(
            _backbone(config, shape),
            n_raters=shape.n_raters,
            **_sizes(config, shape),
        )

    return build


def bootstrap(config: TrainConfig, shape: NetworkShape) -> RaterNetwork:
    """For soft bootstrapping."""
    return BootstrapNetwork(
        _backbone(config, shape),
        **_sizes(config, shape),
    )


def separate(config: TrainConfig, shape: NetworkShape) -> RaterNetwork:
    """One network per rater."""
    return SeparateNetworks(
        [_confusion_network(config, shape, None) for _ in range(shape.n_raters)]
    )


def prob_unet(config: TrainConfig, shape: NetworkShape) -> RaterNetwork:
    """The probabilistic U-Net."""
    return ProbabilisticUNet(
        _backbone(config, shape),
        n_channels=shape.n_channels,
        channels=config.channels,
        **_sizes(config, shape),
    )


def coarse(
    config: TrainConfig, shape: NetworkShape, *, with_confusion: bool = True
) -> RaterNetwork:
    """For coarse drawings, with or without confusion matrices."""
    return CoarseNetwork(
        _backbone(config, shape),
        **_sizes(config, shape),
        kinds=shape.kinds,
        with_confusion=with_confusion,
        options=coarse_options(config) if with_confusion else None,
    )


def cycle_mix(config: TrainConfig, shape: NetworkShape) -> RaterNetwork:
    """CycleMix, on drawings."""
    return CycleMixNetwork(
        _backbone(config, shape),
        **_sizes(config, shape),
        kinds=shape.kinds,
        with_confusion=False,
        options=None,
    )


def box_sup(config: TrainConfig, shape: NetworkShape) -> RaterNetwork:
    """BoxSup, on candidates within boxes."""
    return BoxSupNetwork(_backbone(config, shape), **_sizes(config, shape), confusion=None)


def of_seeds(network: Callable[..., SeedNetwork]) -> Build:
    """Return what builds a network that learns from seeds."""

    def build(config: TrainConfig, shape: NetworkShape) -> RaterNetwork:
        return network(_backbone(config, shape), **_sizes(config, shape), kinds=shape.kinds)

    return build


def local_to_global(config: TrainConfig, shape: NetworkShape) -> RaterNetwork:
    """L2G, on boxes: two backbones."""
    backbone, local = _backbone(config, shape), _backbone(config, shape)
    return LocalToGlobalNetwork(backbone, local, **_sizes(config, shape), kinds=shape.kinds)


def coarse_options(config: TrainConfig) -> CoarseOptions:
    """Return what was chosen of the method for coarse drawings."""
    return checked_options(CoarseOptions, config.options, config.method)


def label_sampling(config: TrainConfig, shape: NetworkShape) -> RaterNetwork:
    """Plain, trained on one rater's label at a time."""
    return LabelSamplingNetwork(
        _backbone(config, shape),
        **_sizes(config, shape),
        confusion=None,
    )


def prism(config: TrainConfig, shape: NetworkShape) -> RaterNetwork:
    """MrPrism, which has an encoder of its own."""
    _require_unet(config)
    return PrismNetwork(
        n_channels=shape.n_channels,
        n_raters=shape.n_raters,
        n_classes=shape.n_classes,
        ndim=shape.ndim,
        channels=config.channels,
        options=prism_options(config),
    )


def attention_guided(config: TrainConfig, shape: NetworkShape) -> RaterNetwork:
    """AG-Net, which has an encoder and a decoder of its own."""
    _require_unet(config)
    return AttentionGuidedNetwork(
        n_channels=shape.n_channels,
        n_classes=shape.n_classes,
        ndim=shape.ndim,
        channels=config.channels,
    )


def adapting(network: Callable[..., AdaptingNetwork]) -> Build:
    """Return what builds a network that adapts to images without labels."""

    def build(config: TrainConfig, shape: NetworkShape) -> RaterNetwork:
        return network(
            _backbone(config, shape),
            **_sizes(config, shape),
            adversarial_weight=adapting_options(config).adversarial_weight,
        )

    return build


def adapting_options(config: TrainConfig) -> AdaptingOptions:
    """Return what was chosen of a method that adapts to images without labels."""
    return checked_options(AdaptingOptions, config.options, config.method)


def _require_unet(config: TrainConfig) -> None:
    """Refuse another backbone for methods that have stages of their own."""
    if config.backbone != "unet":
        raise InputError(
            Fault(
                f"{config.method} on the backbone {config.backbone}",
                expected="unet, whose stages it decodes in its own way",
            )
        )


def prism_options(config: TrainConfig) -> PrismOptions:
    """Return what was chosen of MrPrism."""
    return checked_options(PrismOptions, config.options, config.method)


def _backbone(config: TrainConfig, shape: NetworkShape) -> nn.Module:
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
        strides=config.strides,
        kernels=config.kernels,
        options=config.backbone_options,
    )


def _confusion_network(
    config: TrainConfig, shape: NetworkShape, confusion: ConfusionHead | None
) -> ConfusionNetwork:
    return ConfusionNetwork(
        _backbone(config, shape),
        **_sizes(config, shape),
        confusion=confusion,
    )


def _sizes(config: TrainConfig, shape: NetworkShape) -> dict[str, int]:
    """Return the sizes that networks with a backbone of ours have in common."""
    return {
        "n_features": config.n_features,
        "n_classes": shape.n_classes,
        "ndim": shape.ndim,
    }
