"""In which precision a network computes its steps.

Processors that multiply 16-bit floats (bfloat16) take half the time for a step of convolutions, and
half the memory for what it keeps; weights, their updates and the losses stay in 32 bits. What a
processor can do is asked, never timed: the same seed gives the same weights on a busy machine.

Volumes are computed in 32 bits. In torch 2.13 (oneDNN on AVX-512) the gradient of a 3-D convolution
in bfloat16 holds numbers that were left in memory where an axis has two pixels, and that of a 2-D
one where an axis of one pixel is halved.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from math import prod
from typing import Any

import torch

WHOLE, HALF = "32-true", "bf16-mixed"

_MULTIPLIES_HALVES = ("avx512_bf16", "amx_bf16")

_LARGE_STEP, _LEAST_SIDE = 2**16, 32
"""Pixels of a step from which on it is worth it, and of an axis that no stage uses up."""


def usual_precision(size: Sequence[int], batch_size: int) -> str:
    """Return what a step on this processor is best computed in.

    Args:
        size: of the images or patches of a step, as the network's axes see them.
        batch_size: how many there are.

    Example:
        >>> usual_precision((28, 28), 16)
        '32-true'
    """
    if len(size) != 2 or min(size) < _LEAST_SIDE or prod(size) * batch_size < _LARGE_STEP:
        return WHOLE
    # Torch has a list of what a processor can do since 2.10.
    able: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    return HALF if any(able.get(name) for name in _MULTIPLIES_HALVES) else WHOLE


def computing_in(precision: str | None) -> AbstractContextManager[None]:
    """Let the processor compute in a precision, as Lightning does in a step."""
    return torch.autocast("cpu", torch.bfloat16, enabled=precision == HALF)
