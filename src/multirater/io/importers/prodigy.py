"""Prodigy's JSONL: one annotation per line, with `_annotator_id` or `_session_id`.

`accept` lists the options that were chosen; with a single `label`, accepting it says yes and
rejecting it no. `ignore` is missing. Lines without annotator belong to the rater the file is named
after.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from multirater.io.importers.answers import Answer, answers_export, read_lines, text_of, texts_of
from multirater.io.importers.json_files import Record
from multirater.io.importers.work import Export

_WHAT = "JSONL of `prodigy db-out`"


def read_export(sources: Sequence[Path], classes: Sequence[str] = ()) -> Export:
    """Read the files of one or several data sets."""
    answers = [
        Answer(path, f"line {number}", _item(line, path, number), _rater(line, path), _chosen(line))
        for path in sources
        for number, line in read_lines(path, _WHAT)
    ]
    return answers_export(answers, classes)


def _item(line: Record, path: Path, number: int) -> str:
    meta = line.get("meta")
    named = meta.get("id") if isinstance(meta, dict) else None
    found = named or line.get("path") or line.get("_input_hash") or line.get("text")
    return text_of(found) or f"{path.stem}, line {number}"


def _rater(line: Record, path: Path) -> str:
    return text_of(line.get("_annotator_id") or line.get("_session_id")) or path.stem


def _chosen(line: Record) -> tuple[str, ...]:
    answer, accepted = line.get("answer"), line.get("accept")
    if isinstance(accepted, list):
        return texts_of(accepted) if answer == "accept" else ()
    if answer in ("accept", "reject"):
        name = text_of(line.get("label")) or "yes"
        return (name if answer == "accept" else f"not {name}",)
    return ()
