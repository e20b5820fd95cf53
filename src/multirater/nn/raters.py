"""What belongs to raters, picked for the labels of a batch.

Drawings come in groups of cases that the same raters labelled: a rater's head is applied to whole
images. Class labels come in one group where each case has raters of its own: with one label per
image and a thousand raters there would be as many groups as images.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from torch import Tensor, nn

Raters: TypeAlias = Sequence[int] | Tensor
"""Positions in the data set's raters: (R,), the same for all cases of a group; or an int64 tensor
(G, R), those of each case, where a place without label has any position."""


def for_raters(values: Tensor, raters: Raters, ndim: int) -> Tensor:
    """Pick the values of raters, in a form that broadcasts over cases and space.

    Args:
        values: (n_raters, ...).
        raters: of a group.
        ndim: number of axes of the space.

    Returns:
        (1, R, ..., 1, ...), or (G, R, ..., 1, ...) when each case has raters of its own.

    Example:
        >>> import torch
        >>> for_raters(torch.zeros(9, 4), [2, 7], ndim=2).shape
        torch.Size([1, 2, 4, 1, 1])
        >>> for_raters(torch.zeros(9, 4), torch.tensor([[2], [7], [8]]), ndim=0).shape
        torch.Size([3, 1, 4])
    """
    picked = values[raters] if isinstance(raters, Tensor) else values[list(raters)][None]
    return picked[(..., *([None] * ndim))]


def pointwise(n_inputs: int, n_outputs: int, ndim: int) -> nn.Linear | nn.Conv2d | nn.Conv3d:
    """Return a linear map from (B, n_inputs, *space) to (B, n_outputs, *space).

    Args:
        n_inputs: channels before.
        n_outputs: channels after.
        ndim: number of axes of the space: 0, 2 or 3.
    """
    if ndim == 0:
        return nn.Linear(n_inputs, n_outputs)
    return convolution(ndim)(n_inputs, n_outputs, kernel_size=1)


def convolution(ndim: int) -> type[nn.Conv2d] | type[nn.Conv3d]:
    """Return the convolution over a space of two or three axes."""
    return nn.Conv2d if ndim == 2 else nn.Conv3d
