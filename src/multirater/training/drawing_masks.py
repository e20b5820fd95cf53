"""From coarse drawings to full masks, by the image alone: what to train on without a noise model.

Drawings become *seeds*: a class where somebody said so, -1 elsewhere. "Not k" is a seed of the
other class when there are two, of the background when there are more. What is drawn both ways is no
seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.extras import extra
from multirater.training.lazy_snapping import lazy_snapping_mask
from multirater.types import MISSING

Seeds: TypeAlias = NDArray[np.int16]
MaskOfSeeds: TypeAlias = Callable[[NDArray[Any], Seeds], Seeds]
"""Turns an image (channels, *space) and seeds (*space) into class indices (*space)."""

_BETA = 300.0
"""How much the random walker shuns edges of the image."""

_TOLERANCE = 0.1
"""How far probabilities may leave 0 to 1 before a warning: only the largest is looked at."""

_ROUNDS = 5


def seeds_of(positive: Sequence[Seeds], negative: Sequence[Seeds], n_classes: int) -> Seeds:
    """Combine drawings (*space) of one case.

    Example:
        >>> drawn = np.array([[1, -1, 1, -1]], dtype=np.int16)
        >>> seeds_of([drawn], [drawn[:, ::-1]], 2)
        array([[1, 0, 1, 0]], dtype=int16)
        >>> seeds_of([drawn], [drawn], 2)
        array([[-1, -1, -1, -1]], dtype=int16)
    """
    said = _marked(positive, n_classes, like=(*positive, *negative)[0])
    excluded = _marked(negative, n_classes, like=said[0])
    contradicted = (said & excluded).any(0)
    if n_classes == 2:
        said |= excluded[::-1]
    else:
        said[0] |= excluded[1:].any(0) & ~said.any(0)
    certain = (said.sum(0) == 1) & ~contradicted
    return np.where(certain, said.argmax(0), MISSING).astype(np.int16)


def _marked(drawings: Sequence[Seeds], n_classes: int, like: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where any of the drawings speaks of each class, (n_classes, *space)."""
    marked = np.zeros((n_classes, *like.shape), dtype=bool)
    for drawn in drawings:
        for k in range(n_classes):
            marked[k] |= drawn == k
    return marked


def seeds_alone(image: NDArray[Any], seeds: Seeds) -> Seeds:
    """Take the seeds as they are."""
    return seeds


def filled_boxes(image: NDArray[Any], seeds: Seeds) -> Seeds:
    """Fill the box around what was drawn of each class; background outside, 2-D or 3-D.

    Where boxes overlap, the later class wins. Without any box nothing is known.

    Example:
        >>> seeds = np.full((3, 4), -1, dtype=np.int16); seeds[0, 1] = seeds[1, 2] = 1
        >>> filled_boxes(np.zeros((1, 3, 4)), seeds).tolist()
        [[0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]]
    """
    present = np.unique(seeds[seeds > 0]).tolist()
    if not present:
        return np.full_like(seeds, MISSING)
    filled = np.zeros_like(seeds)
    for k in present:
        filled[box_around(seeds == k)] = k
    return filled


def box_around(drawn: NDArray[np.bool_]) -> tuple[slice, ...]:
    """Return the smallest box that holds all of a drawing, one slice per axis."""
    return tuple(slice(at.min(), at.max() + 1) for at in np.nonzero(drawn))


def filled_mask(image: NDArray[Any], seeds: Seeds) -> Seeds:
    """Take what is not drawn for background, unless background is drawn too."""
    return seeds if (seeds == 0).any() else np.where(seeds == MISSING, np.int16(0), seeds)


def random_walker_mask(image: NDArray[Any], seeds: Seeds) -> Seeds:
    """Give every pixel the seed that a random walker reaches first (Grady 2006), 2-D or 3-D.

    Example:
        >>> image = np.repeat([[[0.0, 0.0, 9.0, 9.0]]], 4, axis=1)
        >>> seeds = np.full((4, 4), -1, dtype=np.int16)
        >>> seeds[0, 0], seeds[0, 3] = 0, 1
        >>> random_walker_mask(image, seeds)[3]
        array([0, 0, 1, 1], dtype=int16)
    """
    with extra():
        from skimage.segmentation import random_walker

    seeds = filled_mask(image, seeds)
    if len(np.unique(seeds[seeds != MISSING])) < 2 or not (seeds == MISSING).any():
        return seeds
    present = np.unique(seeds[seeds != MISSING])
    numbered = np.where(seeds == MISSING, 0, np.searchsorted(present, seeds) + 1)
    scaled = np.stack([_to_range(channel, 1.0) for channel in image])
    found = random_walker(
        scaled, numbered, beta=_BETA, mode="cg_j", prob_tol=_TOLERANCE, channel_axis=0
    )
    # Pixels that no walker leaves, between seeds of nothing, come back below one.
    return np.where(found < 1, MISSING, present[np.maximum(found, 1) - 1]).astype(np.int16)


def grabcut_mask(image: NDArray[Any], seeds: Seeds) -> Seeds:
    """Cut out each class from what is not drawn as another (GrabCut, Rother 2004), 2-D.

    Seeds are certain; everything else is background to begin with. Where nothing but background is
    drawn there is nothing to cut out, and the rest stays unlabelled.
    """
    if not (seeds > 0).any():
        return seeds
    filled = filled_mask(image, seeds)
    result = np.where(filled == MISSING, np.int16(0), filled)
    for k in np.unique(seeds[seeds > 0]).tolist():
        start = np.full(seeds.shape, _PROBABLY_NOT, dtype=np.uint8)
        start[(seeds != k) & (seeds != MISSING)] = _NOT
        start[seeds == k] = _IS
        free = (seeds == MISSING) & (result == 0)
        result[_grabcut(image, start) & free] = k
    return result


def box_mask(image: NDArray[Any], seeds: Seeds) -> Seeds:
    """Cut out each class from the box around what was drawn of it; outside is background, 2-D.

    Where GrabCut finds nothing, in a box over the whole image for instance, what was drawn is taken
    as it is. Without any box nothing is known.
    """
    if not (seeds > 0).any():
        return np.full_like(seeds, MISSING)
    result = np.zeros(seeds.shape, dtype=np.int16)
    for k in np.unique(seeds[seeds > 0]).tolist():
        start = np.full(seeds.shape, _NOT, dtype=np.uint8)
        start[box_around(seeds == k)] = _PROBABLY
        cut = _grabcut(image, start)
        result[cut if cut.any() else seeds == k] = k
    return result


_NOT, _IS, _PROBABLY_NOT, _PROBABLY = 0, 1, 2, 3
"""What OpenCV's GrabCut calls certain and probable background and foreground."""


def _grabcut(image: NDArray[Any], start: NDArray[np.uint8]) -> NDArray[np.bool_]:
    with extra():
        import cv2
    if image.ndim != 3:
        raise InputError(
            Fault("GrabCut of a volume", expected="images of two axes", fix="use random-walker")
        )
    colours = np.stack([_to_range(channel, 255.0) for channel in image[:3]], axis=-1)
    if colours.shape[2] != 3:
        colours = np.repeat(colours[:, :, :1], 3, axis=2)
    mask = start.copy()
    cv2.setRNGSeed(0)
    try:
        cv2.grabCut(
            np.ascontiguousarray(colours.astype(np.uint8)),
            mask,
            (0, 0, 0, 0),
            np.zeros((1, 65)),
            np.zeros((1, 65)),
            _ROUNDS,
            cv2.GC_INIT_WITH_MASK,
        )
    except cv2.error:  # too few seeds to learn colours from
        return np.asarray(start == _IS)
    return np.asarray((mask == _IS) | (mask == _PROBABLY))


def _to_range(channel: NDArray[Any], high: float) -> NDArray[np.float64]:
    values = channel.astype(np.float64)
    low, width = values.min(), np.ptp(values)
    return np.asarray((values - low) * (high / width if width else 0.0))


MASKS_OF_SEEDS: dict[str, MaskOfSeeds] = {
    "positive-only": filled_mask,
    "grabcut": grabcut_mask,
    "random-walker": random_walker_mask,
    "lazy-snapping": lazy_snapping_mask,
    "grabcut-boxes": box_mask,
}
"""Ways from drawings to masks by the name of the training method."""

USE_NEGATIVE = frozenset({"grabcut", "random-walker", "lazy-snapping"})
"""Those that look at negative drawings too."""
