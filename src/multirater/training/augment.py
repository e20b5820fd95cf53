"""Random changes of a sample that leave its meaning as it is.

MONAI's transforms do the work; the seed of every sample follows from run, epoch and sample, so
that a resumed run sees what an unbroken one would have seen.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.training.samples import Sample
from multirater.types import MISSING

_OUTSIDE = 1
"""Labels are shifted by one while MONAI works on them: what comes in from outside is 0, missing."""


def augment(sample: Sample, random: np.random.Generator) -> Sample:
    """Flip, rotate and scale a little, and change the intensities, at random.

    With class labels images are not flipped: mirrored, an image may show another class. A vector of
    features stays as it is.
    """
    of_classes = sample.truth.ndim == 0
    if sample.image.ndim == 1:
        return sample
    transform = _transform(sample.image.ndim - 1, flips=not of_classes)
    transform.set_random_state(seed=int(random.integers(2**31)))
    if of_classes:
        changed = transform({"image": sample.image, "labels": np.zeros_like(sample.image)})
        return replace(sample, image=_as_array(changed["image"]))
    labels = np.concatenate([sample.labels, sample.truth[None]]).astype(np.float32) + _OUTSIDE
    changed = transform({"image": sample.image, "labels": labels})
    restored = np.asarray(changed["labels"]).round().astype(np.int16) - _OUTSIDE
    return Sample(_as_array(changed["image"]), restored[:-1], sample.raters, restored[-1])


def _as_array(image: Any) -> NDArray[np.float32]:
    return np.ascontiguousarray(np.asarray(image, dtype=np.float32))


@lru_cache(maxsize=2)
def _transform(ndim: int, *, flips: bool) -> Any:
    from monai import transforms

    both = ["image", "labels"]
    axes = range(ndim) if flips else ()
    angle = 0.26 if ndim == 2 else (0.26, 0.0, 0.0)
    return transforms.Compose(
        [
            *(transforms.RandFlipd(both, prob=0.5, spatial_axis=axis) for axis in axes),
            transforms.RandAffined(
                both,
                prob=0.5,
                rotate_range=angle,
                scale_range=0.1,
                mode=["bilinear", "nearest"],
                padding_mode="zeros",
            ),
            transforms.RandScaleIntensityd("image", factors=0.1, prob=0.5),
            transforms.RandShiftIntensityd("image", offsets=0.1, prob=0.5),
            transforms.RandGaussianNoised("image", prob=0.15, std=0.1),
        ]
    )


assert MISSING + _OUTSIDE == 0
