"""Class labels as CSV, one row per case, with the consensus and how sure it is."""

from __future__ import annotations

import csv
from pathlib import Path

from multirater.io.exporters.outcome import Outcome
from multirater.io.tables.spreadsheet import shown


def write_export(outcome: Outcome, target: Path) -> None:
    """Write the columns case, rater, label and confidence, which `read_dataset` reads again."""
    outcome.require_kind("classes", "CSV")
    with target.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["case", "rater", "label", "confidence"])
        for case, rater, choice, sure in outcome.choices():
            writer.writerow([*map(shown, (case.name, rater, choice)), sure])
