"""Maps from features to many values per pixel, worked on block by block and computed twice.

A confusion head makes far more values per pixel than the loss needs of them. Kept for the backward
pass they would cost more memory than the network; passed over one after the other for all pixels,
they would not stay in the processor's cache. Here a block of pixels goes all the way, its values
are forgotten, and the backward pass computes them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

BLOCK_VALUES = 2**20
"""Values of a block at most, unless one pixel has more: 4 MB, twice as fast as all at once."""

BlockFunction: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
"""Maps features (B, F, P), weight (R, O, F), bias (R, O) and labels (B, R, P) to two tensors whose
first axis is B and last P."""


BlockGradient: TypeAlias = Callable[
    [Tensor, Tensor, Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]
]
"""Maps what a block function is given, and the gradients of its two outputs, to those of features,
weight and bias."""


def in_blocks(
    function: BlockFunction,
    features: Tensor,
    weight: Tensor,
    bias: Tensor,
    labels: Tensor,
    *,
    gradient: BlockGradient | None = None,
) -> tuple[Tensor, Tensor]:
    """Apply a function of pixels block by block, keeping nothing but its inputs and outputs.

    Computed in the precision of the weight, whatever mixed precision is in force.

    Args:
        function: of features, weight, bias and labels; each pixel must not depend on others.
        features: (B, F, *space).
        weight: (R, O, F); a pixel is taken to have R * O values.
        bias: (R, O).
        labels: (B, R, *space).
        gradient: that of the function, where it is written out; autograd finds it otherwise.

    Returns:
        The two outputs for all pixels, (B, ..., *space).
    """
    first, second = _InBlocks.apply(  # type: ignore[no-untyped-call]
        function, gradient or partial(_by_autograd, function), features, weight, bias, labels
    )
    space = labels.shape[2:]
    return first.unflatten(-1, space), second.unflatten(-1, space)


class _InBlocks(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        function: BlockFunction,
        gradient: BlockGradient,
        features: Tensor,
        weight: Tensor,
        bias: Tensor,
        labels: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Run the function on every block and put the results side by side."""
        ctx.gradient = gradient
        ctx.save_for_backward(features, weight, bias, labels)
        outputs: list[Tensor] = []
        with _full_precision(features):
            for place, maps, drawn in _blocks(features, labels, weight):
                found = function(maps, weight, bias, drawn)
                outputs = outputs or [_whole(each, labels) for each in found]
                for whole, part in zip(outputs, found, strict=True):
                    whole[place] = part
        return outputs[0], outputs[1]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, None, Tensor, Tensor, Tensor, None]:
        """Run the function on every block again, this time with its gradient."""
        features, weight, bias, labels = ctx.saved_tensors
        of_features = torch.empty_like(features.flatten(2))
        of_weight, of_bias = torch.zeros_like(weight), torch.zeros_like(bias)
        with _full_precision(features):
            for place, maps, drawn in _blocks(features, labels, weight):
                given = [each[place] for each in gradients]
                found = ctx.gradient(maps, weight, bias, drawn, *given)
                of_features[place] = found[0]
                of_weight += found[1]
                of_bias += found[2]
        return None, None, of_features.reshape(features.shape), of_weight, of_bias, None


def _by_autograd(
    function: BlockFunction,
    features: Tensor,
    weight: Tensor,
    bias: Tensor,
    labels: Tensor,
    *gradients: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    inputs = [each.detach().requires_grad_() for each in (features, weight, bias)]
    with torch.enable_grad():
        found = function(*inputs, labels)  # type: ignore[call-arg]
    first, second, third = torch.autograd.grad(found, inputs, gradients)
    return first, second, third


def _full_precision(features: Tensor) -> torch.autocast:
    """Switch mixed precision off: what a block makes is small, and the loss needs it precise."""
    return torch.autocast(features.device.type, enabled=False)


def _whole(part: Tensor, labels: Tensor) -> Tensor:
    """Return room for all cases and pixels of what `part` is a block of."""
    return part.new_empty(len(labels), *part.shape[1:-1], labels[0, 0].numel())


def _blocks(
    features: Tensor, labels: Tensor, weight: Tensor
) -> Iterator[tuple[tuple[slice, Any, slice], Tensor, Tensor]]:
    """Yield places [cases, ..., pixels] with their features and labels.

    A block is several whole cases, or a part of one.
    """
    maps, drawn = features.flatten(2), labels.flatten(2)
    n_cases, n_pixels = len(maps), maps.shape[2]
    most = max(1, BLOCK_VALUES // max(1, weight.shape[0] * weight.shape[1]))
    several, width = max(1, most // max(1, n_pixels)), min(most, max(1, n_pixels))
    for case in range(0, n_cases, several):
        for start in range(0, n_pixels, width):
            place = (slice(case, case + several), ..., slice(start, start + width))
            yield place, maps[place].to(weight.dtype), drawn[place]
