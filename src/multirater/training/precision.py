"""In which precision a network computes its steps.

Processors that multiply 16-bit floats (bfloat16) take half the time for a step of convolutions, and
half the memory for what it keeps; weights, their updates and the losses stay in 32 bits. What a
processor can do is asked, never timed: the same seed gives the same weights on a busy machine.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

import torch

WHOLE, HALF = "32-true", "bf16-mixed"

_MULTIPLIES_HALVES = ("avx512_bf16", "amx_bf16")


def usual_precision() -> str:
    """Return what a large step on this processor is best computed in.

    Example:
        >>> usual_precision() in (WHOLE, HALF)
        True
    """
    # Torch has a list of what a processor can do since 2.10.
    able = getattr(torch.cpu, "get_capabilities", dict)()
    return HALF if any(able.get(name) for name in _MULTIPLIES_HALVES) else WHOLE


def computing_in(precision: str) -> AbstractContextManager[None]:
    """Let the processor compute in a precision, as Lightning does in a step."""
    return torch.autocast("cpu", torch.bfloat16, enabled=precision == HALF)
