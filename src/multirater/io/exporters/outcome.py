"""What every exporter takes: a data set with its classes, and how sure each label is.

An exporter of a tool (`io.exporters.<tool>`) has one function, `write_export(outcome, target)`,
which writes a file, or fills a folder that is there and empty.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.formats.images import read_image
from multirater.io.naming import file_names
from multirater.io.results.layout import probability_files
from multirater.io.results.statements import read_case_table
from multirater.io.survey import survey
from multirater.progress import track
from multirater.types import MISSING, Case, Classes, Dataset, LabelMap


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
    def image_names(self) -> dict[str, str]:
        """Name the image of each case, see `image_names`."""
        return image_names(self.dataset)

    @cached_property
    def _file_names(self) -> dict[str, str]:
        return file_names(case.name for case in self.dataset)

    def labels(self) -> Iterator[tuple[Case, str, LabelMap]]:
        """Yield each case with each rater and their label; not where no pixel is labelled."""
        cases = self.dataset
        for case in track(cases, "exporting", len(cases)):
            for rater in self.dataset.raters:
                if rater not in case.labels:
                    continue
                label = case.read_label(rater)
                if label.array.ndim and not (label.array != MISSING).any():
                    self.notes.append(f"left out: {rater} labelled no pixel of {case.name}")
                    continue
                yield case, rater, label

    def probability(self, case: Case) -> NDArray[Any] | None:
        """Return the class probabilities (n_classes, *space) that a fusion wrote beside labels."""
        file = self._soft_files.get(self._file_names[case.name])
        return None if file is None else read_image(file).array

    @cached_property
    def _soft_files(self) -> dict[str, Path]:
        folder = self.dataset.folder
        return {} if folder is None or not self.is_one_rater else probability_files(folder)

    @cached_property
    def _class_probability(self) -> dict[str, float]:
        """The probability of the class settled on, by case, from a fusion's `cases.csv`."""
        folder = self.dataset.folder
        table = None if folder is None else read_case_table(folder)
        if table is None or not set(self.classes.names) <= set(table.columns):
            return {}
        highest = table[list(self.classes.names)].astype(float).max(axis=1)
        return {str(case): float(share) for case, share in highest.items()}

    def choices(self) -> Iterator[tuple[Case, str, str, float]]:
        """Yield each case with each rater, the class they chose, and how sure that is (0 to 1)."""
        for case, rater, label in self.labels():
            if label.array != MISSING:
                sure = self._class_probability.get(case.name, 1.0) if self.is_one_rater else 1.0
                yield case, rater, self.classes.names[int(label.array)], round(sure, 4)

    def require_kind(self, kind: str, tool: str) -> None:
        """Refuse class labels where a tool's file holds masks, and the other way round."""
        if self.dataset.kind != kind:
            raise InputError(
                Fault(f"{tool} files hold {kind}", expected=f"a data set of {kind}, not these")
            )

    def require_one_rater(self, tool: str) -> None:
        """Refuse several raters where a tool's file is one rater's."""
        if not self.is_one_rater:
            raise InputError(
                Fault(
                    f"{len(self.dataset.raters)} raters, of whom {tool} files hold one",
                    expected="a fusion, or one rater",
                    fix=f"choose one by --raters, such as --raters {self.dataset.raters[0]}",
                )
            )

    def without_gaps(self, label: LabelMap) -> NDArray[np.int16]:
        """Return the label with background where a rater did not label, and note that."""
        note = "pixels that are not labelled are written as background: the format has no word"
        if (label.array == MISSING).any() and note not in self.notes:
            self.notes.append(note)
        return np.asarray(np.where(label.array == MISSING, 0, label.array))


def image_names(cases: Iterable[Case]) -> dict[str, str]:
    """Return the file name of each case's image, or one made of the case's name.

    Where two images in different folders have one name, folders come before it, from the one that
    holds them all.
    """
    paths = {case.name: path.absolute() for case in cases if (path := _image_of(case))}
    names = {case: path.name for case, path in paths.items()}
    if len(set(names.values())) < len(set(paths.values())):
        root = os.path.commonpath([path.parent for path in paths.values()])
        names = {case: path.relative_to(root).as_posix() for case, path in paths.items()}
    return {case.name: names.get(case.name, f"{case.name}.png") for case in cases}


def _image_of(case: Case) -> Path | None:
    return case.image.paths[0] if case.image is not None and case.image.paths else None


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
