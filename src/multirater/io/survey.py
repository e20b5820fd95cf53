"""Read everything once: all faults of a data set together, and the patterns of its labels.

Whatever looks at a whole data set (description, agreement, pooled fusion) starts from a survey.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.parallel import map_parallel
from multirater.patterns import encode_patterns
from multirater.types import MISSING, Case, Classes, Dataset, Geometry, Image, LabelMap

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class CaseSurvey:
    """What one case holds.

    Attributes:
        name: of the case.
        faults: everything wrong with it.
        space: size of the labels, or of the image when there are none.
        n_channels: channels of the image, 0 without image.
        geometry: of the labels, or of the image; None when neither could be read.
        rows: (n_patterns, n_raters), labels that occur together, -1 for a missing rater.
        counts: (n_patterns,), pixels that carry each row.
        rules: how label files were understood.
        highest: largest class index in labels and truth, -1 without any.
    """

    name: str
    faults: tuple[Fault, ...]
    space: tuple[int, ...]
    n_channels: int
    geometry: Geometry | None
    rows: NDArray[np.int64]
    counts: NDArray[np.int64]
    rules: tuple[str, ...]
    highest: int


@dataclass(frozen=True, eq=False)
class Survey:
    """A data set that was read once and found in order, with its classes settled."""

    dataset: Dataset
    cases: tuple[CaseSurvey, ...]

    @property
    def classes(self) -> Classes:
        """The classes, declared or counted."""
        assert self.dataset.classes is not None
        return self.dataset.classes


def survey(dataset: Dataset, *, workers: int = 1) -> Survey:
    """Read every file of a data set and check that they fit together.

    Args:
        dataset: as opened by `read_dataset`.
        workers: number of processes.

    Returns:
        The survey, whose `dataset` knows its classes.

    Raises:
        InputError: with the faults of all cases.
    """
    if not dataset.cases:
        raise InputError(Fault("the data set is empty", expected="at least one case"))
    look = partial(survey_case, raters=dataset.raters)
    cases = tuple(map_parallel(look, dataset.cases, label="reading", workers=workers))
    faults = [fault for case in cases for fault in case.faults]
    if faults:
        raise InputError(faults)
    if dataset.classes is None:
        highest = max((case.highest for case in cases), default=MISSING)
        dataset = replace(dataset, classes=Classes.numbered(max(highest + 1, 2)))
    return Survey(dataset, cases)


def survey_case(case: Case, raters: Sequence[str]) -> CaseSurvey:
    """Read one case and list what is wrong with it."""
    faults: list[Fault] = []
    image = _try(case.read_image, faults)
    labels = {rater: _try(partial(case.read_label, rater), faults) for rater in case.labels}
    truth = _try(case.read_truth, faults) if case.truth else None
    drawn: dict[str, LabelMap] = {rater: label for rater, label in labels.items() if label}
    faults += _misfits(case, image, {**drawn, **({"(truth)": truth} if truth else {})})
    space, geometry = _grid(image, [*drawn.values()])
    rows, counts = _patterns(drawn, raters, space) if not faults else _no_patterns(len(raters))
    read = [*drawn.values(), *([truth] if truth else [])]
    return CaseSurvey(
        name=case.name,
        faults=tuple(faults),
        space=space,
        n_channels=0 if image is None else len(image.array),
        geometry=geometry,
        rows=rows,
        counts=counts,
        rules=tuple(sorted({label.rule for label in read})),
        highest=max((int(label.array.max(initial=MISSING)) for label in read), default=MISSING),
    )


def _try(read: Callable[[], T], faults: list[Fault]) -> T | None:
    try:
        return read()
    except InputError as error:
        faults.extend(error.faults)
        return None


def _grid(image: Image | None, labels: list[LabelMap]) -> tuple[tuple[int, ...], Geometry | None]:
    if labels:
        return labels[0].array.shape, labels[0].geometry
    return (image.space, image.geometry) if image is not None else ((), None)


def _misfits(case: Case, image: Image | None, labels: dict[str, LabelMap]) -> list[Fault]:
    """Compare every label with the image, or with the first label when there is no image."""
    if not labels or next(iter(labels.values())).array.ndim == 0:
        return []
    first_rater, first = next(iter(labels.items()))
    space, geometry = (
        (image.space, image.geometry) if image else (first.array.shape, first.geometry)
    )
    whose = "the image" if image else f"the label of rater {first_rater}"
    faults = []
    for rater, label in labels.items():
        source = case.truth if rater == "(truth)" else case.labels[rater]
        file = str(source.paths[0]) if source and source.paths else ""
        if label.array.shape != space:
            faults.append(
                Fault(
                    f"label has size {_size(label.array.shape)}",
                    expected=f"{_size(space)}, the size of {whose}",
                    fix="draw or resample the label on the grid of its image",
                    file=file,
                    case=case.name,
                    rater=rater,
                )
            )
        elif not label.geometry.is_close(geometry) and not _is_bare(label.geometry, geometry):
            faults.append(
                Fault(
                    f"label lies elsewhere: {_place(label.geometry)}",
                    expected=f"{_place(geometry)}, as {whose}",
                    fix="resample the label on the grid of its image, or correct its header",
                    file=file,
                    case=case.name,
                    rater=rater,
                )
            )
    return faults


def _is_bare(one: Geometry, other: Geometry) -> bool:
    """Whether one of the two comes from a format that says nothing about the world."""
    bare = Geometry.default(one.ndim)
    return one == bare or other == bare


def _size(space: Sequence[int]) -> str:
    return " x ".join(map(str, space))


def _place(geometry: Geometry) -> str:
    spacing = ", ".join(f"{each:.4g}" for each in geometry.spacing)
    origin = ", ".join(f"{each:.5g}" for each in geometry.origin)
    return f"spacing ({spacing}) mm, origin ({origin}) mm, direction {geometry.direction}"


def _patterns(
    labels: dict[str, LabelMap], raters: Sequence[str], space: tuple[int, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if not labels:
        return _no_patterns(len(raters))
    absent = np.broadcast_to(np.int16(MISSING), space)
    found = encode_patterns([labels[r].array if r in labels else absent for r in raters])
    return found.rows, found.counts


def _no_patterns(n_raters: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.empty((0, n_raters), dtype=np.int64), np.empty(0, dtype=np.int64)
