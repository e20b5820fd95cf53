"""An image cut into windows as large as a network sees, and a choice of some. No torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from multirater.training.config import TrainConfig

_PER_PATCH = 0.25
"""Windows looked at for each patch that was trained on: a tenth of the time of the training."""

_FEWEST_WINDOWS, _MOST_PIXELS = 8, 2**23
"""Of a case."""

_NEAR_SHARE = 2 / 3
"""Of the windows taken, where there are too many: so many hold something of interest."""


@dataclass(frozen=True)
class Window:
    """A part of an image that a network sees.

    Attributes:
        seen: its place in the image, per axis.
        counted: which of its pixels no window before it has, per axis, from its first pixel.
    """

    seen: tuple[slice, ...]
    counted: tuple[slice, ...]


def windows_of(space: Sequence[int], size: Sequence[int]) -> list[Window]:
    """Cut an image into windows of one size; the last of an axis are moved back into the image.

    Example:
        >>> [window.seen[0] for window in windows_of((10,), (4,))]
        [slice(0, 4, None), slice(4, 8, None), slice(6, 10, None)]
        >>> windows_of((10,), (4,))[-1].counted
        (slice(2, 4, None),)
    """
    axes = [_along(have, want) for have, want in zip(space, size, strict=True)]
    return [Window(*map(tuple, zip(*each, strict=True))) for each in product(*axes)]


def _along(have: int, want: int) -> list[tuple[slice, slice]]:
    found = []
    for start in range(0, have, want):
        first = max(min(start, have - want), 0)
        end = min(start + want, have)
        found.append((slice(first, end), slice(start - first, end - first)))
    return found


def chosen_windows(
    is_near: NDArray[np.bool_], most: int, random: np.random.Generator
) -> list[tuple[int, float]]:
    """Choose windows, most of them where something is of interest.

    Args:
        is_near: whether each window holds something of interest, (n_windows,).
        most: how many are taken.
        random: where chance comes from.

    Returns:
        Numbers of windows, and how many of its kind each stands for.

    Example:
        >>> near = np.array([True, False, False, False, False])
        >>> [weight for _, weight in chosen_windows(near, 3, np.random.default_rng(0))]
        [1.0, 2.0, 2.0]
    """
    near, far = np.flatnonzero(is_near), np.flatnonzero(~is_near)
    if len(is_near) > most:
        n_near = min(len(near), max(round(_NEAR_SHARE * most), most - len(far)))
        taken = [(near, n_near), (far, most - n_near)]
    else:
        taken = [(near, len(near)), (far, len(far))]
    return [
        (int(number), len(kind) / n)
        for kind, n in taken
        for number in np.sort(random.permutation(kind)[:n])
    ]


def most_windows(config: TrainConfig, n_cases: int, window: Sequence[int]) -> int:
    """Return how many windows of a case are looked at.

    Args:
        config: of the run.
        n_cases: of the run.
        window: its size.
    """
    n_patches = config.epochs * max(config.steps_per_epoch * config.batch_size, n_cases)
    wanted = max(int(_PER_PATCH * n_patches / max(n_cases, 1)), _FEWEST_WINDOWS)
    return max(min(wanted, _MOST_PIXELS // max(prod(window), 1)), 1)
