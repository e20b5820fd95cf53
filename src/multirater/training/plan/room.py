"""What a step of training takes, and what a budget of memory leaves for it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from multirater.errors import Fault, InputError
from multirater.io.formats.grid import size_text
from multirater.training.budget import GB, amount
from multirater.training.fingerprint import Fingerprint

PROCESS_BYTES = int(0.9 * GB)
"""What Python and its libraries take before the first image is read."""

_CACHE_SHARE = 0.25
"""Share of the budget that decoded cases may take."""

_VALUES_KEPT = 15
"""Numbers that a step keeps per channel and pixel of a stage: measured, with those of gradients."""


def pixel_bytes(
    channels: Sequence[int], strides: Sequence[Sequence[int]], n_features: int, seen: Fingerprint
) -> float:
    """Return about how many bytes a training step holds per pixel of a patch."""
    values, share = 0.0, 1.0
    for width, stride in zip(channels, strides, strict=True):
        share /= prod(stride)
        values += width * share
    heads = 3 * n_features + 6 * max(len(seen.labels), 1) * seen.n_classes
    return 4 * (_VALUES_KEPT * values + heads)


def room_for_step(memory: int, seen: Fingerprint) -> float:
    """Return what the budget leaves for a step, beside the process and decoded cases."""
    return memory - PROCESS_BYTES - cache_bytes(memory, seen)


def cache_bytes(memory: int, seen: Fingerprint | None = None) -> int:
    """Return how much of the budget decoded cases may take: no more than there are."""
    most = int(_CACHE_SHARE * memory)
    return most if seen is None else min(most, int(study_bytes(seen)))


def study_bytes(seen: Fingerprint) -> float:
    """Return about how much all decoded cases take together."""
    per_case = prod(seen.size) * (4 * seen.n_channels + 2 * (_labels_per_case(seen) + 1))
    return float(per_case * seen.n_cases)


def _labels_per_case(seen: Fingerprint) -> float:
    return sum(seen.labels.values()) / max(seen.n_cases, 1)


def too_small(memory: int, patch: Sequence[int], batch: int, needed: float) -> InputError:
    """Return the error of a budget in which not even one patch fits."""
    what = "a patch" if batch == 1 else f"{batch} patches"
    return InputError(
        Fault(
            f"a budget of {amount(memory)} is too small for {what} of {size_text(patch)}",
            expected=f"at least {amount(needed)}",
            fix="give more --memory, a smaller --patch or a smaller --batch-size",
        )
    )
