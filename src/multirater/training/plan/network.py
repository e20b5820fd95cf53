"""Patch, depth of the network and batch, within a budget of memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, prod
from typing import Any

from multirater.errors import Fault, InputError
from multirater.io.formats.grid import size_text
from multirater.training.budget import amount
from multirater.training.fingerprint import Fingerprint
from multirater.training.plan.patch import given_patch, largest_image, smaller_patch, wanted_patch
from multirater.training.plan.room import pixel_bytes, room_for_step, too_small

SMALL_PIXELS = 64 * 64
"""Images up to this size are small: they get wider networks and fewer steps."""

_FLAT = 2.0
"""Along an axis this much coarser than the finest, kernels are flat."""

_STEP_PIXELS = {2: 2**16, 3: 2**18}
"""Pixels of a step, by the axes of the network: more learn little more and take longer."""

_MOST_BATCH, _LEAST_BATCH = 8, 2
_LEAST_MAP, _MOST_STAGES, _MOST_CHANNELS = 4, 5, 256


def network(
    seen: Fingerprint,
    view: str,
    size: tuple[int, ...],
    spacing: tuple[float, ...],
    memory: int,
    given: Mapping[str, Any],
    reasons: dict[str, str],
) -> tuple[Any, ...]:
    """Decide on patch, features, channels, strides, kernels and batch, within the budget."""
    patch = given_patch(given["patch"], seen, view) if given.get("patch") else None
    wanted = wanted_patch(seen, size, spacing, view) if patch is None else patch
    served = wanted or largest_image(seen, view)
    room = room_for_step(memory, seen)
    channels = tuple(given.get("channels") or ())
    said = given.get("batch_size")
    while True:
        strides, kernels = _stages(served, spacing, len(channels) or _MOST_STAGES)
        width = 24 if prod(served) <= SMALL_PIXELS else 16
        own = channels or tuple(min(width * 2**i, _MOST_CHANNELS) for i in range(len(strides)))
        _require_stages(own, strides, served)
        strides, kernels = strides[: len(own)], kernels[: len(own)]
        n_features = given.get("n_features") or own[0]
        cost = pixel_bytes(own, strides, n_features, seen) * prod(served)
        batch = said or max(
            min(_STEP_PIXELS[len(served)] // prod(served), _MOST_BATCH), _LEAST_BATCH
        )
        fits = int(room // cost)
        if said is None:
            batch = min(batch, max(fits, 1))
        if fits >= batch:
            break
        smaller = None if patch is not None else smaller_patch(served)
        if smaller is None:
            raise too_small(memory, served, batch, cost * batch + memory - room)
        wanted = served = smaller
    reasons["patch"] = _patch_text(wanted, served, seen, memory, patch is not None)
    reasons["network"] = (
        f"U-Net of {len(own)} stages, {', '.join(map(str, own))} channels: "
        + _depth_text(served, strides, kernels)
    )
    reasons["batch"] = f"{batch} at a time, a step of about {amount(cost * batch)}"
    return wanted, n_features, own, strides, kernels, batch


def _require_stages(
    channels: Sequence[int], strides: Sequence[Sequence[int]], patch: Sequence[int]
) -> None:
    if len(channels) > len(strides):
        raise InputError(
            Fault(
                f"channels of {len(channels)} stages for patches of {size_text(patch)}",
                expected=f"at most {len(strides)}: smaller maps cannot be halved",
                fix="give fewer --channels, or a larger --patch",
            )
        )


def _stages(
    patch: Sequence[int], spacing: Sequence[float], most: int
) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]:
    """Return strides and kernels per stage: pooling stops when an axis is used up.

    Along an axis that is much coarser than the finest one, nothing is pooled and kernels are flat
    until pooling of the others has brought them near.
    """
    size, distance = list(patch), list(spacing)
    strides, kernels = [(1,) * len(size)], []
    while True:
        finest = min(distance)
        kernels.append(tuple(1 if each >= _FLAT * finest else 3 for each in distance))
        pooled = tuple(
            2 if have // 2 >= _LEAST_MAP and each < _FLAT * finest else 1
            for have, each in zip(size, distance, strict=True)
        )
        if max(pooled) == 1 or len(strides) >= most:
            break
        strides.append(pooled)
        size = [ceil(have / by) for have, by in zip(size, pooled, strict=True)]
        distance = [each * by for each, by in zip(distance, pooled, strict=True)]
    while len(strides) < 2:
        strides.append((2,) * len(size))
        kernels.append((3,) * len(size))
    return tuple(strides), tuple(kernels[: len(strides)])


def _patch_text(
    patch: Sequence[int], served: Sequence[int], seen: Fingerprint, memory: int, is_given: bool
) -> str:
    if is_given:
        return f"{size_text(patch)}, as asked for"
    if not patch:
        return f"whole images, up to {size_text(served)}: they are small"
    objects = [each for each in seen.object_size if each]
    what = f"objects of {size_text(max(objects, key=prod))} in " if objects else ""
    return f"{size_text(patch)}: {what}images of {size_text(seen.size)}, {amount(memory)} of memory"


def _depth_text(
    patch: Sequence[int], strides: Sequence[Sequence[int]], kernels: Sequence[Sequence[int]]
) -> str:
    coarsest = list(patch)
    for stride in strides:
        coarsest = [ceil(have / by) for have, by in zip(coarsest, stride, strict=True)]
    text = f"the coarsest sees {size_text(coarsest)}"
    n_flat = sum(min(kernel) == 1 for kernel in kernels)
    return text + (f"; flat kernels in the first {n_flat}" if n_flat else "")
