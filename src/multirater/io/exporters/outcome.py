"""What every exporter takes: a data set with its classes, and how sure each label is.

An exporter of a tool (`io.exporters.<tool>`) has one function, `write_export(outcome, target)`,
which writes a file, or fills a folder that is there and empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.formats.images import read_image
from multirater.io.formats.suffixes import READABLE
from multirater.io.naming import file_names
from multirater.io.survey import survey
from multirater.progress import track
from multirater.types import MISSING, Case, Classes, Dataset, LabelMap

_PROBABILITY = "probability"


@dataclass(frozen=True, eq=False)
class Outcome:
    """Labels to send to a tool.

    Attributes:
        dataset: the labels.
        classes: by index.
        notes: what the tool's files cannot say; exporters add to it.
    """

    dataset: Dataset
    classes: Classes
    notes: list[str] = field(default_factory=list)

    @staticmethod
    def of(dataset: Dataset) -> Outcome:
        """Take a data set, counting its classes where nobody declared them."""
        if not dataset.raters:
            raise InputError(Fault("holds no labels", expected="a fusion, or a study"))
        return Outcome(dataset, dataset.classes or survey(dataset).classes)

    @property
    def is_one_rater(self) -> bool:
        """Whether there is one label per case, as in a fusion."""
        return len(self.dataset.raters) == 1

    @cached_property
    def _file_names(self) -> dict[str, str]:
        return file_names(case.name for case in self.dataset)

    def labels(self) -> Iterator[tuple[Case, str, LabelMap]]:
        """Yield each case with each rater and their label."""
        cases = self.dataset
        for case in track(cases, "exporting", len(cases)):
            for rater in self.dataset.raters:
                if rater in case.labels:
                    yield case, rater, case.read_label(rater)

    def probability(self, case: Case) -> NDArray[Any] | None:
        """Return the class probabilities (n_classes, *space) that a fusion wrote beside labels."""
        folder = self.dataset.folder
        if folder is None or not self.is_one_rater or not (folder / _PROBABILITY).is_dir():
            return None
        name = self._file_names[case.name]
        for suffix in sorted(READABLE):
            file = folder / _PROBABILITY / f"{name}{suffix}"
            if file.is_file():
                return read_image(file).array
        return None

    def require_kind(self, kind: str, tool: str) -> None:
        """Refuse class labels where a tool's file holds masks, and the other way round."""
        if self.dataset.kind != kind:
            raise InputError(
                Fault(f"{tool} files hold {kind}", expected=f"a data set of {kind}, not these")
            )

    def without_gaps(self, label: LabelMap) -> NDArray[np.int16]:
        """Return the label with background where nobody labelled, and note that."""
        note = "pixels that nobody labelled are written as background: the format has no word"
        if (label.array == MISSING).any() and note not in self.notes:
            self.notes.append(note)
        return np.asarray(np.where(label.array == MISSING, 0, label.array))


def image_name(case: Case) -> str:
    """Return the file name of a case's image, or one made of the case's name."""
    if case.image is not None and case.image.paths:
        return PurePosixPath(case.image.paths[0].as_posix()).name
    return f"{case.name}.png"


def require_flat(label: LabelMap, case: Case, tool: str) -> None:
    """Refuse volumes in files of flat images."""
    if label.array.ndim != 2:
        raise InputError(
            Fault(
                f"a volume, which {tool} files cannot hold",
                expected="images of two axes",
                fix="export to slicer, itk-snap or nnunet",
                case=case.name,
            )
        )


def confidence(probability: NDArray[Any] | None, index: int, where: NDArray[np.bool_]) -> float:
    """Return the mean probability of a class within a mask; 1 where none is known."""
    if probability is None or index >= len(probability):
        return 1.0
    return round(float(probability[index][where].mean()), 4)
