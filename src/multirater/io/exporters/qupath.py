"""GeoJSON that QuPath imports: an annotation per connected piece of a class, in pixels."""

from __future__ import annotations

import json
from pathlib import Path

from multirater.io.exporters.outcome import Outcome, confidence, require_flat
from multirater.io.exporters.outlines import outlines
from multirater.io.exporters.pieces import pieces
from multirater.io.naming import file_names


def write_export(outcome: Outcome, target: Path) -> None:
    """Fill a folder with a file per case, in a folder per rater where there are several."""
    outcome.require_kind("masks", "QuPath")
    cases = file_names(case.name for case in outcome.dataset)
    raters = file_names(outcome.dataset.raters)
    for case, rater, label in outcome.labels():
        require_flat(label, case, "QuPath")
        probability = outcome.probability(case)
        features = [
            {
                "type": "Feature",
                "geometry": {"type": "Polygon", "coordinates": outlines(mask)},
                "properties": {
                    "objectType": "annotation",
                    "classification": {"name": outcome.classes.names[index]},
                    "measurements": {"confidence": confidence(probability, index, mask)},
                },
            }
            for index, mask in pieces(outcome.without_gaps(label))
        ]
        folder = target if outcome.is_one_rater else target / raters[rater]
        folder.mkdir(exist_ok=True)
        content = {"type": "FeatureCollection", "features": features}
        (folder / f"{cases[case.name]}.geojson").write_text(json.dumps(content), encoding="utf-8")
