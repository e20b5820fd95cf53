"""From cases to what a network sees: images and the labels of whoever labelled them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.types import MISSING, Case

CACHE_BYTES = 4 * 2**30
"""Decoded cases kept in memory, per process that reads."""


@dataclass(frozen=True, eq=False)
class Sample:
    """One image, or one part of it.

    Attributes:
        image: float32 (channels, *image space), zero mean and unit variance per channel of the
            case; a vector of features as it is.
        labels: int16 (n_labels, *space), only of raters who labelled the case, -1 where missing.
            The space of drawings is that of the image; class labels have none.
        raters: (n_labels,), positions in the data set's raters.
        truth: int16 (*space), -1 where unknown.
    """

    image: NDArray[np.float32]
    labels: NDArray[np.int16]
    raters: tuple[int, ...]
    truth: NDArray[np.int16]


def normalise(image: NDArray[Any]) -> NDArray[np.float32]:
    """Scale every channel of a case to zero mean and unit variance; a flat channel becomes zero.

    A vector of features, which has no space to take a mean over, stays as it is.
    """
    values = image.astype(np.float32)
    if values.ndim == 1:
        return values
    axes = tuple(range(1, values.ndim))
    values -= values.mean(axes, keepdims=True)
    deviation = values.std(axes, keepdims=True)
    return np.asarray(values / np.maximum(deviation, 1e-6))


def read_sample(
    case: Case, raters: Mapping[str, int], *, with_truth: bool, of_classes: bool = False
) -> Sample:
    """Read a whole case.

    Args:
        case: with an image.
        raters: positions of the raters by name.
        with_truth: read the truth too.
        of_classes: labels are classes of whole images, without space.
    """
    image = case.read_image()
    if image is None:
        raise InputError(Fault("has no image", fix="training needs images", case=case.name))
    if not np.isfinite(image.array).all():
        raise InputError(
            Fault("image holds NaN or infinite values", fix="mend the image", case=case.name)
        )
    space = () if of_classes else image.space
    present = sorted((rater for rater in case.labels if rater in raters), key=raters.__getitem__)
    labels = case.read_labels(present).array if present else np.empty((0, *space), dtype=np.int16)
    truth = case.read_truth() if with_truth else None
    known = np.full(space, MISSING, dtype=np.int16) if truth is None else truth.array
    positions = tuple(raters[rater] for rater in present)
    return Sample(normalise(image.array), labels, positions, known)


class SampleCache:
    """Reads cases and remembers the latest ones, up to a number of bytes."""

    def __init__(
        self,
        cases: Sequence[Case],
        raters: Sequence[str],
        *,
        with_truth: bool = False,
        of_classes: bool = False,
    ) -> None:
        self.cases = cases
        self.raters = {rater: position for position, rater in enumerate(raters)}
        self.with_truth = with_truth
        self.of_classes = of_classes
        self._kept: OrderedDict[int, Sample] = OrderedDict()
        self._bytes = 0

    def __getitem__(self, index: int) -> Sample:
        if index in self._kept:
            self._kept.move_to_end(index)
            return self._kept[index]
        sample = read_sample(
            self.cases[index],
            self.raters,
            with_truth=self.with_truth,
            of_classes=self.of_classes,
        )
        self._kept[index] = sample
        self._bytes += _size(sample)
        while self._bytes > CACHE_BYTES and len(self._kept) > 1:
            self._bytes -= _size(self._kept.popitem(last=False)[1])
        return sample


def _size(sample: Sample) -> int:
    return sample.image.nbytes + sample.labels.nbytes + sample.truth.nbytes


def take_slice(sample: Sample, index: int) -> Sample:
    """Return one slice of a volume, along the first axis, as a 2-D sample."""
    return Sample(
        sample.image[:, index], sample.labels[:, index], sample.raters, sample.truth[index]
    )


def take_patch(sample: Sample, corner: Sequence[int], size: Sequence[int]) -> Sample:
    """Cut a patch; beyond the border the image is 0 and nothing is labelled."""
    image = _cut(sample.image, corner, size, 0)
    labels = _cut(sample.labels, corner, size, MISSING)
    return Sample(image, labels, sample.raters, _cut(sample.truth[None], corner, size, MISSING)[0])


def _cut(
    array: NDArray[Any], corner: Sequence[int], size: Sequence[int], fill: float
) -> NDArray[Any]:
    inside = tuple(slice(at, at + length) for at, length in zip(corner, size, strict=True))
    cut = array[(slice(None), *inside)]
    missing = [length - have for length, have in zip(size, cut.shape[1:], strict=True)]
    if not any(missing):
        return cut
    return np.pad(cut, [(0, 0), *((0, extra) for extra in missing)], constant_values=fill)


def chosen_view(
    view: Literal["auto", "2d", "slices", "3d"], ndim: int
) -> Literal["2d", "slices", "3d"]:
    """Settle `auto`, and refuse a view that the images do not have."""
    if view == "auto":
        return "2d" if ndim == 2 else "3d"
    if (view == "2d") != (ndim == 2):
        raise InputError(
            Fault(
                f"view {view} of {ndim}-dimensional images",
                expected="2d for images; slices or 3d for volumes",
            )
        )
    return view
