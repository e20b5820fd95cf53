"""The plain data that flows through the package.

Axes come in the order case, rater, class, space. A label of -1 means *not labelled*: missing is
never background. Confusion matrices are `cm[rater, true, observed]`, rows sum to one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError

MISSING = -1
"""The label of a pixel or case that a rater did not label."""

T = TypeVar("T")

DrawingKind: TypeAlias = Literal["positive", "negative"]
"""What a coarse drawing says of its pixels: this is class k, or this is *not* class k."""

ANSWER_COLUMNS = {
    "case": ("case", "task", "question", "item"),
    "rater": ("rater", "worker", "annotator"),
    "label": ("label", "answer"),
}
"""The names under which the columns of a long table of labels are known, ours first."""


MOST_CLASSES = 2048
"""A table of classes by classes stays small up to here; beyond, labels are hardly classes."""


@dataclass(frozen=True)
class Geometry:
    """Where a voxel grid lies in the world.

    Attributes:
        spacing: distance between voxels in millimetres, one value per *array* axis.
        origin: world position (x, y[, z], in LPS millimetres) of the centre of voxel (0, 0[, 0]).
        direction: `direction[w][a]` is world component w of the unit vector along array axis a.

    Example:
        >>> Geometry.default(2)
        Geometry(spacing=(1.0, 1.0), origin=(0.0, 0.0), direction=((0.0, 1.0), (1.0, 0.0)))
    """

    spacing: tuple[float, ...]
    origin: tuple[float, ...]
    direction: tuple[tuple[float, ...], ...]

    @staticmethod
    @cache
    def default(ndim: int) -> Geometry:
        """Unit spacing at the origin; the last array axis is x, as in every raster format."""
        flipped = np.eye(ndim)[::-1]
        return Geometry((1.0,) * ndim, (0.0,) * ndim, tuple(tuple(row) for row in flipped.tolist()))

    @property
    def ndim(self) -> int:
        """Number of spatial axes."""
        return len(self.spacing)

    def is_close(self, other: Geometry, tolerance: float = 1e-3) -> bool:
        """Whether both grids put their voxels at the same places, to a fraction of a voxel."""
        if self is other:
            return True
        if self.ndim != other.ndim:
            return False
        mine, theirs = np.asarray(self.spacing), np.asarray(other.spacing)
        shift = np.asarray(self.origin) - np.asarray(other.origin)
        turn = np.asarray(self.direction) - np.asarray(other.direction)
        return bool(
            np.all(np.abs(mine - theirs) <= tolerance * mine)
            and np.linalg.norm(shift) <= tolerance * mine.min(initial=np.inf) * 10
            and np.all(np.abs(turn) <= tolerance)
        )

    def goes_along(self, other: Geometry) -> bool:
        """Whether axes go the same ways, as far as both grids know of ways."""
        if self.direction == other.direction or self.ndim != other.ndim:
            return True
        if Geometry.default(self.ndim) in (self, other):
            return True
        return bool(np.allclose(self.direction, other.direction, atol=0.1))


@dataclass(frozen=True, eq=False)
class Image:
    """An image: `array` is (channels, *space)."""

    array: NDArray[Any]
    geometry: Geometry

    @property
    def space(self) -> tuple[int, ...]:
        """Shape without the channel axis."""
        return tuple(self.array.shape[1:])


@dataclass(frozen=True, eq=False)
class LabelMap:
    """One drawing, or one class label: class indices (*space), -1 where not labelled.

    `rule` says in words how the file's values became class indices.
    """

    array: NDArray[np.int16]
    geometry: Geometry
    rule: str = "class indices"


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels several raters gave one case: `array` is (n_raters, *space)."""

    array: NDArray[np.int16]
    raters: tuple[str, ...]
    geometry: Geometry


@dataclass(frozen=True, repr=False, slots=True)
class Source(Generic[T]):
    """A value that is read when asked for.

    Attributes:
        read: reads it.
        files: behind it, if any; text takes a fifth of the memory of a path.
        stray: how values in them that stand for no class are read; empty when they are refused.
    """

    read: Callable[[], T]
    files: tuple[str | Path, ...] = ()
    stray: str = ""

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files behind it."""
        return tuple(map(Path, self.files))

    def __repr__(self) -> str:
        return f"Source({', '.join(map(str, self.paths)) or 'in memory'})"


@dataclass(frozen=True)
class Drawing:
    """A coarse drawing: k where something was drawn for class k, -1 everywhere else.

    Kept apart from labels, because it is none: a negative drawing holds what a pixel is *not*, and
    neither kind says anything of the pixels it leaves out.

    Attributes:
        rater: who drew.
        kind: `positive` ("this is class k") or `negative` ("this is not class k").
        source: the drawing.
        simulated: for simulated drawings, what was drawn at random to make them, as JSON.
    """

    rater: str
    kind: DrawingKind
    source: Source[LabelMap]
    simulated: str = ""


@dataclass(frozen=True)
class LabelClass:
    """A class.

    Attributes:
        name: distinct.
        colour: `#rrggbb`, or nothing.
        value: what stands for it in label files, when that is not its index; files are written so.
        other_values: what is read as this class, too.
        truth_values: what stands for it in files of the truth, when that is something else.
    """

    name: str
    colour: str = ""
    value: int | None = None
    other_values: tuple[int, ...] = ()
    truth_values: tuple[int, ...] = ()

    def without_values(self) -> LabelClass:
        """Return the class as it is in files that hold class indices."""
        return LabelClass(self.name, self.colour)

    def in_truth(self) -> LabelClass:
        """Return the class with the values that stand for it in files of the truth."""
        if not self.truth_values:
            return self
        first, *others = self.truth_values
        return LabelClass(self.name, self.colour, first, tuple(others))


@dataclass(frozen=True)
class Classes:
    """The classes of a data set in the order of their indices.

    Attributes:
        items: one entry per class; its position is the class index.
        unlabelled: the value that means *not labelled* in files that cannot hold -1.
        other_unlabelled: what is read as *not labelled*, too.
        truth_unlabelled: what means so in files of the truth, when that is something else.
    """

    items: tuple[LabelClass, ...]
    unlabelled: int | None = None
    other_unlabelled: tuple[int, ...] = ()
    truth_unlabelled: tuple[int, ...] = ()

    @staticmethod
    def numbered(n_classes: int) -> Classes:
        """Classes that nobody named: background, then class 1, class 2, ..."""
        names = ["background", *(f"class {i}" for i in range(1, n_classes))]
        return Classes(tuple(LabelClass(name) for name in names[:n_classes]))

    @property
    def names(self) -> tuple[str, ...]:
        """Class names by index."""
        return tuple(item.name for item in self.items)

    def are_indexed_as(self, others: Classes) -> bool:
        """Whether an index means the same here and there, as far as both go.

        Classes that nobody named (`numbered`) go by their indices.

        Example:
            >>> named = Classes((LabelClass("background"), LabelClass("disc"), LabelClass("cup")))
            >>> swapped = Classes((LabelClass("background"), LabelClass("cup")))
            >>> named.are_indexed_as(swapped), named.are_indexed_as(Classes.numbered(2))
            (False, True)
        """
        if any(each.names == Classes.numbered(len(each)).names for each in (self, others)):
            return True
        return all(one == other for one, other in zip(self.names, others.names, strict=False))

    @property
    def have_values(self) -> bool:
        """Whether a class is said to have another value in files than its index."""
        return any(item.value is not None for item in self.items)

    def by_value(self) -> dict[int, int]:
        """Map what stands in label files to class indices; -1 is *not labelled*.

        Example:
            >>> Classes((LabelClass("air"), LabelClass("bone", value=255, other_values=(1,)))
            ...         ).by_value()
            {-1: -1, 0: 0, 255: 1, 1: 1}
        """
        unlabelled = () if self.unlabelled is None else (self.unlabelled, *self.other_unlabelled)
        found = dict.fromkeys((MISSING, *unlabelled), MISSING)
        for index, item in enumerate(self.items):
            own = index if item.value is None else item.value
            found |= dict.fromkeys((own, *item.other_values), index)
        return found

    def in_truth(self) -> Classes:
        """Return the classes with the values that stand for them in files of the truth."""
        items = tuple(item.in_truth() for item in self.items)
        if not self.truth_unlabelled:
            return replace(self, items=items)
        first, *others = self.truth_unlabelled
        return Classes(items, first, tuple(others))

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True)
class Case:
    """One image with the labels it got. Nothing is read before a `read_*` method is called.

    Attributes:
        name: distinct within the data set.
        image: (channels, *space).
        labels: by rater; only raters who labelled the case.
        truth: when it is known.
        split: `train`, `test`, ..., or nothing.
        simulated: for simulated raters, what was drawn to make their label, as JSON.
        drawings: coarse drawings; never among `labels`.
        patient: whose image it is, or nothing; cases of one patient resemble each other.
        when: by rater, when the label was made, as ISO 8601; only where the table says so.
        gold: what an expert decided, -1 where they left it open; see `io.gold`.
        diagnosis: of the whole case, by name, or nothing.
    """

    name: str
    image: Source[Image] | None = None
    labels: Mapping[str, Source[LabelMap]] = field(default_factory=dict)
    truth: Source[LabelMap] | None = None
    split: str = ""
    simulated: Mapping[str, str] = field(default_factory=dict)
    drawings: tuple[Drawing, ...] = ()
    patient: str = ""
    gold: Source[LabelMap] | None = None
    when: Mapping[str, str] = field(default_factory=dict)
    diagnosis: str = ""

    def read_image(self) -> Image | None:
        """Read the image, (channels, *space); None when the case has none."""
        return None if self.image is None else _read(self.image, self.name, None)

    def read_truth(self) -> LabelMap | None:
        """Read the true label, (*space); None when nobody knows it."""
        return None if self.truth is None else _read(self.truth, self.name, "(truth)")

    def read_gold(self) -> LabelMap | None:
        """Read what an expert decided, (*space); None when nobody did."""
        return None if self.gold is None else _read(self.gold, self.name, "(gold)")

    def read_label(self, rater: str) -> LabelMap:
        """Read what one rater drew."""
        if rater not in self.labels:
            raise InputError(
                Fault(
                    "rater did not label this case",
                    expected=", ".join(self.labels) or "a case with labels",
                    case=self.name,
                    rater=rater,
                )
            )
        return _read(self.labels[rater], self.name, rater)

    def read_labels(self, raters: Sequence[str] | None = None) -> Labels:
        """Read the labels as (n_raters, *space), -1 for a rater who did not label the case.

        Args:
            raters: the raters wanted, in order; those who labelled the case when not given.
        """
        wanted = tuple(self.labels) if raters is None else tuple(raters)
        read = {rater: self.read_label(rater) for rater in wanted if rater in self.labels}
        if not read:
            raise InputError(
                Fault("has no label of these raters", fix="skip the case", case=self.name)
            )
        first_rater, first = next(iter(read.items()))
        array = np.full((len(wanted), *first.array.shape), MISSING, dtype=np.int16)
        for position, rater in enumerate(wanted):
            if rater in read:
                _require_same_space(read[rater], first, self.name, rater, first_rater)
                array[position] = read[rater].array
        return Labels(array, wanted, first.geometry)

    def read_drawing(self, drawing: Drawing) -> LabelMap:
        """Read one of the case's coarse drawings, (*space), -1 where nothing was drawn."""
        return _read(drawing.source, self.name, drawing.rater)


def _read(source: Source[T], case: str, rater: str | None) -> T:
    try:
        return source.read()
    except InputError as error:
        file = source.paths[0] if source.paths else None
        raise error.at(case=case, rater=rater, file=file) from None


def _require_same_space(
    label: LabelMap, first: LabelMap, case: str, rater: str, first_rater: str
) -> None:
    if label.array.shape == first.array.shape:
        _require_same_directions(label.geometry, first.geometry, case, rater, first_rater)
        return
    found, expected = (" x ".join(map(str, each.array.shape)) for each in (label, first))
    raise InputError(
        Fault(
            f"label has size {found}",
            expected=f"{expected}, the size of rater {first_rater}'s label",
            fix="give every label of a case the size of its image",
            case=case,
            rater=rater,
        )
    )


def _require_same_directions(
    place: Geometry, first: Geometry, case: str, rater: str, first_rater: str
) -> None:
    """Refuse labels stored along other directions, which would be compared voxel by voxel."""
    if place.goes_along(first):
        return
    raise InputError(
        Fault(
            f"label lies along other directions: {place.direction}",
            expected=f"{first.direction}, as rater {first_rater}'s label",
            fix="turn the label to the grid of its image, or correct its header",
            case=case,
            rater=rater,
        )
    )


@dataclass(frozen=True, repr=False)
class Dataset:
    """Cases with the labels of several raters.

    Attributes:
        cases: in the order of the table.
        raters: every rater's name, in the order of `cm` and of label arrays.
        kind: `masks` when labels are drawings, `classes` when each label is one class name.
        classes: names by index; None until they are declared or counted (see `io.survey`).
        folder: where it was read from, if anywhere.
        features: names of the features, where a table with names holds them instead of images.
        rater_info: what the study's `raters.csv` says: by rater, then by column (`group`, ...).
        gold_from: where its gold labels were read, if anywhere.
    """

    cases: tuple[Case, ...]
    raters: tuple[str, ...]
    kind: Literal["masks", "classes"] = "masks"
    classes: Classes | None = None
    folder: Path | None = None
    features: tuple[str, ...] = ()
    rater_info: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    gold_from: Path | None = None

    def __repr__(self) -> str:
        names = ", ".join(self.raters[:8]) + (", ..." if len(self.raters) > 8 else "")
        cases = f"{len(self)} case{'' if len(self) == 1 else 's'}"
        return f"Dataset({cases}, {self.kind}, raters: {names or 'none'})"

    def __len__(self) -> int:
        return len(self.cases)

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)

    def __getitem__(self, key: int | str) -> Case:
        if not isinstance(key, str):
            return self.cases[key]
        found = next((case for case in self.cases if case.name == key), None)
        if found is None:
            raise InputError(Fault(f"no case {key!r} among {len(self)}", fix="check the name"))
        return found

    def split(self, name: str) -> Dataset:
        """Return the cases of one split (`train`, `test`, ...) as a data set of its own."""
        return replace(self, cases=tuple(case for case in self.cases if case.split == name))
