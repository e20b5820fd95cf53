"""Length of the training: in steps, not in epochs of tiny studies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from multirater.training.fingerprint import Fingerprint
from multirater.training.plan.network import SMALL_PIXELS
from multirater.words import counted

_EPOCHS = 20
_PASSES, _PATCHES_PER_IMAGE = 20, 4
_LEAST_STEPS, _LEAST_SMALL_STEPS, _LEAST_PATCH_STEPS, _MOST_STEPS = 1000, 200, 2500, 10_000
"""Patches of photographs are seen more often: each shows a small part of what there is to learn."""


def schedule(
    seen: Fingerprint,
    size: Sequence[int],
    patch: Sequence[int],
    batch: int,
    given: Mapping[str, Any],
    reasons: dict[str, str],
) -> tuple[int, int]:
    """Return epochs, and steps of each; 0 for one pass over the cases, where epochs are given."""
    if given.get("epochs"):
        reasons["length"] = f"{counted(given['epochs'], 'epoch')}, as asked for"
        return given["epochs"], 0
    parts = 1.0 if not patch else min(prod(size) / prod(patch), _PATCHES_PER_IMAGE)
    if len(size) < seen.ndim:
        parts *= seen.size[0]
    wanted = _PASSES * seen.n_cases * max(parts, 1.0) / batch
    least = _least(size, patch)
    total = min(max(wanted, least), _MOST_STEPS)
    steps = max(round(total / _EPOCHS), 1)
    cases = counted(seen.n_cases, "case")
    why = f"{_PASSES} passes over {cases}"
    if wanted < least:
        why = f"{cases} {'is' if seen.n_cases == 1 else 'are'} few"
    elif wanted > _MOST_STEPS:
        why = f"{cases} are plenty"
    reasons["length"] = f"{steps * _EPOCHS} steps, in {_EPOCHS} epochs of {steps}: {why}"
    return _EPOCHS, steps


def _least(size: Sequence[int], patch: Sequence[int]) -> int:
    """Return how many steps the fewest images get."""
    if not patch and prod(size) <= SMALL_PIXELS:
        return _LEAST_SMALL_STEPS
    return _LEAST_PATCH_STEPS if len(patch) == 2 else _LEAST_STEPS
