"""How predictions change from recurrence to recurrence, for methods that have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from multirater.evaluation.predictions import PredictedCase, Predictions, open_predictions
from multirater.evaluation.soft_scores import ALL, SOFT_DICE, WITH_MEAN, soft_scores
from multirater.metrics import dice_score
from multirater.metrics.rater_columns import row_words
from multirater.types import Case, Classes, Dataset

SOFT = (SOFT_DICE, WITH_MEAN)
"""Columns that are no rater."""


def recurrence_scores(predictions: Dataset, reference: Dataset) -> pd.DataFrame:
    """Compare the prediction after each recurrence with every rater (MrPrism, Fig. 4).

    Args:
        predictions: written by `multirater predict --recurrences`.
        reference: data set with labels of raters, truth, or both.

    Returns:
        One row per recurrence, from 0; columns `soft Dice` (truth), `soft Dice with mean of
        raters`, as far as there is anything to compare with, then Dice with each rater: means over
        the cases. Empty when the predictions have no recurrences.
    """
    classes = reference.classes or predictions.classes or Classes.numbered(2)
    opened = open_predictions(predictions, None, classes, reference.raters)
    return recurrence_scores_opened(opened, reference, classes)


def recurrence_scores_opened(
    opened: Predictions, reference: Dataset, classes: Classes
) -> pd.DataFrame:
    """Do what `recurrence_scores` does, with predictions that are open already."""
    rows = [row for case in reference for row in _case_rows(opened.cases, case, classes)]
    if not rows:
        return pd.DataFrame()
    table = pd.DataFrame(rows).groupby("recurrence").mean()
    first = [name for name in SOFT if name in table]
    return table[[*first, *(rater for rater in reference.raters if rater in table)]]


def _case_rows(
    opened: Mapping[str, PredictedCase], case: Case, classes: Classes
) -> Iterator[dict[str, float]]:
    predicted = opened.get(case.name)
    if predicted is None or not predicted.recurrences:
        return
    labels = {rater: case.read_label(rater).array for rater in case.labels}
    truth = case.read_truth()
    known = None if truth is None else truth.array
    if known is None and not labels:
        return
    space = next(iter(labels.values())).shape if known is None else known.shape
    for number, file in enumerate(predicted.recurrences):
        soft = predicted.read_probability(file, space)
        scores = soft_scores(soft, known, list(labels.values()), row_words(classes.names))
        label = soft.argmax(0).astype(np.int16)
        yield {
            "recurrence": number,
            **{measure: scores[measure, ALL] for measure in SOFT if (measure, ALL) in scores},
            **{rater: dice_score(drawn, label) for rater, drawn in labels.items()},
        }
