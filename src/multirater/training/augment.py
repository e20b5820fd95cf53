"""Random changes of a sample that leave its meaning as it is.

MONAI's transforms do the work; the seed of every sample follows from run, epoch and sample, so
that a resumed run sees what an unbroken one would have seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.training.samples import Sample
from multirater.types import MISSING

_OUTSIDE = 1
"""Labels are shifted by one while MONAI works on them: what comes in from outside is 0, missing."""


_LITTLE, _TURN = 0.26, 0.52
"""Radians that an image is turned by at most: 15 and 30 degrees."""


def margin(size: Sequence[int]) -> tuple[int, ...]:
    """Return how much larger than a patch, per side, a sample should be before it is turned."""
    return tuple(-(-side // 6) for side in size)


def augment(
    sample: Sample,
    random: np.random.Generator,
    *,
    mirror: bool = True,
    only_mirror: bool = False,
    size: Sequence[int] | None = None,
) -> Sample:
    """Rotate, scale and mirror, and change the intensities, at random.

    With class labels images are not mirrored, and only turned and scaled a little: changed more, an
    image may show another class. A vector of features stays as it is.

    Args:
        sample: to change; a little larger than `size`, so that what turns in is image too.
        random: where chance comes from.
        mirror: whether to mirror drawings.
        only_mirror: whether to do nothing else, as Zhang 2020 does.
        size: of the result, (*space); that of the sample when not given.
    """
    of_classes = sample.truth.ndim == 0
    if sample.image.ndim == 1:
        return sample
    space = tuple(sample.image.shape[1:] if size is None else size)
    mirrors = mirror and not of_classes
    transform = _mirrored(space, mirrors) if only_mirror else _transform(space, mirrors, of_classes)
    transform.set_random_state(seed=int(random.integers(2**31)))
    if of_classes:
        changed = _apply(transform, sample.image, np.zeros_like(sample.image))
        return replace(sample, image=_as_array(changed["image"]))
    labels = np.concatenate([sample.labels, sample.truth[None]]).astype(np.float32) + _OUTSIDE
    changed = _apply(transform, sample.image, labels)
    restored = np.asarray(changed["labels"]).round().astype(np.int16) - _OUTSIDE
    return Sample(_as_array(changed["image"]), restored[:-1], sample.raters, restored[-1])


def _apply(transform: Any, image: NDArray[Any], labels: NDArray[Any]) -> dict[str, Any]:
    """Apply a transform without MONAI's notes on where pixels came from: twice as fast."""
    from monai.data import get_track_meta, set_track_meta

    before = get_track_meta()
    set_track_meta(False)
    try:
        return dict(transform({"image": image, "labels": labels}))
    finally:
        set_track_meta(before)


def _as_array(image: Any) -> NDArray[np.float32]:
    return np.ascontiguousarray(np.asarray(image, dtype=np.float32))


@lru_cache(maxsize=8)
def _transform(space: tuple[int, ...], mirror: bool, is_gentle: bool) -> Any:
    from monai import transforms

    both, ndim = ["image", "labels"], len(space)
    axes = range(ndim) if mirror else ()
    # In the plane of a volume's slices only: other planes may be of much coarser pixels.
    turn = _LITTLE if is_gentle else _TURN
    return transforms.Compose(
        [
            transforms.RandAffined(
                both,
                prob=0.5,
                rotate_range=turn if ndim == 2 else (turn, 0.0, 0.0),
                scale_range=0.1 if is_gentle else (-0.25, 0.3),
                spatial_size=space,
                mode=["bilinear", "nearest"],
                padding_mode="zeros",
            ),
            *(transforms.RandFlipd(both, prob=0.5, spatial_axis=axis) for axis in axes),
            transforms.RandGaussianNoised("image", prob=0.15, std=0.1),
            transforms.RandGaussianSmoothd(
                "image", prob=0.1, sigma_x=(0.5, 1.0), sigma_y=(0.5, 1.0), sigma_z=(0.5, 1.0)
            ),
            transforms.RandScaleIntensityd("image", factors=0.25, prob=0.3),
            transforms.RandShiftIntensityd("image", offsets=0.1, prob=0.3),
            transforms.RandAdjustContrastd("image", prob=0.3, gamma=(0.7, 1.5), retain_stats=True),
        ]
    )


@lru_cache(maxsize=8)
def _mirrored(space: tuple[int, ...], mirror: bool) -> Any:
    from monai import transforms

    both, axes = ["image", "labels"], range(len(space)) if mirror else ()
    return transforms.Compose(
        [
            transforms.CenterSpatialCropd(both, space),
            *(transforms.RandFlipd(both, prob=0.5, spatial_axis=axis) for axis in axes),
        ]
    )


assert MISSING + _OUTSIDE == 0
