"""ITK-SNAP's label volumes and label descriptions out, in a folder per rater."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from multirater.io.exporters.outcome import Outcome
from multirater.io.formats.labels import write_label
from multirater.io.itk_snap_labels import write_label_descriptions
from multirater.io.naming import file_names
from multirater.types import LabelMap


def write_export(outcome: Outcome, target: Path) -> None:
    """Fill a folder with volumes that are named after the cases, and `labels.txt`."""
    outcome.require_kind("masks", "ITK-SNAP")
    cases = file_names(case.name for case in outcome.dataset)
    raters = file_names(outcome.dataset.raters)
    write_label_descriptions(outcome.classes, target / "labels.txt")
    for case, rater, label in outcome.labels():
        folder = target if outcome.is_one_rater else target / raters[rater]
        whole = LabelMap(outcome.without_gaps(label).astype(np.int16), label.geometry)
        write_label(whole, folder / f"{cases[case.name]}.nii.gz")
