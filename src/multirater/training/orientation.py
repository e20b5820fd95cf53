"""Volumes that are stored along different directions, brought to one.

A scanner stores slices from the feet up, a viewer writes them from the head down, a sagittal series
begins at an ear: what an array's axes mean stands in the header. A network sees arrays. So all
volumes of a study are turned to the directions that most of them have, by exchanging and reversing
axes, without a new pixel; what is predicted is turned back.

Directions are letters, one per array axis, of where it goes: to the patient's left or right (L, R),
back or front (P, A), head or feet (S, I). Pictures, and volumes of files that know no directions,
have none and stay as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from multirater.errors import InputError
from multirater.io.formats.grid import is_default
from multirater.io.formats.images import image_shape
from multirater.progress import say
from multirater.training.setting_check import DIRECTIONS
from multirater.types import Case, Dataset, Geometry, Image, LabelMap, Source
from multirater.words import counted

T = TypeVar("T", Image, LabelMap)


def orientation_of(geometry: Geometry) -> str:
    """Return where the array axes of a volume go, such as `SPL`; nothing where nobody knows.

    Oblique axes go where they go most.

    Example:
        >>> sagittal = ((-1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0))
        >>> orientation_of(Geometry((3.0, 1.0, 1.0), (0.0, 0.0, 0.0), sagittal))
        'RIP'
    """
    if geometry.ndim != 3 or is_default(geometry):
        return ""
    direction = np.asarray(geometry.direction)
    world, axes = linear_sum_assignment(-np.abs(direction))
    letters = {a: DIRECTIONS[w][int(direction[w, a] < 0)] for w, a in zip(world, axes, strict=True)}
    return "".join(letters[axis] for axis in range(3))


def usual_orientation(dataset: Dataset) -> str:
    """Return the orientation that most volumes of a study have; the first of equally many."""
    found: Counter[str] = Counter()
    for case in dataset:
        try:
            geometry = _geometry(case)
        except InputError:
            continue  # which is told with all other faults of the study
        if geometry.ndim != 3:
            return ""
        if case.labels or case.drawings:
            found[orientation_of(geometry)] += 1
    del found[""]
    if not found:
        return ""
    ((usual, n_usual),) = found.most_common(1)
    n_others = found.total() - n_usual
    if n_others:
        say(
            f"{counted(n_others, 'volume')} of {found.total()} stored along other directions: "
            f"turned to those of the others ({usual}), and predictions back"
        )
    return usual


def _geometry(case: Case) -> Geometry:
    """Return where the image of a case lies, by its header where it has one."""
    if case.image is None:
        return Geometry.default(3)
    paths = case.image.paths
    return image_shape(paths)[1] if paths else case.image.read().geometry


@dataclass(frozen=True)
class Turn:
    """Axes exchanged, then reversed.

    Attributes:
        axes: of the array that become the first, the second, ...
        reverses: whether each of them, at its new place, is reversed.
    """

    axes: tuple[int, ...]
    reverses: tuple[bool, ...]

    @property
    def is_nothing(self) -> bool:
        """Whether everything stays where it is."""
        return self.axes == tuple(range(len(self.axes))) and not any(self.reverses)

    @property
    def back(self) -> Turn:
        """The turn that undoes it."""
        axes = tuple(int(axis) for axis in np.argsort(self.axes))
        return Turn(axes, tuple(self.reverses[axis] for axis in axes))

    def of(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return an array (..., *space) turned, without copying it."""
        if self.is_nothing:
            return array
        before = array.ndim - len(self.axes)
        moved = array.transpose(*range(before), *(before + axis for axis in self.axes))
        n_axes = len(self.axes)
        last = tuple(axis - n_axes for axis, reverse in enumerate(self.reverses) if reverse)
        return np.flip(moved, last)

    def of_geometry(self, geometry: Geometry, space: Sequence[int]) -> Geometry:
        """Return where the turned array lies, which had this size before."""
        direction = np.asarray(geometry.direction)[:, self.axes]
        spacing = np.asarray(geometry.spacing)[list(self.axes)]
        sizes = np.asarray(space)[list(self.axes)]
        origin = np.asarray(geometry.origin, dtype=float)
        for place, reverse in enumerate(self.reverses):
            if reverse:
                origin = origin + direction[:, place] * spacing[place] * (sizes[place] - 1)
        signs = np.where(self.reverses, -1.0, 1.0)
        rows = tuple(tuple(row) for row in (direction * signs + 0.0).tolist())
        return Geometry(tuple(spacing.tolist()), tuple(origin.tolist()), rows)


def turn_to(wanted: str, geometry: Geometry) -> Turn:
    """Return how a volume is brought to an orientation.

    Example:
        >>> feet_first = Geometry((2.0, 1.0, 1.0), (0.0,) * 3, ((0, 0, 1), (0, 1, 0), (-1, 0, 0)))
        >>> turn_to("SPL", feet_first)
        Turn(axes=(0, 1, 2), reverses=(True, False, False))
    """
    own = orientation_of(geometry)
    if not wanted or not own:
        return Turn(tuple(range(geometry.ndim)), (False,) * geometry.ndim)
    world = [_world_axis(letter) for letter in own]
    axes = tuple(world.index(_world_axis(letter)) for letter in wanted)
    reverses = tuple(own[axis] != letter for axis, letter in zip(axes, wanted, strict=True))
    return Turn(axes, reverses)


def _world_axis(letter: str) -> int:
    return next(axis for axis, pair in enumerate(DIRECTIONS) if letter in pair)


def turned(dataset: Dataset, wanted: str) -> Dataset:
    """Return a data set whose volumes are read in one orientation; the same without one."""
    if not wanted:
        return dataset
    return replace(dataset, cases=tuple(turned_case(case, wanted) for case in dataset))


def turned_case(case: Case, wanted: str) -> Case:
    """Return a case whose image, labels, truth and drawings are read in one orientation."""
    if not wanted:
        return case
    turned_of = _Turner(case, wanted).source
    return replace(
        case,
        image=None if case.image is None else turned_of(case.image),
        labels={rater: turned_of(each) for rater, each in case.labels.items()},
        truth=None if case.truth is None else turned_of(case.truth),
        gold=None if case.gold is None else turned_of(case.gold),
        drawings=tuple(replace(each, source=turned_of(each.source)) for each in case.drawings),
    )


@dataclass(frozen=True, eq=False)
class _Turner:
    """Turns all of a case alike, by the header of its image: labels may come without one."""

    case: Case
    wanted: str

    @cached_property
    def turn(self) -> Turn:
        return turn_to(self.wanted, _geometry(self.case))

    def source(self, given: Source[T]) -> Source[T]:
        return replace(given, read=partial(self.read, given))

    def read(self, given: Source[T]) -> T:
        value = given.read()
        return turned_value(value, self.turn) if value.geometry.ndim == 3 else value


def turned_value(value: T, turn: Turn) -> T:
    """Return an image or a label turned; the same where nothing is."""
    if turn.is_nothing:
        return value
    space = value.array.shape[-len(turn.axes) :]
    geometry = turn.of_geometry(value.geometry, space)
    return replace(value, array=turn.of(value.array), geometry=geometry)
