"""Networks that turn a whole image, or a vector of features, into one vector of features."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from importlib import import_module
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from multirater.errors import Fault, InputError
from multirater.nn.standardise import Standardise

CNN_CHANNELS = (32, 32, 64, 64)
"""Channels of the four layers for small images (Tanno 2019)."""

WIDE_CNN_CHANNELS = (128, 128, 128, 128)
"""The same for images of about 96 x 96 (Tanno 2019)."""

_SMALL, _MIDDLE = 64, 128
"""Largest sides, in pixels, of the images that `auto` gives to `cnn` and to `cnn-128`."""

_RESNETS = {10, 18, 34, 50, 101, 152, 200}

NAMES = ("auto", "mlp", "cnn", "cnn-128", *(f"resnet{depth}" for depth in sorted(_RESNETS)))
"""The backbones that go by a name of ours."""


def build_classifier_backbone(
    name: str | nn.Module,
    *,
    n_channels: int,
    space: Sequence[int],
    n_features: int,
    options: Mapping[str, Any] | None = None,
) -> nn.Module:
    """Build a network from (B, n_channels, *space) to (B, n_features).

    Args:
        name: one of

            - `mlp`: for vectors; options `hidden` (widths, two layers of 128) and `dropout` (0).
            - `cnn`: four 3 x 3 convolutions of 32, 32, 64 and 64 channels, pooled to half size
              after the second and over all space at the end; options `channels` (the widths) and
              `norm` (MONAI's name of a normalisation; none).
            - `cnn-128`: the same with 128 channels each.
            - `resnet10`, `18`, `34`, `50`, `101`, `152`, `200`: MONAI's; options are its arguments,
              such as `widen_factor`. Images up to 64 pixels get a stem of one 3 x 3 convolution
              that keeps their size, as is usual for CIFAR, larger ones the usual 7 x 7.
            - `auto`: `mlp` for vectors, `cnn` for images up to 64 pixels, `cnn-128` up to 128,
              else `resnet18`.
            - `package.module:function`: your own, made by `function(n_channels=, space=,
              n_features=, **options)`.
            - a module: your own, copied. A linear layer follows it unless it gives (B, n_features).
        n_channels: channels of the image, or the length of the vector.
        space: size of the images, two or three axes; empty for vectors.
        n_features: length of what comes out.
        options: of the network, see above.

    Raises:
        InputError: no such network, or one that does not fit the data or its options.

    Example:
        >>> network = build_classifier_backbone("cnn", n_channels=1, space=(28, 28), n_features=64)
        >>> network(torch.zeros(5, 1, 28, 28)).shape
        torch.Size([5, 64])
    """
    space = tuple(space)
    given = dict(options or {})
    if isinstance(name, nn.Module):
        _refuse_options("a module of your own", given)
        return _fitted(deepcopy(name), n_channels, space, n_features)
    if ":" in name:
        made = _imported(name)(n_channels=n_channels, space=space, n_features=n_features, **given)
        return _fitted(made, n_channels, space, n_features)
    chosen = _chosen(name, space)
    try:
        return _build(chosen, n_channels, space, n_features, given)
    except (TypeError, ValueError, KeyError) as error:
        raise InputError(
            Fault(
                f"backbone {chosen} cannot be built with {given}: {error}",
                expected="options that it takes",
                fix="see `build_classifier_backbone`, or leave the options away",
            )
        ) from error


def _chosen(name: str, space: tuple[int, ...]) -> str:
    """Settle `auto`, and refuse what does not suit the data."""
    if name not in NAMES:
        raise InputError(
            Fault(
                f"no backbone {name!r} for whole images and vectors",
                expected=f"one of {', '.join(NAMES)}, or package.module:function",
            )
        )
    if name == "auto":
        if not space:
            return "mlp"
        side = max(space)
        return "cnn" if side <= _SMALL else "cnn-128" if side <= _MIDDLE else "resnet18"
    if (name == "mlp") is bool(space):
        kind = "images of " + " x ".join(map(str, space)) if space else "vectors"
        fits = "cnn, cnn-128 or a resnet" if space else "mlp"
        raise InputError(Fault(f"backbone {name} for {kind}", expected=f"auto, {fits}"))
    return name


def _build(
    name: str, n_channels: int, space: tuple[int, ...], n_features: int, options: dict[str, Any]
) -> nn.Module:
    if name == "mlp":
        return _mlp(n_channels, n_features, **options)
    if name.startswith("cnn"):
        widths = CNN_CHANNELS if name == "cnn" else WIDE_CNN_CHANNELS
        return _cnn(n_channels, len(space), n_features, **{"channels": widths, **options})
    return _resnet(name, n_channels, space, n_features, options)


def _mlp(
    n_channels: int, n_features: int, *, hidden: Sequence[int] = (128, 128), dropout: float = 0.0
) -> nn.Module:
    layers: list[nn.Module] = [Standardise(n_channels)]
    widths = [n_channels, *hidden, n_features]
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
        if dropout:
            layers.append(nn.Dropout(dropout))
    return nn.Sequential(*layers)


def _cnn(
    n_channels: int, ndim: int, n_features: int, *, channels: Sequence[int], norm: str | None = None
) -> nn.Module:
    from monai.networks.blocks import Convolution
    from monai.networks.layers import Pool

    widths = [n_channels, *channels]
    layers: list[nn.Module] = [
        Convolution(ndim, before, after, act="RELU", norm=norm)
        for before, after in pairwise(widths)
    ]
    # Rounding up keeps images of a single pixel.
    layers.insert(min(2, len(channels)), Pool[Pool.MAX, ndim](2, ceil_mode=True))
    layers += [Pool[Pool.ADAPTIVEAVG, ndim](1), nn.Flatten()]
    if channels[-1] != n_features:
        layers.append(nn.Linear(channels[-1], n_features))
    return nn.Sequential(*layers)


def _resnet(
    name: str, n_channels: int, space: tuple[int, ...], n_features: int, options: dict[str, Any]
) -> nn.Module:
    from monai.networks.nets import resnet

    stem = {"conv1_t_size": 7, "conv1_t_stride": 2}
    if max(space) <= _SMALL:
        stem = {"conv1_t_size": 3, "conv1_t_stride": 1, "no_max_pool": True}
    # Shortcuts of type B without bias are the ResNet that was published.
    arguments = {"bias_downsample": False, **stem, **options}
    network: nn.Module = getattr(resnet, name)(
        spatial_dims=len(space), n_input_channels=n_channels, num_classes=n_features, **arguments
    )
    return network


def _imported(name: str) -> Callable[..., nn.Module]:
    place, _, function = name.partition(":")
    try:
        found: Callable[..., nn.Module] = getattr(import_module(place), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            Fault(
                f"backbone {name!r} cannot be imported: {error}",
                expected="package.module:function, importable from here",
                fix="install the package, or add its folder to PYTHONPATH",
            )
        ) from error
    return found


def _fitted(
    network: nn.Module, n_channels: int, space: tuple[int, ...], n_features: int
) -> nn.Module:
    """Add a linear layer where somebody's network gives another number of features."""
    was_training = network.training
    network.eval()
    try:
        with torch.no_grad():
            out = network(torch.zeros(1, n_channels, *space))
    except RuntimeError as error:
        raise InputError(
            Fault(
                f"your backbone does not take an array (1, {n_channels}, *{space}): {error}",
                expected="a module that maps (B, channels, *space) to (B, features)",
            )
        ) from error
    network.train(was_training)
    if not isinstance(out, Tensor) or out.ndim != 2:
        found = tuple(out.shape) if isinstance(out, Tensor) else type(out).__name__
        raise InputError(
            Fault(f"your backbone returns {found} for one case", expected="(1, features)")
        )
    if out.shape[1] == n_features:
        return network
    return nn.Sequential(network, nn.Linear(out.shape[1], n_features))


def _refuse_options(what: str, options: Mapping[str, Any]) -> None:
    if options:
        raise InputError(
            Fault(f"options {', '.join(options)} for {what}", fix="give them to the module itself")
        )
