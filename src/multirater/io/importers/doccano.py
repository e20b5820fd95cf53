"""doccano's JSONL for classification: one file per annotator, who is named after it.

Exported with **Export only approved** off, doccano makes `<user>.jsonl` in a ZIP. A line without
label is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from multirater.errors import Fault, InputError
from multirater.io.importers.answers import Answer, answers_export, read_lines, text_of
from multirater.io.importers.work import Export

_WHAT = "JSONL of doccano, with `id` and `label`"


def read_export(sources: Sequence[Path], classes: Sequence[str] = ()) -> Export:
    """Read one file per rater."""
    answers, faults = [], []
    for path in sources:
        for number, line in read_lines(path, _WHAT):
            labels = line.get("label", line.get("labels"))
            labels = labels if isinstance(labels, list) else [labels]
            item = text_of(line.get("filename") or line.get("id")) or f"line {number}"
            if len(labels) > 1:
                faults.append(
                    Fault(
                        f"has {len(labels)} labels: {', '.join(map(str, labels))}",
                        expected="one class per item",
                        fix="keep one of them",
                        case=f"{item} (line {number})",
                        rater=path.stem,
                    )
                )
            choice = text_of(labels[0]) if labels else ""
            answers.append(Answer(f"line {number}", item, path.stem, choice))
    if faults:
        raise InputError(faults)
    return answers_export(answers, classes, sources[0])
