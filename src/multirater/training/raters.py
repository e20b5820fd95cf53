"""Each rater as a trained network sees them: the content of a run's `raters.csv`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from multirater.fuse.rater_table import rater_table
from multirater.io.atomic import replacing
from multirater.progress import track
from multirater.training.data import split_cases
from multirater.training.predictor import PredictedCase, Prediction, Predictor
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
    # Cases that the same raters labelled go through the network together.
    cases.sort(key=lambda case: tuple(case.labels))
    found = predictor.of_cases(cases, partial(_known_raters, predictor))
    counts = np.stack(
        [
            _counts(each, dataset.raters, len(predictor.data.classes))
            for each in track(found, "describing raters", len(cases))
        ]
    )
    table = rater_table(counts, dataset.raters, predictor.data.classes)
    with replacing(folder / "raters.csv", overwrite=True) as temporary:
        table.to_csv(temporary)


def _known_raters(predictor: Predictor, case: Case) -> list[int]:
    """Return who labelled the case, by position; none when the network does not know them all."""
    known = predictor.data.raters
    present = [rater for rater in known if rater in case.labels]
    return [known.index(rater) for rater in present] if len(present) == len(case.labels) else []


def _counts(each: PredictedCase, raters: tuple[str, ...], n_classes: int) -> NDArray[np.float64]:
    """Expected pixels (n_raters, true, observed) of the raters who labelled the case."""
    counts = np.zeros((len(raters), n_classes, n_classes))
    present = [rater for rater in raters if rater in each.case.labels]
    for position, rater in enumerate(present):
        drawn = each.case.read_label(rater).array
        counts[raters.index(rater)] = _rater_counts(each.prediction, position, drawn, n_classes)
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
