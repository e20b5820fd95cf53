"""Assignments of Toloka: `INPUT:*`, `OUTPUT:*`, `GOLDEN:*`, `ASSIGNMENT:worker_id`.

The image or text is the column `INPUT:image`, or the only input; the label the column
`OUTPUT:result`, or the only output; golden answers are the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from multirater.io.importers.answers import Answer, answers_export, read_columns, the_column
from multirater.io.importers.work import Export

_WHAT = "a TSV of assignments with INPUT:*, OUTPUT:* and ASSIGNMENT:worker_id"


def read_export(sources: Sequence[Path], classes: Sequence[str] = ()) -> Export:
    """Read the TSV files of one or several pools."""
    answers = []
    for path in sources:
        header, rows = read_columns(path, _WHAT)
        item = the_column(header, "input:", "image", path)
        label = the_column(header, "output:", "result", path)
        worker = the_column(header, "assignment:worker_id", "", path)
        golden = label.replace("output:", "golden:")
        for row in rows:
            is_rejected = row.get("assignment:status", "").upper() == "REJECTED"
            answers.append(
                Answer(
                    f"assignment {row.get('assignment:assignment_id', '?')}",
                    row[item],
                    row[worker],
                    "" if is_rejected else row[label],
                    row.get(golden, ""),
                )
            )
    return answers_export(answers, classes, sources[0])
