"""What there is to decide: disputed cases in order, what was fused of them and how sure that is."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.dataset_disagreement import disagreements
from multirater.errors import Fault, InputError
from multirater.fuse.choice import choose_method
from multirater.fuse.methods import ALWAYS_POOLED
from multirater.fusion.case import CaseJob, fuse_labels
from multirater.fusion.class_dataset import by_method
from multirater.fusion.mask_dataset import job_for
from multirater.io.survey import Survey, survey
from multirater.report.layers import Layer, rater_layer
from multirater.report.pictures import as_shades
from multirater.report.planes import Plane, planes_of
from multirater.types import Case, Dataset, Geometry, Labels

FUSED = Layer("fusion", "fused", "#ffffff", (4, 3), shown=True)
_MOST_OPEN = 4
"""Cases kept as they were read."""


@dataclass(frozen=True, eq=False)
class OpenCase:
    """A case as it was read, with what was fused.

    Attributes:
        case: the case.
        present: positions of the raters who labelled it.
        labels: of those raters, (n_present, *space).
        fused: the fused label, (*space).
        uncertainty: entropy of the fused label's classes, 0 to 1, (*space).
        probability: of the classes, of a class label; empty for drawings.
        shades: pictures of the image, one per channel; none without an image.
        planes: ways through it; one for an image.
    """

    case: Case
    present: tuple[int, ...]
    labels: Labels
    fused: NDArray[np.int16]
    uncertainty: NDArray[np.float32]
    probability: tuple[float, ...] = ()
    shades: tuple[NDArray[np.uint8], ...] = ()
    planes: tuple[Plane, ...] = ()

    @property
    def is_volume(self) -> bool:
        """Whether it has slices."""
        return self.labels.array.ndim == 4

    def turned(self, array: NDArray[Any], view: int) -> NDArray[Any]:
        """Return what a view shows of (*space): (slices, rows, columns); writing writes through."""
        return self.planes[view].turned(array) if self.is_volume else array[None]


@dataclass(eq=False)
class DisputedStudy:
    """A study whose disputed cases are to be decided.

    Attributes:
        found: the study, surveyed.
        order: positions of its disputed cases, most disputed first.
        disagreement: of those cases, 0 to 1.
        method: that fused the labels.
        why: it was chosen.
    """

    found: Survey
    order: list[int]
    disagreement: list[float]
    method: str
    why: str
    _job: CaseJob | None = None
    _classes: dict[str, NDArray[Any]] = field(default_factory=dict)
    _open: OrderedDict[int, OpenCase] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def dataset(self) -> Dataset:
        """The study."""
        return self.found.dataset

    @property
    def is_masks(self) -> bool:
        """Whether labels are drawings."""
        return self.dataset.kind == "masks"

    def case(self, place: int) -> Case:
        """Return a disputed case by its place in the order."""
        return self.dataset.cases[self.order[place]]

    def layers(self) -> list[Layer]:
        """Return whose outlines there are: the raters', and the fused label's."""
        return [*(rater_layer(i, name) for i, name in enumerate(self.dataset.raters)), FUSED]

    def open(self, place: int) -> OpenCase:
        """Read and fuse a case; the last ones are kept."""
        with self._lock:  # one at a time: each may take the memory of a volume
            if place not in self._open:
                self._open[place] = self._read(self.case(place))
                while len(self._open) > _MOST_OPEN:
                    self._open.popitem(last=False)
            self._open.move_to_end(place)
            return self._open[place]

    def _read(self, case: Case) -> OpenCase:
        raters = self.dataset.raters
        labels = case.read_labels(raters)
        present = tuple(i for i, name in enumerate(raters) if name in case.labels)
        own = Labels(
            labels.array[list(present)], tuple(raters[i] for i in present), labels.geometry
        )
        image = case.read_image()
        shades = () if image is None or not image.space else tuple(as_shades(image.array))
        if self._job is None:
            chances = self._classes[case.name]
            fused = np.array(chances.argmax(), dtype=np.int16)
            apart = np.array(entropy_of(chances), dtype=np.float32)
            said = tuple(float(each) for each in chances)
            return OpenCase(case, present, own, fused, apart, said, shades)
        done = fuse_labels(case, labels, self._job)
        uncertainty = entropy_of(done.probability)
        planes = _planes(labels.geometry, labels.array.ndim - 1)
        return OpenCase(case, present, own, done.label, uncertainty, (), shades, planes)


def entropy_of(probability: NDArray[Any]) -> NDArray[np.float32]:
    """Return how unsure class probabilities (n_classes, *space) are, 0 to 1.

    Example:
        >>> entropy_of(np.array([[1.0, 0.5], [0.0, 0.5]])).tolist()
        [0.0, 1.0]
    """
    known = np.maximum(np.nan_to_num(probability), 1e-12)
    entropy = -(known * np.log(known)).sum(0) / np.log(max(len(probability), 2))
    return np.asarray(np.clip(entropy, 0, 1).round(6), dtype=np.float32)


def disputed_study(dataset: Dataset, *, workers: int = 1) -> DisputedStudy:
    """Survey a study and put its disputed cases in order.

    Args:
        dataset: with labels of at least two raters.
        workers: number of processes that read.

    Raises:
        InputError: with every fault of the data set, or because nothing is disputed.
    """
    found = survey(dataset, workers=workers, keep=True)
    apart = np.nan_to_num(disagreements(found), nan=0.0)
    order = [int(i) for i in np.argsort(-apart, kind="stable") if apart[i] > 0]
    if not order:
        raise InputError(
            Fault(
                "no case is disputed",
                expected="cases that at least two raters labelled, and differently",
                file=str(dataset.folder or ""),
            )
        )
    choice = choose_method(found.dataset)
    study = DisputedStudy(found, order, [float(apart[i]) for i in order], choice.method, choice.why)
    if study.is_masks:
        settings = {
            "method": choice.method,
            "options": choice.options,
            "pooled": choice.method in ALWAYS_POOLED,
            "probability": False,
        }
        study._job, _ = job_for(found, Path(), settings)
        return study
    pairs = zip(found.dataset, found.cases, strict=True)
    labelled = [(case, part) for case, part in pairs if len(part.counts)]
    answers = np.concatenate([part.rows for _, part in labelled]).T
    cases = [case for case, _ in labelled]
    done = by_method(cases, answers, found, method=choice.method, options=choice.options)
    names = [case.name for case in cases]
    study._classes = dict(zip(names, np.asarray(done.probability).T, strict=True))
    return study


def _planes(geometry: Geometry, ndim: int) -> tuple[Plane, ...]:
    if ndim == 3:
        return tuple(planes_of(geometry))
    aspect = float(geometry.spacing[-2] / geometry.spacing[-1]) if geometry.ndim >= 2 else 1.0
    return (Plane("", (0, 1, 2), (False, False, False), aspect),)
