"""Each rater as a trained network sees them: the content of a run's `raters.csv`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from multirater.fuse.rater_table import rater_table
from multirater.io.atomic import replacing
from multirater.progress import track
from multirater.training.data import split_cases
from multirater.training.prediction import Prediction, Predictor
from multirater.types import Case, Dataset


def write_rater_table(folder: Path, dataset: Dataset) -> None:
    """Write `raters.csv` of a run, from the cases it was trained on.

    Args:
        folder: of the run.
        dataset: as it was read, with the labels of all raters.
    """
    predictor = Predictor(folder)
    cases = [
        case for part in split_cases(dataset, predictor.config) for case in part if case.labels
    ]
    if not cases:
        return
    n_classes = len(predictor.data.classes)
    counts = np.stack(
        [
            _counts(case, dataset.raters, predictor, n_classes)
            for case in track(cases, "describing raters", len(cases))
        ]
    )
    table = rater_table(counts, dataset.raters, predictor.data.classes)
    with replacing(folder / "raters.csv", overwrite=True) as temporary:
        table.to_csv(temporary)


def _counts(
    case: Case, raters: tuple[str, ...], predictor: Predictor, n_classes: int
) -> NDArray[np.float64]:
    """Expected pixels (n_raters, true, observed) of the raters who labelled the case."""
    image = case.read_image()
    assert image is not None
    counts = np.zeros((len(raters), n_classes, n_classes))
    present = [rater for rater in raters if rater in case.labels]
    known = [predictor.data.raters.index(r) for r in present if r in predictor.data.raters]
    predicted = predictor(image.array, raters=known if len(known) == len(present) else ())
    for position, rater in enumerate(present):
        drawn = case.read_label(rater).array
        counts[raters.index(rater)] = _rater_counts(predicted, position, drawn, n_classes)
    return counts


def _rater_counts(
    predicted: Prediction, position: int, drawn: NDArray[np.int16], n_classes: int
) -> NDArray[np.float64]:
    """Count by the network's matrices; without them, by what the rater really drew."""
    labelled = drawn >= 0
    truth = predicted.probability[:, labelled].astype(float)
    if predicted.confusion is not None:
        cm = predicted.confusion[position][:, :, labelled]
        return np.asarray(np.einsum("tp,top->to", truth, cm))
    observed = np.eye(n_classes)[drawn[labelled]]
    return np.asarray(truth @ observed)
