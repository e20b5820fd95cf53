"""Networks that turn images into feature maps of the same size."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from math import prod
from typing import Any

from torch import Tensor, nn
from torch.nn import functional

from multirater.errors import Fault, InputError

CHANNELS = (32, 64, 128, 256)
"""Channels per stage of the default U-Net (Zhang 2020)."""


class FeatureNetwork(nn.Module):
    """A network applied to images of any size: padded to what it needs, then cropped back.

    Args:
        network: maps (B, channels, *space) to (B, n_features, *space).
        multiple: the sizes it takes are multiples of this, or of these, one per axis.
    """

    def __init__(self, network: nn.Module, multiple: int | Sequence[int]) -> None:
        super().__init__()
        self.network = network
        self.multiple = multiple

    def forward(self, image: Tensor) -> Tensor:
        """Return features (B, n_features, *space)."""
        space = image.shape[2:]
        multiples = self.multiple
        if isinstance(multiples, int):
            multiples = [multiples] * len(space)
        # A network that normalises over space needs more than one pixel at its coarsest stage.
        wanted = [
            max(-(-size // each), 2 if each > 1 else 1) * each
            for size, each in zip(space, multiples, strict=True)
        ]
        missing = [want - size for want, size in zip(wanted, space, strict=True)]
        if any(missing):
            before_after = [amount for extra in reversed(missing) for amount in (0, extra)]
            image = functional.pad(image, before_after)
        features = self.network(image)
        if isinstance(features, list | tuple):
            features = features[0]
        kept: Tensor = features[(..., *(slice(0, size) for size in space))]
        return kept


def build_backbone(
    name: str,
    *,
    ndim: int,
    n_channels: int,
    n_features: int,
    channels: Sequence[int] = CHANNELS,
    strides: Sequence[Sequence[int]] = (),
    kernels: Sequence[Sequence[int]] = (),
    options: dict[str, Any] | None = None,
) -> FeatureNetwork:
    """Build a feature network.

    Args:
        name: `unet` for the default U-Net (two convolutions per stage, instance norm), or the name
            of any segmentation network of MONAI, such as `SegResNet` or `AttentionUnet`.
        ndim: 2 or 3.
        n_channels: channels of the image.
        n_features: channels of the feature map.
        channels: per stage of the U-Net; their number is its depth.
        strides: of the U-Net, per stage and axis; 2 after the first stage when not given.
        kernels: of the U-Net, per stage and axis; 3 when not given.
        options: further arguments of a MONAI network.

    Example:
        >>> import torch
        >>> network = build_backbone("unet", ndim=2, n_channels=1, n_features=8, channels=(8, 16))
        >>> network(torch.zeros(1, 1, 21, 30)).shape
        torch.Size([1, 8, 21, 30])
    """
    if name == "unet":
        given = [tuple(each) for each in strides] or [
            (1 if stage == 0 else 2,) * ndim for stage in range(len(channels))
        ]
        sizes = [tuple(each) for each in kernels] or [(3,) * ndim] * len(given)
        network = _unet(ndim, n_channels, n_features, channels, given, sizes)
        return FeatureNetwork(network, [prod(axis) for axis in zip(*given, strict=True)])
    return FeatureNetwork(_from_monai(name, ndim, n_channels, n_features, options or {}), 32)


def _unet(
    ndim: int,
    n_channels: int,
    n_features: int,
    channels: Sequence[int],
    strides: list[tuple[int, ...]],
    kernels: list[tuple[int, ...]],
) -> nn.Module:
    from monai.networks.nets.dynunet import DynUNet

    depth = len(channels)
    if depth < 2:
        raise InputError(Fault(f"a U-Net of {depth} stages", expected="at least two"))
    # DynUNet wants three stages at least; a shallower one gets a coarse stage of the same width.
    n_more = max(3 - depth, 0)
    filters = [*channels, *([channels[-1]] * n_more)]
    strides = [*strides, *([(1,) * ndim] * n_more)]
    network: nn.Module = DynUNet(
        spatial_dims=ndim,
        in_channels=n_channels,
        out_channels=n_features,
        kernel_size=[*kernels, *([kernels[-1]] * n_more)],
        strides=strides,
        upsample_kernel_size=strides[1:],
        filters=filters,
        norm_name=("INSTANCE", {"affine": True}),
    )
    return network


def _from_monai(
    name: str, ndim: int, n_channels: int, n_features: int, options: dict[str, Any]
) -> nn.Module:
    from monai.networks import nets

    known = {each.lower(): each for each in dir(nets) if inspect.isclass(getattr(nets, each))}
    if name.lower() not in known:
        raise InputError(
            Fault(
                f"no backbone {name!r}",
                expected="unet, or a segmentation network of MONAI such as SegResNet, "
                "AttentionUnet, BasicUNet",
            )
        )
    network = getattr(nets, known[name.lower()])
    takes = inspect.signature(network).parameters
    arguments: dict[str, Any] = {
        "spatial_dims": ndim,
        "in_channels": n_channels,
        "out_channels": n_features,
        **options,
    }
    unknown = [key for key in ("spatial_dims", "in_channels", "out_channels") if key not in takes]
    if unknown:
        raise InputError(
            Fault(
                f"{known[name.lower()]} of MONAI is not a segmentation network",
                expected="one that takes spatial_dims, in_channels and out_channels",
            )
        )
    if "channels" in takes and "strides" in takes:
        arguments = {"channels": CHANNELS, "strides": (2,) * (len(CHANNELS) - 1), **arguments}
    try:
        built: nn.Module = network(**arguments)
    except (TypeError, ValueError) as error:
        raise InputError(
            Fault(
                f"{known[name.lower()]} cannot be built: {error}",
                fix="give what it needs with --backbone-options",
            )
        ) from None
    return built


def n_parameters(module: nn.Module) -> int:
    """Count the trained numbers of a module."""
    return sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)
