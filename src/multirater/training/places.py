"""Where patches should be cut so that rare classes and disputed pixels are seen."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from multirater.types import MISSING

Places: TypeAlias = tuple[NDArray[np.int32], ...]
"""For each class but the background, and last for disputed pixels, some pixels (n, axes); kinds of
which there are none are left out."""

_PER_KIND = 2000
_BLOCK_PIXELS = 2**22


def find_places(labels: NDArray[np.int16]) -> Places:
    """Find some pixels of every class but the background, and some on which raters disagree.

    Args:
        labels: (n_labels, *space), -1 where missing.

    Example:
        >>> find_places(np.array([[[0, 1, 0]], [[0, 1, 1]]], dtype=np.int16))[-1].tolist()
        [[0, 2]]
    """
    if not labels.size:
        return ()
    found: dict[int, list[NDArray[np.int64]]] = {}
    space = labels.shape[1:]
    n_rows = max(_BLOCK_PIXELS // max(int(np.prod(space[1:])), 1), 1)
    random = np.random.default_rng(0)
    for start in range(0, space[0], n_rows):
        block = labels[:, start : start + n_rows]
        offset = start * int(np.prod(space[1:]))
        for kind, mask in _kinds(block).items():
            at = np.flatnonzero(mask)
            if len(at):
                found.setdefault(kind, []).append(_some(at, random) + offset)
    chosen = [_some(np.concatenate(found[kind]), random) for kind in sorted(found)]
    return tuple(
        np.stack(np.unravel_index(each, space), axis=1).astype(np.int32) for each in chosen
    )


def _kinds(labels: NDArray[np.int16]) -> dict[int, NDArray[np.bool_]]:
    """Return the mask of each class, and, under a number above all of them, of disputes."""
    highest = labels.max(0)
    lowest = np.where(labels == MISSING, np.iinfo(labels.dtype).max, labels).min(0)
    most = int(highest.max(initial=MISSING))
    kinds = {each: (labels == each).any(0) for each in range(1, most + 1)}
    kinds[np.iinfo(labels.dtype).max] = (highest != MISSING) & (lowest < highest)
    return kinds


def _some(pixels: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    if len(pixels) <= _PER_KIND:
        return pixels
    return np.sort(random.choice(pixels, _PER_KIND, replace=False))
