"""Networks that turn images into feature maps of the same size."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
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
        multiple: the sizes it takes are multiples of this.
    """

    def __init__(self, network: nn.Module, multiple: int) -> None:
        super().__init__()
        self.network = network
        self.multiple = multiple

    def forward(self, image: Tensor) -> Tensor:
        """Return features (B, n_features, *space)."""
        space = image.shape[2:]
        # A network that normalises over space needs more than one pixel at its coarsest stage.
        wanted = [max(-(-size // self.multiple), 2) * self.multiple for size in space]
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
        options: further arguments of a MONAI network.

    Example:
        >>> import torch
        >>> network = build_backbone("unet", ndim=2, n_channels=1, n_features=8, channels=(8, 16))
        >>> network(torch.zeros(1, 1, 21, 30)).shape
        torch.Size([1, 8, 21, 30])
    """
    if name == "unet":
        network = _unet(ndim, n_channels, n_features, channels)
        return FeatureNetwork(network, 2 ** (len(channels) - 1))
    return FeatureNetwork(_from_monai(name, ndim, n_channels, n_features, options or {}), 32)


def _unet(ndim: int, n_channels: int, n_features: int, channels: Sequence[int]) -> nn.Module:
    from monai.networks.nets.dynunet import DynUNet

    depth = len(channels)
    if depth < 2:
        raise InputError(Fault(f"a U-Net of {depth} stages", expected="at least two"))
    # DynUNet wants three stages at least; a shallower one gets a coarse stage of the same width.
    filters = list(channels) if depth > 2 else [*channels, channels[-1]]
    strides = [1, *([2] * (depth - 1)), *([1] * (len(filters) - depth))]
    network: nn.Module = DynUNet(
        spatial_dims=ndim,
        in_channels=n_channels,
        out_channels=n_features,
        kernel_size=[3] * len(filters),
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
