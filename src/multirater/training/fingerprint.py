"""What a study looks like: all that a plan is made from. No torch, and never the truth.

Sizes, spacings, labels per rater, classes and disputes come from the survey of all cases; what
needs the pixels themselves, intensities and the size of objects, from some cases spread over the
study.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.survey import CaseSurvey, Survey
from multirater.io.tables.table_check import LabelKind
from multirater.progress import track
from multirater.training.finite import require_finite, require_small_offsets
from multirater.training.same_channels import require_same_channels
from multirater.types import MISSING, Case, Dataset

ImageKind = Literal["colour", "ct", "other", "vector"]

_LOOKED_AT = 24
"""Cases whose pixels are looked at."""

_PIXELS = 20_000
"""Pixels of a case that intensities are taken from."""

_AIR, _TISSUE = -200, 100
"""Hounsfield units: a CT that was not cut down has values below the first and above the second."""


@dataclass(frozen=True)
class Fingerprint:
    """What a study looks like. Per-axis values are in the order of array axes.

    Attributes:
        kind: of the labels, `masks` or `classes`.
        n_cases: that training may use: labelled, and not of another split.
        n_classes: background included.
        n_channels: of the images, or features of vectors.
        size: median size of the images, in pixels; empty for vectors.
        smallest: size of the smallest image, axis by axis.
        largest: size of the largest image, axis by axis.
        spacing: usual distance between pixels, the median, in millimetres.
        finest: smallest spacing of each axis.
        coarsest: largest spacing of each axis.
        image: `colour` photograph, `ct` in Hounsfield units, `other`, or `vector` of features.
        mean: intensity per channel, over all pixels of colour images, else where raters drew.
        deviation: of the same.
        low: per channel, half a per cent of those intensities are lower.
        high: per channel, half a per cent of those intensities are higher.
        class_share: share of the labelled pixels that raters give each class.
        class_cases: share of the cases in which a rater uses the class.
        object_size: per class the median extent of the largest object of a case, in pixels; empty
            for the background, and for a class that nobody uses.
        disputed: share of the pixels labelled by several raters on which they disagree.
        labels: number of labels by rater.
        groups: patients, or groups, that cases come from; 0 when nothing is said of them.
        identity: of the data set: its cases, their sizes and who labelled them.
    """

    kind: LabelKind
    n_cases: int
    n_classes: int
    n_channels: int
    size: tuple[int, ...] = ()
    smallest: tuple[int, ...] = ()
    largest: tuple[int, ...] = ()
    spacing: tuple[float, ...] = ()
    finest: tuple[float, ...] = ()
    coarsest: tuple[float, ...] = ()
    image: ImageKind = "other"
    mean: tuple[float, ...] = ()
    deviation: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    class_share: tuple[float, ...] = ()
    class_cases: tuple[float, ...] = ()
    object_size: tuple[tuple[int, ...], ...] = ()
    disputed: float = 0.0
    labels: dict[str, int] = field(default_factory=dict)
    groups: int = 0
    identity: str = ""

    @property
    def ndim(self) -> int:
        """Axes of the images: 2, 3, or 0 for vectors."""
        return len(self.size)

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def fingerprint(found: Survey) -> Fingerprint:
    """Look at a study.

    Args:
        found: the study, read once and in order.

    Raises:
        InputError: no images, or images of different kinds.
    """
    dataset = found.dataset
    # As `training.data.named_splits` has it: those without a split, unless there are others.
    takes_part = {"train", "val", "valid", "validation"}
    if "train" not in {case.split for case in dataset}:
        takes_part.add("")
    usable = [
        (case, seen)
        for case, seen in zip(dataset, found.cases, strict=True)
        if seen.n_channels and case.split in takes_part
    ]
    labelled = [each for each in usable if each[0].labels or each[0].drawings]
    usable = labelled or usable
    _require_images(dataset, usable, found)
    sizes = np.array([seen.image_space for _, seen in usable])
    spacings = np.array([seen.spacing for _, seen in usable], dtype=float)
    n_classes = len(found.classes)
    looks = _looks([case for case, _ in usable], dataset.kind, n_classes)
    if looks[0].ndim == 0:
        require_small_offsets(np.concatenate([look.pixels for look in looks], axis=1).T)
    values = _intensities(looks)
    named = {case.patient for case, _ in usable if case.patient}
    return Fingerprint(
        kind=dataset.kind,
        n_cases=len(usable),
        n_classes=n_classes,
        n_channels=usable[0][1].n_channels,
        size=_whole(np.median(sizes, axis=0)),
        smallest=_whole(sizes.min(0)),
        largest=_whole(sizes.max(0)),
        spacing=_rounded(np.median(spacings, axis=0)),
        finest=_rounded(spacings.min(0)),
        coarsest=_rounded(spacings.max(0)),
        **values,
        **_label_shares([seen for _, seen in usable], n_classes),
        object_size=_object_sizes(looks, n_classes),
        labels={r: sum(r in case.labels for case, _ in usable) for r in dataset.raters},
        groups=len(named),
        identity=identity_of(found),
    )


def identity_of(found: Survey) -> str:
    """Return what tells one data set from another: cases, sizes, and who labelled them."""
    text = repr(
        [
            (seen.name, seen.n_channels, seen.image_space, tuple(sorted(case.labels)), case.split)
            for case, seen in zip(found.dataset, found.cases, strict=True)
        ]
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _require_images(
    dataset: Dataset, usable: Sequence[tuple[Case, CaseSurvey]], found: Survey
) -> None:
    if not usable:
        fix = "name images in the manifest"
        if dataset.kind == "classes":
            fix += ", or put the features of the cases into features.csv beside it"
        fault = Fault("no case has an image", expected="images to learn from", fix=fix)
        if any(seen.n_channels for seen in found.cases):
            fault = Fault(
                "no labelled case to train on",
                expected="cases with labels in the split `train`, or without a split",
            )
        raise InputError(fault)
    require_same_channels(seen for _, seen in usable)
    axes = sorted({len(seen.image_space) for _, seen in usable})
    if len(axes) > 1:
        raise InputError(
            Fault(f"images with {axes} axes", expected="images or volumes, not both in one study")
        )


@dataclass(frozen=True, eq=False)
class _Look:
    """What was seen of one case's pixels."""

    pixels: NDArray[np.float64]
    drawn: NDArray[np.float64]
    lowest: float
    highest: float
    is_photograph: bool
    ndim: int
    objects: dict[int, tuple[int, ...]]


def _looks(cases: Sequence[Case], kind: LabelKind, n_classes: int) -> list[_Look]:
    step = max(len(cases) / _LOOKED_AT, 1.0)
    chosen = [cases[int(i * step)] for i in range(min(len(cases), _LOOKED_AT))]
    return [_look(case, kind, n_classes) for case in track(chosen, "looking at", len(chosen))]


def _look(case: Case, kind: LabelKind, n_classes: int) -> _Look:
    image = case.read_image()
    assert image is not None
    if image.array.size:
        require_finite(image.array, case.name)
    array, ndim = image.array, image.array.ndim - 1
    flat = array.reshape(len(array), -1)
    random = np.random.default_rng(0)
    some = flat[:, random.integers(flat.shape[1], size=_PIXELS)] if ndim else flat
    drawn = np.empty((len(array), 0))
    objects: dict[int, tuple[int, ...]] = {}
    if kind == "masks" and case.labels:
        label = case.read_label(next(iter(case.labels))).array
        inside = np.flatnonzero(label.ravel() > 0)
        if len(inside):
            drawn = flat[:, inside[random.integers(len(inside), size=_PIXELS)]].astype(float)
        objects = {
            each: extent
            for each in range(1, n_classes)
            if (extent := _largest_object(label == each)) is not None
        }
    lowest, highest = (float(array.min()), float(array.max())) if array.size else (0.0, 0.0)
    is_photograph = ndim == 2 and len(array) == 3 and lowest >= 0 and 1 < highest <= 255
    if is_photograph and array.dtype.kind == "f":
        is_photograph = bool((some == np.round(some)).all())
    return _Look(some.astype(float), drawn, lowest, highest, is_photograph, ndim, objects)


def _largest_object(mask: NDArray[np.bool_]) -> tuple[int, ...] | None:
    """Return the extent of the largest connected part, per axis."""
    from scipy import ndimage

    if not mask.any():
        return None
    # Only where anything was drawn: of a volume, a small part.
    mask = mask[ndimage.find_objects(mask.view(np.uint8), max_label=1)[0]]
    parts, n_parts = ndimage.label(mask)
    if n_parts == 1:
        box = ndimage.find_objects(parts)[0]
    else:
        counts = np.bincount(parts.ravel())
        counts[0] = 0
        box = ndimage.find_objects(parts)[int(counts.argmax()) - 1]
    return tuple(side.stop - side.start for side in box)


def _intensities(looks: Sequence[_Look]) -> dict[str, Any]:
    if looks[0].ndim == 0:
        return {"image": "vector"}
    kind: ImageKind = "other"
    if all(look.is_photograph for look in looks):
        kind = "colour"
    elif len(looks[0].pixels) == 1 and _is_ct(looks):
        kind = "ct"
    with_drawn = [look.drawn for look in looks if look.drawn.size]
    parts = [look.pixels for look in looks] if kind == "colour" or not with_drawn else with_drawn
    values = np.concatenate(parts, axis=1)
    low, high = np.percentile(values, (0.5, 99.5), axis=1)
    clipped = np.clip(values, low[:, None], high[:, None])
    return {
        "image": kind,
        "mean": _rounded(clipped.mean(1)),
        "deviation": _rounded(clipped.std(1)),
        "low": _rounded(low),
        "high": _rounded(high),
    }


def _is_ct(looks: Sequence[_Look]) -> bool:
    lowest = float(np.median([look.lowest for look in looks]))
    highest = float(np.median([look.highest for look in looks]))
    return -5000 <= lowest <= _AIR and _TISSUE <= highest <= 40_000


def _label_shares(cases: Sequence[CaseSurvey], n_classes: int) -> dict[str, Any]:
    """Count classes and disputes in the patterns that labels form."""
    counts, used = np.zeros(n_classes), np.zeros(n_classes)
    disputed = several = 0
    for seen in cases:
        present = np.zeros(n_classes, dtype=bool)
        for each in range(n_classes):
            n_labels = int(((seen.rows == each).sum(1) * seen.counts).sum())
            counts[each] += n_labels
            present[each] = n_labels > 0
        used += present
        given = (seen.rows != MISSING).sum(1) > 1
        highest = seen.rows.max(1, initial=MISSING)
        lowest = np.where(seen.rows == MISSING, n_classes, seen.rows).min(1, initial=n_classes)
        several += int(seen.counts[given].sum())
        disputed += int(seen.counts[given & (lowest < highest)].sum())
    return {
        "class_share": _rounded(counts / max(counts.sum(), 1)),
        "class_cases": _rounded(used / max(len(cases), 1)),
        "disputed": float(f"{disputed / max(several, 1):.6g}"),
    }


def _object_sizes(looks: Sequence[_Look], n_classes: int) -> tuple[tuple[int, ...], ...]:
    found: list[tuple[int, ...]] = [()]
    for each in range(1, n_classes):
        extents = [look.objects[each] for look in looks if each in look.objects]
        found.append(_whole(np.median(extents, axis=0)) if extents else ())
    return tuple(found)


def _whole(values: Any) -> tuple[int, ...]:
    return tuple(round(float(each)) for each in values)


def _rounded(values: Any) -> tuple[float, ...]:
    """Keep six digits: what is written is what was decided by."""
    return tuple(float(f"{float(each):.6g}") for each in values)
