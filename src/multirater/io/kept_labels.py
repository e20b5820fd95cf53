"""Labels kept in memory, packed: what is asked for several times is read from its file once.

A mask of 512 x 512 takes a few kilobytes, and unpacking it a tenth of the time of reading it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import InputError
from multirater.parallel import map_parallel
from multirater.types import MISSING, Case, Dataset, Geometry, LabelMap, Source

TRUTH = "(truth)"
"""Stands for the truth where a rater is named."""

_MOST_BYTES = 256_000_000
"""Of what is kept of a data set; the rest is read from files again."""


@dataclass(frozen=True, eq=False, slots=True)
class KeptLabel:
    """A label, packed.

    Attributes:
        packed: deflated; bits where there are but two classes, else numbers from 0 (missing) on.
        shape: of the label.
        dtype: of the numbers; None for bits.
        geometry: of the label.
        rule: as in `LabelMap`.
    """

    packed: bytes
    shape: tuple[int, ...]
    dtype: np.dtype[Any] | None
    geometry: Geometry
    rule: str

    def read(self) -> LabelMap:
        """Unpack the label."""
        data = zlib.decompress(self.packed)
        array: NDArray[np.int16]
        if self.dtype is None:
            n_pixels = int(np.prod(self.shape))
            bits = np.unpackbits(np.frombuffer(data, dtype=np.uint8), count=n_pixels)
            array = bits.astype(np.int16)
        else:
            array = np.frombuffer(data, dtype=self.dtype).astype(np.int16)
            array += np.int16(MISSING)
        return LabelMap(array.reshape(self.shape), self.geometry, self.rule)


def keep_label(label: LabelMap) -> KeptLabel:
    """Pack a label.

    Example:
        >>> drawn = LabelMap(np.array([[0, 2], [-1, 1]], dtype=np.int16), Geometry.default(2))
        >>> keep_label(drawn).read().array.tolist()
        [[0, 2], [-1, 1]]
    """
    array = label.array
    lowest, highest = int(array.min(initial=0)), int(array.max(initial=0))
    if lowest == 0 and highest <= 1:
        dtype, data = None, np.packbits(array.astype(bool)).tobytes()
    else:
        dtype = np.min_scalar_type(highest - MISSING)
        data = (array - np.int16(MISSING)).astype(dtype).tobytes()
    packed = zlib.compress(data, level=1)
    return KeptLabel(packed, array.shape, dtype, label.geometry, label.rule)


def keep_labels(dataset: Dataset, *, workers: int = 1) -> Dataset:
    """Read the drawings of a data set, and return it with them in memory.

    What cannot be read stays where it is, for whoever asks for it to be told.

    Args:
        dataset: of masks; class labels are in memory anyway.
        workers: number of processes that read.
    """
    if dataset.kind != "masks":
        return dataset
    found = map_parallel(_kept_of_case, dataset.cases, label="reading", workers=workers)
    return with_kept(dataset, found)


def with_kept(dataset: Dataset, kept: Iterable[Mapping[str, KeptLabel]]) -> Dataset:
    """Return a data set that takes labels from memory, as many as there is room for.

    Args:
        dataset: as it was read.
        kept: by case, then by rater.
    """
    room, cases = _MOST_BYTES, []
    for case, labels in zip(dataset.cases, kept, strict=True):
        room -= sum(len(each.packed) for each in labels.values())
        cases.append(_with_kept(case, labels) if room >= 0 else case)
    return replace(dataset, cases=tuple(cases))


def kept_of(case: Case, labels: Mapping[str, LabelMap]) -> dict[str, KeptLabel]:
    """Pack those labels of a case that come from files of their own.

    Args:
        case: whose labels they are.
        labels: by rater, as they were read; `(truth)` is the truth.
    """
    sources: dict[str, Source[LabelMap] | None] = {**case.labels, TRUTH: case.truth}
    from_files = {who for who, source in sources.items() if source is not None and source.files}
    return {
        who: keep_label(label)
        for who, label in labels.items()
        if who in from_files and label.array.ndim
    }


def _kept_of_case(case: Case) -> dict[str, KeptLabel]:
    try:
        return kept_of(case, {rater: case.read_label(rater) for rater in case.labels})
    except InputError:
        return {}


def _with_kept(case: Case, kept: Mapping[str, KeptLabel]) -> Case:
    labels = {
        rater: replace(source, read=kept[rater].read) if rater in kept else source
        for rater, source in case.labels.items()
    }
    truth = case.truth
    if truth is not None and TRUTH in kept:
        truth = replace(truth, read=kept[TRUTH].read)
    return replace(case, labels=labels, truth=truth)
