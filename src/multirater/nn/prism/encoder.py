"""The encoder of the default U-Net, whose stages ConP decodes."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn


class Encoder(nn.Module):
    """Two convolutions with instance norm per stage, as in the default backbone.

    Args:
        n_channels: of the image.
        channels: per stage; the space is halved between stages.
    """

    def __init__(self, n_channels: int, channels: Sequence[int]) -> None:
        from monai.networks.blocks.dynunet_block import UnetBasicBlock

        super().__init__()
        before = [n_channels, *channels[:-1]]
        self.stages = nn.ModuleList(
            UnetBasicBlock(2, entering, leaving, 3, 1 if number == 0 else 2, NORM)
            for number, (entering, leaving) in enumerate(zip(before, channels, strict=True))
        )

    def forward(self, image: Tensor) -> list[Tensor]:
        """Return the features of every stage, finest first."""
        found = []
        for stage in self.stages:
            image = stage(image)
            found.append(image)
        return found


NORM = ("INSTANCE", {"affine": True})
