"""doccano's JSONL for classification: one file per annotator, who is named after it.

Exported with **Export only approved** off, doccano makes `<user>.jsonl` in a ZIP. A line without
label is missing. Items go by their file, else by `id`, else by their text.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from multirater.io.importers.answers import Answer, answers_export, read_lines, text_of, texts_of
from multirater.io.importers.work import Export

_WHAT = "JSONL of doccano, with `id` and `label`"


def read_export(sources: Sequence[Path], classes: Sequence[str] = ()) -> Export:
    """Read one file per rater."""
    answers = []
    for path in sources:
        for number, line in read_lines(path, _WHAT):
            chosen = texts_of(line.get("label", line.get("labels")))
            named = line.get("filename") or line.get("id") or line.get("text")
            item = text_of(named) or f"{path.stem}, line {number}"
            answers.append(Answer(path, f"line {number}", item, path.stem, chosen))
    return answers_export(answers, classes)
