"""A datastore for MONAI Label: images, `labels/<version>/` and `datastore_v2.json`.

A fusion is the version `final`; several raters are a version each.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from multirater.errors import Fault, InputError
from multirater.io.exporters.outcome import Outcome
from multirater.io.formats.images import write_image
from multirater.io.formats.labels import write_label
from multirater.io.naming import file_names
from multirater.io.write import as_numbers
from multirater.types import LabelMap

_FINAL = "final"
_ENDING = ".nii.gz"


def write_export(outcome: Outcome, target: Path) -> None:
    """Fill a folder with a whole datastore."""
    outcome.require_kind("masks", "MONAI Label")
    cases = file_names(case.name for case in outcome.dataset)
    raters = file_names(outcome.dataset.raters)
    info = [{"name": name, "idx": i} for i, name in enumerate(outcome.classes.names) if i]
    objects: dict[str, Any] = {}
    for case, rater, label in outcome.labels():
        name = cases[case.name]
        if name not in objects:
            image = case.read_image()
            if image is None:
                raise InputError(Fault("has no image", fix="add it", case=case.name))
            write_image(as_numbers(image, _ENDING), target / f"{name}{_ENDING}")
            objects[name] = {"image": {"ext": _ENDING, "info": {}}, "labels": {}}
        version = _FINAL if outcome.is_one_rater else raters[rater]
        whole = LabelMap(outcome.without_gaps(label).astype(np.int16), label.geometry)
        write_label(whole, target / "labels" / version / f"{name}{_ENDING}")
        objects[name]["labels"][version] = {"ext": _ENDING, "info": {"label_info": info}}
    content = {"name": "multirater", "description": "", "objects": objects}
    (target / "datastore_v2.json").write_text(json.dumps(content, indent=2), encoding="utf-8")
