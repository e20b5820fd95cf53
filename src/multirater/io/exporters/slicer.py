"""3D Slicer's `.seg.nrrd` out: a file per case, in a folder per rater where there are several."""

from __future__ import annotations

from pathlib import Path

from multirater.io.exporters.outcome import Outcome
from multirater.io.naming import file_names
from multirater.io.segmentations import ENDING, write_segments


def write_export(outcome: Outcome, target: Path) -> None:
    """Fill a folder with segmentations that are named after the cases."""
    outcome.require_kind("masks", "3D Slicer")
    cases = file_names(case.name for case in outcome.dataset)
    raters = file_names(outcome.dataset.raters)
    for case, rater, label in outcome.labels():
        folder = target if outcome.is_one_rater else target / raters[rater]
        folder.mkdir(exist_ok=True)
        outcome.without_gaps(label)
        write_segments(label, folder / f"{cases[case.name]}{ENDING}", outcome.classes)
