"""New items, known raters."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pandas as pd

from multirater.errors import MultiraterWarning
from multirater.fuse.em import posterior_of
from multirater.fuse.problem import Problem, pose
from multirater.fuse.table import encode_table, long_columns

if TYPE_CHECKING:
    from multirater.fuse.result import FusionResult


def predict_proba(result: FusionResult, labels: Any) -> Any:
    """Return the class probabilities of items that were not part of the fusion."""
    if isinstance(labels, pd.DataFrame):
        _warn_of_unknown_raters(result, labels)
        table = encode_table(labels, raters=result.raters, classes=result.classes)
        posterior = posterior_of(table.answers, result.cm, result.prior)
        return pd.DataFrame(
            posterior, index=table.tasks, columns=pd.Index(table.classes, name="label")
        )
    problem: Problem = pose(labels, raters=result.raters, classes=result.classes)
    posterior = posterior_of(problem.answers, result.cm, result.prior)
    return problem.decode(posterior.argmax(1), posterior)[1]


def _warn_of_unknown_raters(result: FusionResult, frame: pd.DataFrame) -> None:
    columns = long_columns(frame)
    present = frame.columns if columns is None else frame[columns[1]].unique()
    unknown = [name for name in present if name not in set(result.raters)]
    if unknown:
        warnings.warn(
            f"answers of {len(unknown)} raters unknown to this result are left out "
            f"(first: {unknown[0]}); fuse again with `start=` to learn about them",
            MultiraterWarning,
            stacklevel=4,
        )
