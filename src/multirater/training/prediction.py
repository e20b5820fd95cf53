"""Apply a trained network: the truth, and what each rater would have drawn.

OUT/truth/<case>             class indices, in the family of the image's format
OUT/probability/<case>       class probabilities, on request
OUT/entropy/<case>           in nats, with the probabilities
OUT/raters/<rater>/<case>    what the rater would have drawn, on request
OUT/confusion/<rater>/<case> confusion matrix maps (true * n_classes + observed, *space), on request
OUT/recurrences/<i>/<case>   class probabilities after recurrence i, on request
OUT/manifest.csv             OUT is a data set whose only rater is the network
OUT/origin.json              where the data set and the run are

For class labels, where each case has one class, there are tables instead of maps, in the form of a
fusion of class labels: see `multirater.io.results.class_tables`. `raters.csv` is that of the run.

Predictions are class indices. Where label files hold other values, the truth is not named in
OUT/manifest.csv: one classes.csv cannot explain both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.errors import Fault, InputError
from multirater.io.case_files import folders_of
from multirater.io.formats.images import write_image
from multirater.io.formats.labels import write_label
from multirater.io.formats.suffixes import WRITABLE, suffix_of
from multirater.io.naming import file_names
from multirater.io.new_folder import new_folder
from multirater.io.results.class_tables import write_class_tables
from multirater.io.results.layout import (
    NETWORK,
    confusion_cell,
    entropy_cell,
    label_cell,
    probability_cell,
    rater_cell,
    recurrence_cell,
)
from multirater.io.results.origin import write_origin
from multirater.io.results.statements import read_rater_table
from multirater.io.tables.dataset_tables import write_dataset_tables
from multirater.io.tables.manifest import FILE_NAME as MANIFEST_FILE
from multirater.io.tables.manifest import Row, cell_of
from multirater.progress import say, track
from multirater.training.case_prediction import Prediction
from multirater.training.memory import within_what_is_free
from multirater.training.predictor import Predictor
from multirater.training.run_folder import RunData
from multirater.types import Case, Classes, Dataset, Geometry, Image, LabelMap


def predict(
    run: str | Path,
    dataset: Dataset,
    folder: str | Path,
    *,
    probability: bool = False,
    raters: bool = False,
    confusion: bool = False,
    recurrences: bool = False,
    confidences: Mapping[str, float] | None = None,
    tta: bool = False,
    memory: int | None = None,
    trust_code: bool = False,
    overwrite: bool = False,
) -> Path:
    """Predict every case of a data set and write the results into a folder.

    Args:
        run: run folder.
        dataset: images; labels are not needed.
        folder: target.
        probability: also write class probabilities and entropy.
        raters: also write what each rater would have drawn.
        confusion: also write confusion matrix maps.
        recurrences: also write class probabilities after each recurrence, for methods that have
            any.
        confidences: in the raters by name, from 0 to 1, for methods that follow them (prism,
            mrnet); by default the method finds its own.
        tta: average over mirrored copies of every image.
        memory: budget in bytes; that of the run when not given.
        trust_code: whether the run may bring a backbone of its own, which is code that is run.
        overwrite: replace predictions that are there; the old ones stay until the new ones are
            complete.

    Returns:
        The path of the manifest.
    """
    target = Path(folder)
    if recurrences and confidences:
        raise InputError(
            Fault(
                "recurrences and given confidences",
                expected="one of them: given confidences are followed at once",
            )
        )
    predictor = Predictor(
        run, confidences=confidences, tta=tta, memory=memory, trust_code=trust_code
    )
    predictor.data.require_features(dataset.features)
    with (
        within_what_is_free("give a smaller --memory", target),
        new_folder(target, overwrite=overwrite, inputs=folders_of(dataset)) as part,
    ):
        if predictor.data.kind == "classes":
            _predict_classes(predictor, dataset, part, Path(run))
        else:
            writer = _Writer(
                predictor.data,
                part,
                probability,
                raters,
                confusion,
                names_truth=_takes_truth(dataset, predictor.data.as_classes()),
            )
            _predict_masks(predictor, dataset, writer, with_recurrences=recurrences)
        write_origin(part, dataset.folder, run=Path(run))
    return target / MANIFEST_FILE


def _predict_masks(
    predictor: Predictor, dataset: Dataset, writer: _Writer, *, with_recurrences: bool
) -> None:
    """Write one drawing per case, and what else is asked for."""
    names = file_names(case.name for case in dataset)
    wanted = range(len(predictor.data.raters)) if writer.raters or writer.confusion else ()
    found = predictor.of_cases(dataset, lambda _: wanted)
    rows = [
        writer.write(each.case, names[each.case.name], each.geometry, each.prediction)
        for each in track(found, "predicting", len(dataset))
    ]
    if with_recurrences:
        for case in track(dataset, "predicting recurrences", len(dataset)):
            writer.write_recurrences(case, names[case.name], predictor)
    write_dataset_tables(writer.folder, rows, predictor.data.as_classes())


def _predict_classes(predictor: Predictor, dataset: Dataset, target: Path, run: Path) -> None:
    """Write one class per case."""
    found = track(predictor.of_cases(dataset, lambda _: ()), "predicting", len(dataset))
    probability = {each.case.name: each.prediction.probability for each in found}
    known = read_rater_table(run)
    raters = pd.DataFrame() if known is None else known
    write_class_tables(target, dataset, predictor.data.as_classes(), NETWORK, probability, raters)


@dataclass(frozen=True)
class _Writer:
    data: RunData
    folder: Path
    probability: bool
    raters: bool
    confusion: bool
    names_truth: bool

    def write(self, case: Case, name: str, geometry: Geometry, predicted: Prediction) -> Row:
        suffix = _suffix(case, geometry.ndim)
        place = label_cell("predictions", name, suffix)
        self._label(predicted.label, geometry, place)
        if self.probability:
            probability = predicted.probability
            self._maps(probability, geometry, probability_cell(name, suffix))
            self._maps(_entropy(probability)[None], geometry, entropy_cell(name, suffix))
        folders = file_names(self.data.raters)
        for number, rater in enumerate(self.data.raters):
            if self.raters:
                drawn = predicted.rater_label(number)
                self._label(drawn, geometry, rater_cell(folders[rater], name, suffix))
            if self.confusion and predicted.confusion is not None:
                cm = predicted.confusion[number].reshape(-1, *predicted.label.shape)
                self._maps(cm, geometry, confusion_cell(folders[rater], name, suffix))
        return Row(
            case.name,
            cell_of(case.image.paths, self.folder) if case.image else "",
            NETWORK,
            place,
            cell_of(case.truth.paths, self.folder) if case.truth and self.names_truth else "",
            case.split,
            patient=case.patient,
            stray=case.truth.stray if case.truth and self.names_truth else "",
        )

    def write_recurrences(self, case: Case, name: str, predictor: Predictor) -> None:
        image = case.read_image()
        assert image is not None  # or it would not have been predicted
        suffix = _suffix(case, image.geometry.ndim)
        for number, step in enumerate(predictor.recurrences(image)):
            self._maps(step, image.geometry, recurrence_cell(number, name, suffix))

    def _label(self, label: NDArray[np.int16], geometry: Geometry, cell: str) -> None:
        write_label(LabelMap(label, geometry), self.folder / cell)

    def _maps(self, maps: NDArray[np.float32], geometry: Geometry, cell: str) -> None:
        write_image(Image(maps.astype(np.float32), geometry), self.folder / cell)


def _takes_truth(dataset: Dataset, classes: Classes) -> bool:
    """Whether files of the truth can stand beside predictions, whose classes are the network's."""
    if dataset.classes is None or dataset.classes.are_indexed_as(classes):
        return _holds_indices(dataset.classes)
    if any(case.truth is not None for case in dataset):
        say(
            "classes of the data set are other ones than those of the network, or in another "
            "order: predictions do not name its truth; `multirater evaluate --reference` compares "
            "them by the names of classes"
        )
    return False


def _holds_indices(classes: Classes | None) -> bool:
    """Whether label files hold class indices, and not values that the classes declare."""
    items = () if classes is None else classes.in_truth().items
    return all(
        item.value in (None, index) and not item.other_values for index, item in enumerate(items)
    )


def _suffix(case: Case, ndim: int) -> str:
    suffix = suffix_of(case.image.paths[0]) if case.image and case.image.paths else ""
    if suffix in WRITABLE:
        return suffix
    return ".png" if ndim == 2 else ".nii.gz"


def _entropy(probability: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(-(probability * np.log(np.maximum(probability, 1e-12))).sum(0))
