"""Batch results of Amazon Mechanical Turk: `HITId`, `WorkerId`, `Input.*`, `Answer.*`.

The image or text is the column `Input.image_url`, or the only input; the label the column
`Answer.label`, or the only answer. Rejected assignments are skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from multirater.io.importers.answers import ResultColumns, read_results
from multirater.io.importers.work import Export

COLUMNS = ResultColumns(
    "a CSV of batch results with HITId, WorkerId, Input.* and Answer.*",
    item=("input.", "image_url"),
    label=("answer.", "label"),
    rater="workerid",
    number=("HIT", "hitid"),
    status="assignmentstatus",
)


def read_export(sources: Sequence[Path], classes: Sequence[str] = ()) -> Export:
    """Read the CSV files of one or several batches."""
    return read_results(sources, COLUMNS, classes)
