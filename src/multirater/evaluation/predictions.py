"""A folder of predictions, as `multirater predict` and `multirater fuse` write it.

It is a data set whose only rater is the network or the fusion. Beside the labels there may be what
each rater is predicted to draw (`raters/<rater>/<case>`), confusion matrix maps
(`confusion/<rater>/<case>`), class probabilities (`probability/<case>`, and after each recurrence
`recurrences/<number>/<case>`) and one confusion matrix per rater (`raters.csv`). Classes are
brought into the order of the reference, by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io import read_dataset, read_image, read_label
from multirater.io.formats.images import image_shape
from multirater.io.results.layout import (
    confusion_files,
    drawn_files,
    drawn_folder,
    probability_files,
    recurrence_files,
    without_suffix,
)
from multirater.io.results.statements import read_case_table, read_rater_table
from multirater.metrics.rater_columns import matrix_columns
from multirater.types import MISSING, Case, Classes, Dataset, LabelMap, Source

DatasetLike: TypeAlias = Dataset | str | Path
"""A data set, or where to read it."""


@dataclass(frozen=True, eq=False)
class PredictedCase:
    """What is predicted for one case.

    Attributes:
        name: of the case.
        label: the predicted truth.
        raters: what each rater is predicted to draw.
        confusion: file of each rater's confusion matrix maps.
        order: position, among the classes of the predictions, of each class of the reference.
        probability: of each class of the reference, for a case with one class; None when it is not
            known.
        soft: file of class probabilities per pixel, if there is one.
        recurrences: the same after each recurrence, of methods that have them.
    """

    name: str
    label: Source[LabelMap]
    raters: Mapping[str, Source[LabelMap]]
    confusion: Mapping[str, Path]
    order: tuple[int, ...]
    probability: NDArray[np.float64] | None = None
    soft: Path | None = None
    recurrences: tuple[Path, ...] = ()

    def read_probability(self, file: Path, space: tuple[int, ...]) -> NDArray[np.float32]:
        """Read class probabilities (n_classes, *space), classes in the reference's order."""
        array = read_image(file, ndim=len(space)).array
        if array.shape != (len(self.order), *space):
            raise InputError(
                Fault(
                    f"probabilities of shape {array.shape}",
                    expected=f"(n_classes, *space) = {(len(self.order), *space)}",
                    fix="fuse or predict again",
                    file=str(file),
                    case=self.name,
                )
            )
        return np.asarray(array[list(self.order)], dtype=np.float32)

    def read_confusion(self, rater: str, space: tuple[int, ...]) -> NDArray[np.float32]:
        """Read a rater's maps as (true, observed, *space)."""
        n_classes, file = len(self.order), self.confusion[rater]
        maps = read_image(file, ndim=len(space)).array
        if maps.shape != (n_classes**2, *space):
            raise InputError(
                Fault(
                    f"confusion matrix maps of shape {maps.shape}",
                    expected=f"(true * {n_classes} + observed, *space) = {(n_classes**2, *space)}",
                    fix="predict again",
                    file=str(file),
                )
            )
        cm = maps.reshape(n_classes, n_classes, *space)
        in_order = list(self.order) == sorted(self.order)
        return np.asarray(cm if in_order else cm[np.ix_(self.order, self.order)], dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions for the cases of a data set.

    Attributes:
        cases: by name, those with a predicted label.
        cm: one matrix [true, observed] per rater, from `raters.csv`; empty without one.
    """

    cases: Mapping[str, PredictedCase]
    cm: Mapping[str, NDArray[np.float64]]


def open_dataset(data: DatasetLike) -> Dataset:
    """Read a data set's table, unless it is one already."""
    return data if isinstance(data, Dataset) else read_dataset(data)


def open_predictions(
    predictions: Dataset,
    rater_predictions: Dataset | None,
    classes: Classes,
    raters: Sequence[str],
) -> Predictions:
    """Find everything that was predicted, without reading images.

    Args:
        predictions: data set with one rater.
        rater_predictions: data set with what each rater is predicted to draw; the folder
            `raters/` beside the predictions when not given.
        classes: of the reference; labels and matrices come in their order.
        raters: names of the reference's raters, to know their folders by.
    """
    rater = _only_rater(predictions)
    place = _class_positions(predictions.classes, classes)
    drawn = _drawn(predictions, rater, raters, rater_predictions, classes)
    folder = predictions.folder
    maps = {} if folder is None else confusion_files(folder, raters)
    soft = {} if folder is None else probability_files(folder)
    recurrences = [] if folder is None else recurrence_files(folder)
    probability = (
        {}
        if folder is None or predictions.kind != "classes"
        else _case_probabilities(folder, classes.names)
    )
    cases = {
        case.name: PredictedCase(
            case.name,
            _in_order(case.labels[rater], place),
            drawn.get(case.name, {}),
            {
                who: found[stem]
                for who, found in maps.items()
                if (stem := _stem(case, rater)) in found
            },
            tuple(np.argsort(place[:-1]).tolist()),
            probability.get(case.name),
            soft.get(_stem(case, rater)),
            tuple(files[stem] for files in recurrences if (stem := _stem(case, rater)) in files),
        )
        for case in predictions
        if rater in case.labels
    }
    cm = {} if folder is None else _rater_matrices(folder, classes.names)
    return Predictions(cases, cm)


def _only_rater(predictions: Dataset) -> str:
    if len(predictions.raters) == 1:
        return predictions.raters[0]
    raise InputError(
        Fault(
            f"predictions by {len(predictions.raters)} raters",
            expected="one: the network, or the fusion",
            fix="name a folder written by `multirater predict` or `multirater fuse`",
            file=str(predictions.folder or ""),
        )
    )


def _class_positions(predicted: Classes | None, classes: Classes) -> NDArray[np.int16]:
    """Position in `classes` of each predicted class, and -1 at the end for unlabelled pixels."""
    names = classes.names if predicted is None else predicted.names
    if sorted(names) != sorted(classes.names):
        raise InputError(
            Fault(
                f"predicted classes {', '.join(names)}",
                expected=f"{', '.join(classes.names)}, the classes of the reference",
                fix="predict with a network trained on these classes, or correct classes.csv",
            )
        )
    return np.array([*(classes.names.index(name) for name in names), MISSING], dtype=np.int16)


def _in_order(source: Source[LabelMap], place: NDArray[np.int16]) -> Source[LabelMap]:
    """Bring classes into the order of the reference, and refuse those it does not have."""
    return replace(source, read=partial(_read_in_order, source, place))


def _read_in_order(source: Source[LabelMap], place: NDArray[np.int16]) -> LabelMap:
    label = source.read()
    if int(label.array.max(initial=MISSING)) >= len(place) - 1:
        raise InputError(
            Fault(
                f"predicted class {label.array.max()}",
                expected=f"class indices 0 to {len(place) - 2}",
                file=str(source.paths[0]) if source.paths else "",
            )
        )
    in_order = (place[:-1] == np.arange(len(place) - 1)).all()
    return label if in_order else replace(label, array=place[label.array])


def _drawn(
    predictions: Dataset,
    rater: str,
    raters: Sequence[str],
    given: Dataset | None,
    classes: Classes,
) -> dict[str, dict[str, Source[LabelMap]]]:
    """What each rater is predicted to draw, by case and rater."""
    if given is not None:
        place = _class_positions(given.classes, classes)
        return {
            case.name: {who: _in_order(source, place) for who, source in case.labels.items()}
            for case in given
        }
    if predictions.folder is None or _holds_own_labels(predictions):
        return {}
    place = _class_positions(predictions.classes, classes)
    files = drawn_files(predictions.folder, raters)
    return {
        case.name: {
            who: _in_order(_label_source(found[stem], predictions.classes, case), place)
            for who, found in files.items()
            if (stem := _stem(case, rater)) in found
        }
        for case in predictions
    }


def _holds_own_labels(predictions: Dataset) -> bool:
    """Whether these are the raters of a plain data set, rather than predictions of raters."""
    assert predictions.folder is not None
    folder = drawn_folder(predictions.folder)
    sources = (source for case in predictions for source in case.labels.values())
    return any(folder in path.parents for source in sources for path in source.paths)


def _label_source(file: Path, classes: Classes | None, case: Case) -> Source[LabelMap]:
    like = partial(image_shape, case.image.paths[0]) if case.image and case.image.paths else None
    return Source(partial(read_label, file, classes=classes, like=like), (file,))


def _stem(case: Case, rater: str) -> str:
    """The name that all files of a case share."""
    paths = case.labels[rater].paths if rater in case.labels else ()
    return without_suffix(paths[0]) if paths else ""


def _case_probabilities(folder: Path, names: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Return the class probabilities of each case; none without a table that has them."""
    table = read_case_table(folder)
    if table is None or not set(names) <= set(table.columns):
        return {}
    values = table[list(names)].to_numpy(dtype=np.float64)
    return dict(zip(table.index.astype(str), values, strict=True))


def _rater_matrices(folder: Path, names: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Return one matrix per rater; a row nobody could estimate is NaN there and uniform here."""
    table = read_rater_table(folder)
    columns = matrix_columns(names)
    if table is None or not set(columns) <= set(table.columns):
        return {}
    cm = table[columns].to_numpy(dtype=np.float64).reshape(-1, len(names), len(names))
    known = np.where(np.isnan(cm), 1 / len(names), cm)
    return dict(zip(table.index.astype(str), known, strict=True))
