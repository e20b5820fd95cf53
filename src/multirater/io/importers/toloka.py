"""Assignments of Toloka: `INPUT:*`, `OUTPUT:*`, `GOLDEN:*`, `ASSIGNMENT:worker_id`.

The image or text is the column `INPUT:image`, or the only input; the label the column
`OUTPUT:result`, or the only output; golden answers are the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from multirater.io.importers.answers import ResultColumns, read_results
from multirater.io.importers.work import Export

COLUMNS = ResultColumns(
    "a TSV of assignments with INPUT:*, OUTPUT:* and ASSIGNMENT:worker_id",
    item=("input:", "image"),
    label=("output:", "result"),
    rater="assignment:worker_id",
    number=("assignment", "assignment:assignment_id"),
    status="assignment:status",
    golden="golden:",
)


def read_export(sources: Sequence[Path], classes: Sequence[str] = ()) -> Export:
    """Read the TSV files of one or several pools."""
    return read_results(sources, COLUMNS, classes)
