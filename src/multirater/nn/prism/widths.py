"""How wide the two prisms are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile


@dataclass(frozen=True)
class Widths:
    """Sizes that MrPrism may have; the defaults are small networks for small studies.

    Attributes:
        channels: of encoder and ConP, finest stage first.
        stem: channels of DivP's first convolution.
        stem_kernel: its side.
        pools: whether DivP's stem halves the space once more, by its maxima.
        per_rater: channels of a rater's own head.
        from_width: first width of the embedding of confidences, which doubles up to that of the
            stage; 0 for that of the stage at once.
    """

    channels: tuple[int, ...]
    stem: int = 32
    stem_kernel: int = 7
    pools: bool = False
    per_rater: int = 8
    from_width: int = 0

    def embedding(self, n_channels: int) -> tuple[int, ...]:
        """Return the widths of the point-wise convolutions that lead to a stage.

        Example:
            >>> Widths((8, 16)).embedding(16), table_5(2).embedding(256)
            ((16, 16), (64, 128, 256))
        """
        if not self.from_width:
            return n_channels, n_channels
        doubled = (self.from_width * 2**power for power in range(16))
        return *takewhile(lambda width: width < n_channels, doubled), n_channels


def table_5(n_classes: int) -> Widths:
    """Return the widths of the paper's Table 5.

    ConP leads from 512 channels to 64; its last deconvolution makes the classes at once, here it
    has 32 channels and a point-wise head. A rater's head has one channel per class.
    """
    return Widths((32, 64, 128, 256, 512), 64, 8, True, n_classes, 64)


def planned(channels: Sequence[int]) -> Widths:
    """Return the default widths beside given channels of encoder and ConP."""
    return Widths(tuple(channels))
