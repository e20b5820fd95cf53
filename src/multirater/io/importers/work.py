"""What a labelling tool's export holds, in one form for every tool.

An importer of a tool (`io.importers.<tool>`) has one function, `read_export`, which takes the files
of an export and returns an `Export`: the classes, and a `Task` for every image, in which each rater
has their `Work`. Nothing is decoded before the image is known; `study.import_study` finds the
images, holds sizes against them, paints, collects every fault, and writes the data set.

Missing is never background: a rater without work on a task did not label it. Where a tool's files
leave open whether a rater found nothing or has not looked, the rater is among `Task.blank`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from multirater.errors import Fault
from multirater.io.formats.labels import Grid
from multirater.types import Classes, LabelMap

Paint: TypeAlias = Callable[[Grid], LabelMap]
"""Makes the label of an image of this size and geometry, or raises what is wrong with it."""


@dataclass(frozen=True, eq=False)
class Work:
    """What one rater left on one image.

    Attributes:
        where: the tool's own number of it, such as `annotation 12`.
        paint: makes the label.
        file: with the label, in place of `paint`; its values are those of the export's classes.
        choice: the class named, for class labels.
    """

    where: str
    paint: Paint | None = None
    file: Path | None = None
    choice: str = ""


@dataclass(frozen=True, eq=False)
class Task:
    """One image, as the tool knows it.

    Attributes:
        where: the tool's own number of it, such as `task 12`.
        image: path or file name by which the tool knows the image; empty where there is none.
        aliases: other names it may go by.
        size: (width, height) that the tool says the image has, if it does.
        may_scale: whether another resolution of the same proportions will do.
        work: by rater.
        blank: raters who may have looked and found nothing, or may not have looked.
        files: of the image, where the export itself holds it; several are channels.
        name: of the case; from the image when empty.
        truth: the work that is known to be right.
        split: `train`, `test`, ..., or nothing.
    """

    where: str
    image: str = ""
    aliases: tuple[str, ...] = ()
    size: tuple[float, float] | None = None
    may_scale: bool = False
    work: Mapping[str, Work] = field(default_factory=dict)
    blank: frozenset[str] = frozenset()
    files: tuple[Path, ...] = ()
    name: str = ""
    truth: Work | None = None
    split: str = ""


@dataclass(frozen=True, eq=False)
class Export:
    """Everything that the files of a tool hold.

    Attributes:
        classes: of masks with the background first.
        tasks: in the order of the files; several may be of one image.
        kind: `masks`, or `classes` when each label is one class name.
        notes: what was passed by, in words.
        faults: of single annotations; told with those that are found when images are looked at.
    """

    classes: Classes
    tasks: tuple[Task, ...]
    kind: Literal["masks", "classes"] = "masks"
    notes: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
