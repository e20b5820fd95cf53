"""The quality of each rater of a data set, by the measure of `fuse.quality`."""

from __future__ import annotations

import numpy as np
import pandas as pd

from multirater.fuse.answers import answers_from_rows
from multirater.fuse.quality import quality_of_class_labels, quality_of_drawings
from multirater.io.survey import Survey


def quality_of_study(found: Survey, *, seed: int = 0) -> pd.DataFrame:
    """Return the quality of each rater of a data set, as every result made of it says.

    Args:
        found: the data set, surveyed.
        seed: of the draws behind intervals.

    Returns:
        One row per rater, in the order of the data set, with the `COLUMNS` of `fuse.quality`.
    """
    raters, n_classes = found.dataset.raters, len(found.classes)
    cases = [(case.rows, case.counts) for case in found.cases if len(case.rows)]
    if found.dataset.kind == "masks":
        return quality_of_drawings(cases, raters, n_classes, seed=seed)
    rows = np.concatenate([each for each, _ in cases])
    return quality_of_class_labels(answers_from_rows(rows, np.ones(len(rows)), n_classes), raters)
