"""From cases to what a network sees: images and the labels of whoever labelled them."""

from __future__ import annotations

import os
import shutil
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.training.clock import now
from multirater.training.finite import require_finite
from multirater.training.normalisation import OWN, Normalisation, normalise
from multirater.training.paged import Room, in_memory
from multirater.training.places import Places, find_places
from multirater.training.resampling import resampled_size, resize_labels, resize_maps
from multirater.types import MISSING, Case, Image

__all__ = [
    "Grid",
    "Sample",
    "SampleCache",
    "chosen_view",
    "normalise",
    "read_sample",
    "take_patch",
    "take_slice",
]

CACHE_BYTES = 4 * 2**30
"""Decoded cases kept in memory, per process that reads, when no budget is given."""


@dataclass(frozen=True, eq=False)
class Sample:
    """One image, or one part of it.

    Attributes:
        image: float32 (channels, *image space), normalised; a vector of features as it is.
        labels: int16 (n_labels, *space), only of raters who labelled the case, -1 where missing.
            The space of drawings is that of the image; class labels have none.
        raters: (n_labels,), positions in the data set's raters.
        truth: int16 (*space), -1 where unknown.
        places: of rare classes and disputed pixels, where they are asked for.
        hint: float32 (L,), log odds of the classes by a witness beside the labels, for methods
            that have one.
    """

    image: NDArray[np.float32]
    labels: NDArray[np.int16]
    raters: tuple[int, ...]
    truth: NDArray[np.int16]
    places: Places = ()
    hint: NDArray[np.float32] | None = None


@dataclass(frozen=True)
class Grid:
    """What is done to every case as it is read.

    Attributes:
        spacing: millimetres per array axis that it is brought to; empty for its own.
        keeps_first: whether the first axis keeps its own, for slices.
        space: size that it is brought to, for class labels; empty for its own.
        normalisation: of intensities.
    """

    spacing: tuple[float, ...] = ()
    keeps_first: bool = False
    space: tuple[int, ...] = ()
    normalisation: Normalisation = OWN

    def size_of(self, image: Image) -> tuple[int, ...]:
        """Return the size that an image has on the grid."""
        if self.space and image.space:
            return self.space
        if not self.spacing or len(self.spacing) != len(image.space):
            return image.space
        found = resampled_size(image.space, image.geometry.spacing, self.spacing)
        return (image.space[0], *found[1:]) if self.keeps_first else found

    def prepared(self, image: Image, room: Room = in_memory) -> NDArray[np.float32]:
        """Return an image as the network sees it: (channels, *size).

        Args:
            image: as it was read.
            room: makes the array that is returned; in memory, or in a file.
        """
        size = self.size_of(image)
        array = image.array if size == image.space else resize_maps(image.array, size)
        return normalise(array, self.normalisation, room)


def read_sample(
    case: Case,
    raters: Mapping[str, int],
    *,
    with_truth: bool,
    of_classes: bool = False,
    grid: Grid | None = None,
    with_places: bool = False,
) -> Sample:
    """Read a whole case.

    Args:
        case: with an image.
        raters: positions of the raters by name.
        with_truth: read the truth too.
        of_classes: labels are classes of whole images, without space.
        grid: what is done to it; nothing but normalisation when not given.
        with_places: look for rare classes and disputed pixels.
    """
    grid = grid or Grid()
    image = case.read_image()
    if image is None:
        raise InputError(Fault("has no image", fix="training needs images", case=case.name))
    require_finite(image.array, case.name)
    size = grid.size_of(image)
    prepared = grid.prepared(image)
    del image  # no longer held while labels are read
    space = () if of_classes else size
    present = sorted((rater for rater in case.labels if rater in raters), key=raters.__getitem__)
    labels = np.empty((len(present), *space), dtype=np.int16)
    for number, rater in enumerate(present):  # one by one: resampled before the next is read
        own = case.read_label(rater).array
        labels[number] = own if of_classes else resize_labels(own[None], size)[0]
    truth = case.read_truth() if with_truth else None
    known = np.broadcast_to(np.int16(MISSING), space)
    if truth is not None:
        known = truth.array if of_classes else resize_labels(truth.array[None], size)[0]
    positions = tuple(raters[rater] for rater in present)
    places = find_places(labels) if with_places and not of_classes else ()
    return Sample(prepared, labels, positions, known, places)


class SampleCache:
    """Reads cases and remembers the latest ones, up to a number of bytes.

    Args:
        cases: to serve.
        raters: names that positions refer to.
        with_truth: read the truth too.
        of_classes: labels are classes of whole images.
        grid: what is done to every case as it is read.
        with_places: look for rare classes and disputed pixels.
        most_bytes: of decoded cases to keep; a fixed number when not given.
        folder: where decoded cases that are forgotten are kept as files, of which only what a
            patch needs is read; nowhere when not given.
    """

    def __init__(
        self,
        cases: Sequence[Case],
        raters: Sequence[str],
        *,
        with_truth: bool = False,
        of_classes: bool = False,
        grid: Grid | None = None,
        with_places: bool = False,
        most_bytes: int | None = None,
        folder: Path | None = None,
    ) -> None:
        self.cases = cases
        self.raters = {rater: position for position, rater in enumerate(raters)}
        self.with_truth = with_truth
        self.of_classes = of_classes
        self.grid = grid or Grid()
        self.with_places = with_places
        self.most_bytes = most_bytes
        self.folder = folder
        self.n_read, self.seconds = 0, 0.0
        self._numbers = {case.name: number for number, case in enumerate(cases)}
        self._kept: OrderedDict[int, Sample] = OrderedDict()
        self._bytes = 0
        self._stored: dict[int, Sample] = {}
        self._writers: dict[int, int] = {}

    @property
    def seconds_per_case(self) -> float:
        """What reading and decoding a case took, in the mean; 0 before the first."""
        return self.seconds / max(self.n_read, 1)

    def numbers_of(self, cases: Sequence[Case]) -> list[int]:
        """Return at which places cases are."""
        return [self._numbers[case.name] for case in cases]

    def forget(self) -> None:
        """Let go of all that is kept in memory."""
        self._kept.clear()
        self._bytes = 0

    def __getitem__(self, index: int) -> Sample:
        if index in self._kept:
            self._kept.move_to_end(index)
            return self._kept[index]
        if index in self._stored:
            return self._from_files(index)
        sample = self._read(index)
        most = CACHE_BYTES if self.most_bytes is None else self.most_bytes
        is_full = self._bytes + _size(sample) > most
        if self.folder is not None and is_full and self._into_files(index, sample):
            return self._from_files(index)
        self._kept[index] = sample
        self._bytes += _size(sample)
        while self._bytes > most and len(self._kept) > 1:
            self._bytes -= _size(self._kept.popitem(last=False)[1])
        return sample

    def _read(self, index: int) -> Sample:
        started = now()
        sample = read_sample(
            self.cases[index],
            self.raters,
            with_truth=self.with_truth,
            of_classes=self.of_classes,
            grid=self.grid,
            with_places=self.with_places,
        )
        self.n_read += 1
        self.seconds += now() - started
        return sample

    def _into_files(self, index: int, sample: Sample) -> bool:
        """Keep a decoded case as files, unless the disk has no room for it."""
        assert self.folder is not None
        self.folder.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(self.folder).free < 4 * _size(sample):
            return False
        stored: dict[str, Any] = dict.fromkeys(self._names, np.empty(0))
        for name in stored:
            np.save(self._file(index, name), getattr(sample, name))
        self._stored[index] = replace(sample, **stored)
        return True

    def _file(self, index: int, name: str) -> Path:
        """Return the file of a part of a case, which no process but its writer writes."""
        assert self.folder is not None
        writer = self._writers.setdefault(index, os.getpid())
        return self.folder / f"{writer}-{index}-{name}.npy"

    @property
    def _names(self) -> tuple[str, ...]:
        """What of a case takes memory: without a truth, its unknown pixels take none."""
        return ("image", "labels", "truth") if self.with_truth else ("image", "labels")

    def _from_files(self, index: int) -> Sample:
        """Return a case whose pixels are read from files as they are touched."""
        parts: dict[str, Any] = {
            name: np.load(self._file(index, name), mmap_mode="r") for name in self._names
        }
        return replace(self._stored[index], **parts)


def _size(sample: Sample) -> int:
    return sample.image.nbytes + sample.labels.nbytes + sample.truth.nbytes


def take_slice(sample: Sample, index: int) -> Sample:
    """Return one slice of a volume, along the first axis, as a 2-D sample."""
    return Sample(
        sample.image[:, index], sample.labels[:, index], sample.raters, sample.truth[index]
    )


def take_patch(sample: Sample, corner: Sequence[int], size: Sequence[int]) -> Sample:
    """Cut a patch; beyond the border the image is 0 and nothing is labelled.

    Args:
        sample: to cut from.
        corner: its first pixel, which may lie before the first of the sample.
        size: of the patch.
    """
    image = _cut(sample.image, corner, size, 0)
    labels = _cut(sample.labels, corner, size, MISSING)
    return Sample(image, labels, sample.raters, _cut(sample.truth[None], corner, size, MISSING)[0])


def _cut(
    array: NDArray[Any], corner: Sequence[int], size: Sequence[int], fill: float
) -> NDArray[Any]:
    space = array.shape[1:]
    inside = tuple(
        slice(max(at, 0), max(at + length, 0)) for at, length in zip(corner, size, strict=True)
    )
    cut = np.asarray(array[(slice(None), *inside)])
    around = [
        (max(-at, 0), max(at + length - max(have, at), 0))
        for at, length, have in zip(corner, size, space, strict=True)
    ]
    if not any(map(any, around)):
        return cut
    return np.pad(cut, [(0, 0), *around], constant_values=fill)


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
