"""The folder of one class per case, as fusions and networks write it.

FOLDER/manifest.csv  a data set whose only rater is the fusion or the network
FOLDER/cases.csv     class probabilities of each case
FOLDER/raters.csv    what is known of each rater
FOLDER/classes.csv   the classes
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from multirater.io.results.statements import write_dataset_of
from multirater.io.tables.manifest import Row, cell_of
from multirater.types import MISSING, Case, Classes, Dataset


def write_class_tables(
    target: Path,
    dataset: Dataset,
    classes: Classes,
    rater: str,
    probability: Mapping[str, NDArray[Any]],
    raters: pd.DataFrame,
    labels: Mapping[str, int] | None = None,
) -> pd.DataFrame:
    """Write the tables of a folder.

    Args:
        target: the folder.
        dataset: cases, with images and truth where known.
        classes: in the order of the probabilities.
        rater: the name that the answers go by.
        probability: (n_classes,) by case; cases without have no answer.
        raters: the content of `raters.csv`.
        labels: answers by case; the likeliest class when not given.

    Returns:
        The content of `cases.csv`.
    """
    names = classes.names
    answers = labels or {case: int(np.argmax(each)) for case, each in probability.items()}
    cases = pd.DataFrame(
        np.array(list(probability.values())).reshape(-1, len(names)),
        index=pd.Index(list(probability), name="case"),
        columns=list(names),
    )
    rows = [
        Row(
            case.name,
            cell_of(case.image.paths, target) if case.image is not None else "",
            rater if case.name in answers else "",
            names[answers[case.name]] if case.name in answers else "",
            _truth(case, dataset),
            case.split,
            patient=case.patient,
        )
        for case in dataset
    ]
    write_dataset_of(target, raters, cases, rows, classes)
    return cases


def _truth(case: Case, dataset: Dataset) -> str:
    """Return the name of the true class; nothing where it is unknown."""
    if dataset.kind != "classes" or dataset.classes is None:
        return ""
    truth = case.read_truth()
    known = truth is not None and truth.array != MISSING
    return dataset.classes.names[int(truth.array)] if truth is not None and known else ""
