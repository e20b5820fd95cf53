"""New items, known raters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from multirater.fuse.expectation import posterior_of
from multirater.fuse.problem import pose
from multirater.fuse.table import encode_table, long_columns, rater_columns
from multirater.fuse.user_warning import warn_user
from multirater.words import counted

if TYPE_CHECKING:
    from multirater.fuse.result import FusionResult


def predict_proba(
    result: FusionResult, labels: Any, *, rater_axis: int = 0, pooled: bool = False
) -> Any:
    """Return the class probabilities of items that were not part of the fusion."""
    if isinstance(labels, pd.DataFrame):
        _warn_of_unknown_raters(result, labels)
        table = encode_table(labels, raters=result.raters, classes=result.classes)
        posterior = posterior_of(table.answers, result.cm, result.prior)
        return pd.DataFrame(
            posterior, index=table.tasks, columns=pd.Index(table.classes, name="label")
        )
    problem = pose(
        labels,
        raters=result.raters,
        classes=result.classes,
        rater_axis=rater_axis,
        pooled=pooled,
    )
    posterior = posterior_of(problem.answers, result.cm, result.prior)
    return problem.decode(posterior.argmax(1), posterior)[1]


def _warn_of_unknown_raters(result: FusionResult, frame: pd.DataFrame) -> None:
    columns = long_columns(frame)
    present = rater_columns(frame) if columns is None else frame[columns[1]].dropna().unique()
    known = set(result.raters)
    unknown = [name for name in present if name not in known]
    if unknown:
        warn_user(
            f"answers of {counted(len(unknown), 'rater')} unknown to this result are left out "
            f"(first: {unknown[0]}); fuse again with `start=` to learn about them"
        )
