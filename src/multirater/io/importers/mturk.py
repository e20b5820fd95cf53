"""Batch results of Amazon Mechanical Turk: `HITId`, `WorkerId`, `Input.*`, `Answer.*`.

The image or text is the column `Input.image_url`, or the only input; the label the column
`Answer.label`, or the only answer. Rejected assignments are skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from multirater.io.importers.answers import Answer, answers_export, read_columns, the_column
from multirater.io.importers.work import Export

_WHAT = "a CSV of batch results with HITId, WorkerId, Input.* and Answer.*"


def read_export(sources: Sequence[Path], classes: Sequence[str] = ()) -> Export:
    """Read the CSV files of one or several batches."""
    answers = []
    for path in sources:
        header, rows = read_columns(path, _WHAT)
        item = the_column(header, "input.", "image_url", path)
        label = the_column(header, "answer.", "label", path)
        worker = the_column(header, "workerid", "", path)
        for row in rows:
            is_rejected = row.get("assignmentstatus", "").lower() == "rejected"
            choice = "" if is_rejected else row[label]
            where = f"HIT {row.get('hitid', '?')}"
            answers.append(Answer(where, row[item], row[worker], choice))
    return answers_export(answers, classes, sources[0])
