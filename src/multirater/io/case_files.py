"""Read all files of a case and check that they fit together."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TypeVar

from multirater.errors import Fault, InputError
from multirater.io.formats.grid import is_default, size_text
from multirater.types import Case, Dataset, Drawing, Geometry, Image, LabelMap

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class CaseFiles:
    """What could be read of a case.

    Attributes:
        image: None when there is none, or it cannot be read.
        labels: by rater, those that can be read.
        truth: None when there is none, or it cannot be read.
        faults: everything that cannot be read, or does not fit.
        drawings: coarse drawings that can be read.
        gold: None when there is none, or it cannot be read.
    """

    image: Image | None
    labels: dict[str, LabelMap]
    truth: LabelMap | None
    faults: tuple[Fault, ...]
    drawings: tuple[tuple[Drawing, LabelMap], ...] = ()
    gold: LabelMap | None = None

    @property
    def all_drawn(self) -> list[LabelMap]:
        """Everything that was drawn: labels, truth, gold labels and coarse drawings."""
        known = [each for each in (self.truth, self.gold) if each is not None]
        return [*self.labels.values(), *known, *(label for _, label in self.drawings)]


def folders_of(dataset: Dataset) -> set[Path]:
    """Return the folders that a data set is read from: its own, its gold labels', its files'."""
    sources = [
        source
        for case in dataset
        for source in (
            case.image,
            case.truth,
            case.gold,
            *case.labels.values(),
            *(drawing.source for drawing in case.drawings),
        )
        if source is not None
    ]
    own = {each for each in (dataset.folder, dataset.gold_from) if each is not None}
    # Not by pathlib: a large study has many files in few folders.
    return own | set(map(Path, {os.path.dirname(file) for each in sources for file in each.files}))  # noqa: PTH120


def read_case_files(case: Case) -> CaseFiles:
    """Read image, labels, truth, gold label and drawings of a case, and list what is wrong."""
    faults: list[Fault] = []
    image = _try(case.read_image, faults)
    read = {rater: _try(partial(case.read_label, rater), faults) for rater in case.labels}
    labels = {rater: label for rater, label in read.items() if label is not None}
    truth, gold = _try(case.read_truth, faults), _try(case.read_gold, faults)
    drawn = [(rater, label, case.labels[rater].files) for rater, label in labels.items()]
    if truth is not None and case.truth is not None:
        drawn.append(("(truth)", truth, case.truth.files))
    if gold is not None and case.gold is not None:
        drawn.append(("(gold)", gold, case.gold.files))
    coarse = [(each, _try(partial(case.read_drawing, each), faults)) for each in case.drawings]
    drawings = tuple((each, label) for each, label in coarse if label is not None)
    drawn += [(each.rater, label, each.source.files) for each, label in drawings]
    unusable = _spacing_faults(image)
    faults += [fault.at(case=case.name) for fault in unusable or _misfits(image, drawn)]
    return CaseFiles(image, labels, truth, _each_once(faults), drawings, gold)


def _try(read: Callable[[], T], faults: list[Fault]) -> T | None:
    try:
        return read()
    except InputError as error:
        faults.extend(error.faults)
        return None


def _each_once(faults: Sequence[Fault]) -> tuple[Fault, ...]:
    """Drop what a label reports of its image, or a simulated label of the truth, once more."""
    first: dict[tuple[str, ...], Fault] = {}
    for fault in faults:
        where = (fault.file,) if fault.file else (fault.case, fault.rater)
        first.setdefault((fault.found, *where), fault)
    return tuple(first.values())


def _spacing_faults(image: Image | None) -> list[Fault]:
    """Refuse distances between pixels that cannot be, which only arrays and odd headers have."""
    spacing = () if image is None else image.geometry.spacing
    wrong = [each for each in spacing if not (isfinite(each) and each > 0)]
    return [
        Fault(
            f"image has a spacing of {each:g} mm",
            expected="a distance between pixels, more than 0",
            fix="correct the spacing, in the file's header",
        )
        for each in wrong[:1]
    ]


def _misfits(
    image: Image | None, drawn: Sequence[tuple[str, LabelMap, tuple[str | Path, ...]]]
) -> list[Fault]:
    """Compare every label with the image, or with the first label when there is no image."""
    if not drawn or drawn[0][1].array.ndim == 0:
        return []
    first_rater, first, _ = drawn[0]
    if image is None:
        space, geometry, whose = first.array.shape, first.geometry, f"{first_rater}'s label"
    else:
        space, geometry, whose = image.space, image.geometry, "the image"
    known = next((each for each in drawn if not is_default(each[1].geometry)), None)
    faults = []
    for rater, label, files in drawn:
        fault = None
        if label.array.shape != space:
            fault = Fault(
                f"label has size {size_text(label.array.shape)}",
                expected=f"{size_text(space)}, the size of {whose}",
                fix="draw or resample the label on the grid of its image",
            )
        elif not _same_place(label.geometry, geometry):
            fault = Fault(
                f"label lies elsewhere: {_place(label.geometry)}",
                expected=f"{_place(geometry)}, as {whose}",
                fix="resample the label on the grid of its image, or correct its header",
            )
        elif known is not None and not label.geometry.goes_along(known[1].geometry):
            # Of pixels that lie elsewhere alone, an image without a place of its own says nothing.
            fault = Fault(
                f"label lies along other directions: {label.geometry.direction}",
                expected=f"{known[1].geometry.direction}, as {known[0]}'s label",
                fix="turn the label to the grid of its image, or correct its header",
            )
        if fault is not None:
            faults.append(fault.at(rater=rater, file=Path(files[0]) if files else None))
    return faults


def _same_place(one: Geometry, other: Geometry) -> bool:
    """Whether two grids agree; a format that says nothing about the world agrees with all."""
    return one.is_close(other) or is_default(one) or is_default(other)


def _place(geometry: Geometry) -> str:
    spacing = ", ".join(f"{each:.4g}" for each in geometry.spacing)
    origin = ", ".join(f"{each:.5g}" for each in geometry.origin)
    return f"spacing ({spacing}) mm, origin ({origin}) mm, direction {geometry.direction}"
